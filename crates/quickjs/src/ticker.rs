//! The clock that interrupts scripts.
//!
//! Scripts run on threads that have other work to do. The engine polls for interrupts in every loop and call, but asks
//! its host only after a tick. So a poll costs no more than a comparison.

use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::sys;

/// The interval at which a computing script asks whether to continue.
const TICK: Duration = Duration::from_millis(2);

/// The number of runtimes. The thread ticks while at least one exists.
static RUNTIMES: Mutex<usize> = Mutex::new(0);
static TICKER: OnceLock<Thread> = OnceLock::new();

/// Keeps the clock ticking. Each runtime holds one.
pub(super) struct Ticking(());

impl Ticking {
    /// Starts the ticks.
    ///
    /// # Errors
    /// If the system refuses to create the thread.
    pub fn start() -> io::Result<Ticking> {
        let mut runtimes = RUNTIMES.lock().unwrap_or_else(PoisonError::into_inner);
        match TICKER.get() {
            Some(ticker) => ticker.unpark(),
            None => {
                let ticker = thread::Builder::new()
                    .name("script-ticker".to_owned())
                    .stack_size(64 * 1024)
                    .spawn(tick_forever)?;
                // No other thread sets the value while the lock is held.
                let _ = TICKER.set(ticker.thread().clone());
            }
        }
        *runtimes += 1;
        Ok(Ticking(()))
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        *RUNTIMES.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

fn tick_forever() {
    loop {
        thread::sleep(TICK);
        // SAFETY: adds one to a number that any thread may change.
        unsafe { sys::JS_TickInterrupts() };
        while *RUNTIMES.lock().unwrap_or_else(PoisonError::into_inner) == 0 {
            thread::park();
        }
    }
}
