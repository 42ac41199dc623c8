//! Runs work outside of the engine, on its own event loop or thread.

use std::future::Future;

use crate::failure::ScriptError;

/// Runs `work` to completion on this thread. Timers are available.
///
/// # Errors
/// If the system cannot provide an event loop.
pub fn block_on<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    tokio::task::LocalSet::new().block_on(&runtime, plimsoll_engine::timer::run_with_timers(work))
}

/// Runs `work` on a thread with enough stack for parsing, independent of the caller's event loop.
pub fn on_own_thread<T: Send>(
    work: impl FnOnce() -> Result<T, ScriptError> + Send,
) -> Result<T, ScriptError> {
    const STACK: usize = 16 * 1024 * 1024;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("script".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .map_err(|error| {
                let reason = plimsoll_machine::shortage::explain(&error);
                ScriptError::Unusable(format!("could not start a thread for the script: {reason}"))
            })?;
        thread.join().unwrap_or_else(|_| {
            Err(ScriptError::Exception(
                "loading the script failed because of a bug in Plimsoll; please report this"
                    .to_owned(),
            ))
        })
    })
}
