//! Judges whether the sender of a byte stream was its limit.

use plimsoll_results::lab::Repeat;

use crate::run::observe::GENERATOR;

/// A sender that is busy for more than this share of the time may be the limit.
const BUSY: f64 = 0.9;

/// A byte stream has neither a schedule nor timers. The only resource that its sender can lack is
/// processor time, which was observed from outside.
pub fn judge(repeat: &mut Repeat, declared: f64) {
    let Some(used) = repeat.used.iter().find(|used| used.name == GENERATOR) else {
        return;
    };
    // The time includes the omitted time at the start.
    let whole = repeat.duration_seconds.max(declared).max(0.001);
    let share = used.cpu_seconds / whole;
    repeat.generator.reasons.clear();
    repeat.generator.verdict = if share > BUSY { "suspect" } else { "valid" }.to_owned();
    if share > BUSY {
        repeat.generator.reasons.push((
            "client".to_owned(),
            format!(
                "the sender used {:.0} % of one processor: the sender, not the network path, may be the limit",
                share * 100.0
            ),
        ));
    }
}
