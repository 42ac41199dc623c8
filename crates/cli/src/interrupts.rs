//! SIGINT and SIGTERM: the first ends the run, the second the process.

use plimsoll_run::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;

/// Listens from now on. The first signal ends the run after a call of `first` with its number; the
/// second ends the process after a call of `again`.
///
/// # Errors
/// When the system refuses handlers or a thread.
pub fn listen(
    control: Control,
    first: impl Fn(i32) + Send + 'static,
    again: impl Fn(i32) + Send + 'static,
) -> Result<(), String> {
    let stop = move |signal| {
        first(signal);
        control.stop();
    };
    on_signals(stop, again)
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
    on_thread(move |signals| {
        if let Some(signal) = signals.next() {
            first(signal);
        }
        if let Some(signal) = signals.next() {
            again(signal);
            std::process::exit(Exit::SIGNAL.code());
        }
    })
}

/// Calls `each` at every signal.
///
/// # Errors
/// When the system refuses handlers or a thread.
pub fn on_every_signal(each: impl Fn() + Send + 'static) -> Result<(), String> {
    on_thread(move |signals| signals.for_each(|_| each()))
}

fn on_thread(
    handle: impl FnOnce(&mut dyn Iterator<Item = i32>) + Send + 'static,
) -> Result<(), String> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| format!("cannot listen for signals: {error}"))?;
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
