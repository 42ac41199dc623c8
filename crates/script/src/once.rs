//! What a run does once, outside of the engine: an event loop for the length
//! of one future.

use std::future::Future;

/// Runs `work` to its end on this thread, with timers in place.
///
/// # Errors
/// When the system has no event loop for it.
pub fn block_on<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, engine::timer::run_with_timers(work))
}
