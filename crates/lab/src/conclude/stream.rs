//! Whether a stream of bytes was as fast as its way allows.

use plimsoll_results::lab::Repeat;

use crate::run::observe::GENERATOR;

/// A sender that is busy for more than this share of the time may be the limit.
const BUSY: f64 = 0.9;

/// A stream of bytes has no schedule to keep and no timers: all that its sender can lack is
/// processor time, and that was looked at from outside.
pub fn judge(repeat: &mut Repeat, declared: f64) {
    let Some(used) = repeat.used.iter().find(|used| used.name == GENERATOR) else {
        return;
    };
    // With what was left out at its start.
    let whole = repeat.duration_seconds.max(declared).max(0.001);
    let share = used.cpu_seconds / whole;
    repeat.generator.reasons.clear();
    repeat.generator.verdict = if share > BUSY { "suspect" } else { "valid" }.to_owned();
    if share > BUSY {
        repeat.generator.reasons.push((
            "client".to_owned(),
            format!(
                "the sender used {:.0} % of one processor: it, and not the way, may be what limits the stream",
                share * 100.0
            ),
        ));
    }
}
