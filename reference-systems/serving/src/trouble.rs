//! Logs failures of a store: at most one line per second with the number of failures, instead of
//! thousands of lines.

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

/// Records a failure with its reason.
pub fn happened(reason: &str) {
    let untold = {
        let mut message = TOLD
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        message.untold += 1;
        if message.last.is_some_and(|last| last.elapsed() < BETWEEN) {
            return;
        }
        message.last = Some(Instant::now());
        std::mem::take(&mut message.untold)
    };
    log::warn(
        "responses failed",
        &[("reason", reason.into()), ("responses", untold.into())],
    );
}
