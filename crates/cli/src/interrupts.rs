//! SIGINT and SIGTERM: the first ends the run, the second the process.

use plimsoll_run::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;

/// Listens from now on. `told` is called with the first signal's number, and the
/// run is ended; `told_again` with the second's, before the process ends.
///
/// # Errors
/// When the system refuses handlers or a thread.
pub fn listen(
    control: Control,
    told: impl Fn(i32) + Send + 'static,
    told_again: impl Fn(i32) + Send + 'static,
) -> Result<(), String> {
    let first = move |signal| {
        told(signal);
        control.stop();
    };
    on_signals(first, told_again)
}

/// Calls `first` with the first signal's number and `again` with the second's,
/// after which the process ends.
///
/// # Errors
/// When the system refuses handlers or a thread.
pub fn on_signals(
    first: impl Fn(i32) + Send + 'static,
    again: impl Fn(i32) + Send + 'static,
) -> Result<(), String> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| format!("cannot listen for signals: {error}"))?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut forever = signals.forever();
            if let Some(signal) = forever.next() {
                first(signal);
            }
            if let Some(signal) = forever.next() {
                again(signal);
                std::process::exit(Exit::SIGNAL.code());
            }
        })
        .map(drop)
        .map_err(|error| {
            format!(
                "could not start a thread for signals: {}",
                plimsoll_machine::shortage::explain(&error)
            )
        })
}

/// What people call the signal.
pub fn name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "interrupt",
        SIGTERM => "terminated",
        _ => "hangup",
    }
}
