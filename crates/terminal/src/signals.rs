//! SIGINT, SIGTERM and SIGHUP, which end a program, and SIGUSR1, which requests a report.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_run::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

/// Calls `first` with the first signal's number and `again` with the second's, after which the process ends with
/// `status`.
///
/// # Errors
/// When the system refuses handlers or a thread.
pub fn on_signals(
    first: impl Fn(i32) + Send + 'static,
    again: impl Fn(i32) + Send + 'static,
    status: u8,
) -> Result<(), String> {
    on_thread(&ENDING, move |signals| {
        if let Some(signal) = signals.next() {
            first(signal);
        }
        if let Some(signal) = signals.next() {
            again(signal);
            std::process::exit(status.into());
        }
    })
}

/// Stops a run, even if that was requested before the run had started.
#[derive(Clone, Default)]
pub struct StopRequest(Arc<Mutex<Stop>>);

#[derive(Default)]
struct Stop {
    is_requested: bool,
    run: Option<Control>,
}

impl StopRequest {
    /// Stops the run now, or as soon as it starts.
    pub fn stop(&self) {
        let mut stop = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stop.is_requested = true;
        if let Some(run) = &stop.run {
            run.stop();
        }
    }

    /// Sets the run to stop. Call it once, when the run has started.
    pub fn follow(&self, run: Control) {
        let mut stop = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stop.is_requested {
            run.stop();
        }
        stop.run = Some(run);
    }
}

/// Returns what tells whether there was a signal. The second one ends the process with `status`.
///
/// # Errors
/// When the system refuses handlers or a thread.
pub fn ended(status: u8) -> Result<impl Fn() -> bool, String> {
    let is_over = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_over);
    on_signals(move |_| flag.store(true, Ordering::Relaxed), |_| (), status)?;
    Ok(move || is_over.load(Ordering::Relaxed))
}

/// Calls `each` at every signal.
///
/// # Errors
/// When the system refuses handlers or a thread.
pub fn on_every_signal(each: impl Fn() + Send + 'static) -> Result<(), String> {
    on_thread(&ENDING, move |signals| signals.for_each(|_| each()))
}

/// Calls `each` at every SIGUSR1.
///
/// # Errors
/// When the system refuses a handler or a thread.
pub fn on_request_to_report(each: impl Fn() + Send + 'static) -> Result<(), String> {
    on_thread(&[SIGUSR1], move |signals| signals.for_each(|_| each()))
}

const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

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
