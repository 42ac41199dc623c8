//! Failures of a store in the log: not one line for each of thousands a second, but
//! at most one a second, with how many there were.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::log;

const BETWEEN: Duration = Duration::from_secs(1);

struct Told {
    last: Option<Instant>,
    untold: u64,
}

static TOLD: Mutex<Told> = Mutex::new(Told {
    last: None,
    untold: 0,
});

/// Something failed, for this reason.
pub fn happened(reason: &str) {
    let untold = {
        let mut told = TOLD
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        told.untold += 1;
        if told.last.is_some_and(|last| last.elapsed() < BETWEEN) {
            return;
        }
        told.last = Some(Instant::now());
        std::mem::take(&mut told.untold)
    };
    log::warn(
        "answers failed",
        &[("reason", reason.into()), ("answers", untold.into())],
    );
}
