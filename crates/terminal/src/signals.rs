//! Handles SIGINT, SIGTERM and SIGHUP, which end the program, and SIGUSR1, which requests a report.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_run::{Control, Refusal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use crate::exit::Exit;

/// Calls `first` at the first signal. At the second signal, calls `again` with its number and exits with
/// [`Exit::SIGNAL`].
///
/// # Errors
/// If the system cannot install handlers or start a thread.
pub fn on_signals(
    first: impl Fn(i32) + Send + 'static,
    again: impl Fn(i32) + Send + 'static,
) -> Result<(), String> {
    on_thread(&STOP_SIGNALS, move |signals| {
        if let Some(signal) = signals.next() {
            first(signal);
        }
        if let Some(signal) = signals.next() {
            again(signal);
            std::process::exit(Exit::SIGNAL.code().into());
        }
    })
}

/// Returns a flag that the first signal sets. The second signal ends the process.
///
/// # Errors
/// If the system cannot install handlers or start a thread.
pub fn flag() -> Result<Arc<AtomicBool>, String> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    on_signals(move |_| set.store(true, Ordering::Relaxed), |_| {})?;
    Ok(flag)
}

/// Stops a run at the first signal, even if the run has not started yet.
#[derive(Clone, Default)]
pub struct StopSignal(Arc<State>);

#[derive(Default)]
struct State {
    /// The number of the signal; 0 if there was none.
    signal: AtomicI32,
    run: Mutex<Option<Control>>,
}

impl StopSignal {
    /// Listens for signals. The first signal calls `announce` and stops the run. The second signal calls `again` and
    /// ends the process.
    ///
    /// # Errors
    /// If the system cannot install handlers or start a thread.
    pub fn listen(
        announce: impl Fn() + Send + 'static,
        again: impl Fn(i32) + Send + 'static,
    ) -> Result<StopSignal, Refusal> {
        let stop = StopSignal::default();
        let state = stop.clone();
        let first = move |signal| {
            announce();
            let run = state.run();
            state.0.signal.store(signal, Ordering::Relaxed);
            if let Some(run) = &*run {
                run.stop();
            }
        };
        on_signals(first, again).map_err(Refusal::other)?;
        Ok(stop)
    }

    /// Sets the run to stop. Call this once, after the run has started.
    pub fn follow(&self, control: Control) {
        let mut run = self.run();
        if self.number() != 0 {
            control.stop();
        }
        *run = Some(control);
    }

    /// The number of the signal; 0 if there was none.
    pub fn number(&self) -> i32 {
        self.0.signal.load(Ordering::Relaxed)
    }

    fn run(&self) -> MutexGuard<'_, Option<Control>> {
        self.0.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `each` on every signal.
///
/// # Errors
/// If the system cannot install handlers or start a thread.
pub fn on_every_signal(each: impl Fn() + Send + 'static) -> Result<(), String> {
    on_thread(&STOP_SIGNALS, move |signals| signals.for_each(|_| each()))
}

/// Calls `each` on every SIGUSR1.
///
/// # Errors
/// If the system cannot install a handler or start a thread.
pub fn on_request_to_report(each: impl Fn() + Send + 'static) -> Result<(), String> {
    on_thread(&[SIGUSR1], move |signals| signals.for_each(|_| each()))
}

const STOP_SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

fn on_thread(
    which: &[i32],
    handle: impl FnOnce(&mut dyn Iterator<Item = i32>) + Send + 'static,
) -> Result<(), String> {
    let mut signals =
        Signals::new(which).map_err(|error| format!("cannot listen for signals: {error}"))?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || handle(&mut signals.forever()))
        .map(drop)
        .map_err(|error| {
            format!(
                "could not start a thread for signals: {}",
                plimsoll_machine::shortage::explain(&error)
            )
        })
}

/// The usual name of the signal.
pub fn name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "interrupt",
        SIGTERM => "terminated",
        _ => "hangup",
    }
}
