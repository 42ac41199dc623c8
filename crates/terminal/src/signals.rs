//! SIGINT, SIGTERM and SIGHUP.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
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
    on_thread(move |signals| {
        if let Some(signal) = signals.next() {
            first(signal);
        }
        if let Some(signal) = signals.next() {
            again(signal);
            std::process::exit(status.into());
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
