//! What a closed loop makes of its figures: users = rate × time of a turn (Little's law).

use crate::block::{Block, Model, Tool};
use crate::finding::Level;
use crate::quantity::{Unit, digits, plain};
use crate::report::{Findings, Report};

/// Users, turns per second, and the mean time of a turn.
fn loop_of(block: &Block) -> Option<(f64, f64, f64)> {
    if block.model != Model::Closed {
        return None;
    }
    let users = block.users.as_ref()?.value;
    let rate = block.turn_rate()?.value;
    let turn = block.turn()?.mean.as_ref()?.value;
    (users > 0.0 && rate > 0.0 && turn > 0.0).then_some((users, rate, turn))
}

/// rate × (think + latency) ≈ users, think being most of the turn.
pub fn think(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some((users, rate, turn)), Some(think)) = (loop_of(block), block.think()) else {
            continue;
        };
        let fits = (rate * turn / users - 1.0).abs() < 0.05;
        if !fits || think < 0.5 * turn || think < 0.002 {
            continue;
        }
        let Some(mean) = block.latency().and_then(|latency| latency.mean.as_ref()) else {
            continue;
        };
        findings.block(
            "think-time-bound",
            Level::Warning,
            block,
            block.turn_rate().map_or(block.first_line, |rate| rate.line),
            [
                format!(
                    "{} users, {}, iteration mean {}, request mean {}",
                    digits(users),
                    plain(rate, Unit::Rate),
                    plain(turn, Unit::Time),
                    mean.text
                ),
                format!(
                    "{} × {} = {} ≈ {} users; {:.1} % of an iteration is not the request, so were the request to take no time the rate would be about {}",
                    plain(rate, Unit::Rate),
                    plain(turn, Unit::Time),
                    digits(rate * turn),
                    digits(users),
                    think / turn * 100.0,
                    plain(users / think, Unit::Rate)
                ),
                "The rate is a setting, not a result; find the capacity with a rising arrival rate.".to_owned(),
            ],
        );
    }
}

/// users ÷ rate ≈ mean turn without think time, with most of the mean spent waiting
/// behind others (minimum ≤ mean ÷ 3).
pub fn saturated(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some((users, rate, turn)) = loop_of(block) else {
            continue;
        };
        let idle = block.think().map_or(0.0, |think| think / turn);
        if users < 2.0 || idle > 0.2 || (users / rate / turn - 1.0).abs() > 0.05 {
            continue;
        }
        let Some(latency) = block.latency() else {
            continue;
        };
        let Some(mean) = &latency.mean else { continue };
        let level = match &latency.min {
            Some(min) if min.value * 3.0 <= mean.value => Level::Warning,
            Some(_) => continue,
            None => Level::Note,
        };
        let fastest = latency.min.as_ref().map_or(
            "cannot tell how long a request takes by itself: the minimum is not printed".to_owned(),
            |min| format!("the fastest request took {}, and with twice the users at this rate the mean would be {}", min.text, plain(2.0 * users / rate, Unit::Time)),
        );
        findings.block(
            "saturated-closed-loop",
            level,
            block,
            mean.line,
            [
                format!("{} users without think time, {}, mean {}", digits(users), plain(rate, Unit::Rate), mean.text),
                format!(
                    "{} ÷ {} = {}, the mean turn is {}: the average follows from the rate; {fastest}",
                    digits(users),
                    plain(rate, Unit::Rate),
                    plain(users / rate, Unit::Time),
                    plain(turn, Unit::Time)
                ),
                "Report the rate as the capacity, and measure latency at a share of it with an arrival rate.".to_owned(),
            ],
        );
    }
}

/// iterations = users × k exactly, k the whole iterations that fit.
pub fn lock_step(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        if !block.looping {
            continue;
        }
        let (Some((users, _, turn)), Some(iterations), Some(declared)) =
            (loop_of(block), &block.iterations, &block.declared)
        else {
            continue;
        };
        let each = iterations.value / users;
        let whole = each.fract() == 0.0 && each >= 4.0 && users >= 20.0;
        // A think time near a whole share of the run puts all users in the same beat.
        let fits = (declared.value / turn - each).abs() <= 1.5;
        let thinking = block.think().is_some_and(|think| think > 0.5 * turn);
        if whole && fits && thinking {
            findings.block(
                "lock-step",
                Level::Warning,
                block,
                iterations.line,
                [
                    format!("{} iterations, {} users, {}", iterations.text, digits(users), declared.text),
                    format!(
                        "{} = {} × {} exactly: each user made {} turns of {}, in one beat; by chance the count divides so one time in {}",
                        iterations.text,
                        digits(users),
                        digits(each),
                        digits(each),
                        plain(turn, Unit::Time),
                        digits(users)
                    ),
                    "The system met bursts of all users at once and idled between; spread the starts, or vary the think time.".to_owned(),
                ],
            );
        }
    }
}

/// |users − rate × turn| beyond a tenth and beyond rounding.
pub fn little(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some((users, rate, turn)) = loop_of(block) else {
            continue;
        };
        let step = block
            .turn()
            .and_then(|turn| turn.mean.as_ref())
            .map_or(0.0, |mean| mean.step);
        let flight = rate * turn;
        let slack = 0.1 * users + rate * step;
        // Requests still under way at the end are in no row, and a run of few turns a
        // user has many of them.
        let turns = block.samples().unwrap_or(0.0) / users;
        // h2load's streams multiply its users; keepalive-not-kept tells of them.
        if (users - flight).abs() <= slack || turns < 10.0 || block.tool == Tool::H2load {
            continue;
        }
        let consequence = if flight > users {
            format!(
                "more than there can be by {}: the latency printed is longer, or the rate higher, than it was",
                digits(flight - users)
            )
        } else {
            format!("{} are not accounted for", digits(users - flight))
        };
        findings.block(
            "littles-law-gap",
            Level::Warning,
            block,
            block.turn_rate().map_or(block.first_line, |rate| rate.line),
            [
                format!("{} users, {}, mean turn {}", digits(users), plain(rate, Unit::Rate), plain(turn, Unit::Time)),
                format!(
                    "{} × {} = {} under way on average, where {} users were declared: {consequence}",
                    plain(rate, Unit::Rate),
                    plain(turn, Unit::Time),
                    digits(flight),
                    digits(users)
                ),
                "Look for users that hang, fail or wait for a connection, and for how the tool averages.".to_owned(),
            ],
        );
    }
}

/// `vus` is the last sample of a gauge, taken while users were stopping.
pub fn gauge(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some((last, max)) = &block.gauge else {
            continue;
        };
        if last.value >= max.value {
            continue;
        }
        let declared = block.users.as_ref().map(|users| users.value);
        let level = match (block.looping, declared) {
            (true, Some(users)) if last.value < users => Level::Warning,
            (false, None) if block.model == Model::Unknown && block.layout.contains("text") => {
                Level::Note
            }
            _ => continue,
        };
        findings.block(
            "gauge-as-result",
            level,
            block,
            last.line,
            [
                format!("vus: {} max={}", last.text, max.text),
                match declared {
                    Some(users) => format!(
                        "{} users looped all the time; {} is how many had not yet stopped when the last sample was taken",
                        digits(users),
                        last.text
                    ),
                    None => format!("{} of {} is the last sample, taken while users were stopping", last.text, max.text),
                },
                "Read the maximum; leave the last sample out.".to_owned(),
            ],
        );
    }
}
