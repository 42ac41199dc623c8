//! Closed loops: users = rate × duration of a turn (Little's law).

use crate::block::{Block, Model, Role, Tool};
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

use super::series::titles_without_numbers;

/// The number of users, the turns per second, and the mean duration of a turn.
fn loop_figures(block: &Block) -> Option<(f64, f64, f64)> {
    if block.model != Model::Closed {
        return None;
    }
    let users = block.users.as_ref()?.value;
    let rate = block.turn_rate()?.value;
    let turn = block.turn_duration()?.mean.as_ref()?.value;
    (users > 0.0 && rate > 0.0 && turn > 0.0).then_some((users, rate, turn))
}

/// Reports if rate × (think time + latency) ≈ users and most of the turn is think time.
pub fn check_think_time(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some((users, rate, turn)), Some(think)) = (loop_figures(block), block.think_time())
        else {
            check_think_time_in_ramp(block, findings);
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
                    format_number(users),
                    format_value(rate, Unit::Rate),
                    format_value(turn, Unit::Time),
                    mean.text
                ),
                format!(
                    "{} × {} = {} ≈ {} users; {:.1} % of an iteration is outside of the request; with immediate responses, the rate would be about {}",
                    format_value(rate, Unit::Rate),
                    format_value(turn, Unit::Time),
                    format_number(rate * turn),
                    format_number(users),
                    think / turn * 100.0,
                    format_value(users / think, Unit::Rate)
                ),
                "Describe the rate as a setting of the test, and find the capacity with an increasing arrival rate.".to_owned(),
            ],
        );
    }
}

/// Reports a varying number of users if nearly all turns take as long as the shortest one and most
/// of a turn is not a request. Without the number of users, this is a note.
fn check_think_time_in_ramp(block: &Block, findings: &mut Findings) {
    let (Some(turn), Some(think), Model::Unknown | Model::Closed) = (
        block.trend(Role::Iteration),
        block.think_time(),
        block.model,
    ) else {
        return;
    };
    let (Some(mean), Some(min), Some(median), Some(request)) = (
        &turn.mean,
        &turn.min,
        turn.median(),
        block.latency().and_then(|latency| latency.mean.as_ref()),
    ) else {
        return;
    };
    let constant = min.value > 0.0 && median.value <= 1.1 * min.value;
    if !constant || think < 0.3 * mean.value || think < 0.002 || block.constant_users {
        return;
    }
    findings.block(
        "think-time-bound",
        Level::Note,
        block,
        mean.line,
        [
            format!(
                "{}: min {}, median {}, mean {}; request mean {}",
                turn.name, min.text, median.text, mean.text, request.text
            ),
            format!(
                "{:.0} % of an iteration is outside of requests, and half of the iterations take at most {:.0} % longer than the shortest: pauses determine the rate of each user",
                think / mean.value * 100.0,
                (median.value / min.value - 1.0) * 100.0
            ),
            "Describe the rate as a setting of the test, and find the capacity with an increasing arrival rate."
                .to_owned(),
        ],
    );
}

/// Reports if users ÷ rate ≈ mean turn without think time, and most of the mean is queueing
/// (minimum ≤ mean ÷ 3).
pub fn check_saturation(report: &Report, findings: &mut Findings) {
    check_rate_growth(report, findings);
    for block in &report.blocks {
        let Some((users, rate, turn)) = loop_figures(block) else {
            continue;
        };
        let idle = block.think_time().map_or(0.0, |think| think / turn);
        if users < 2.0 || idle > 0.2 || (users / rate / turn - 1.0).abs() > 0.05 {
            continue;
        }
        let Some(latency) = block.latency() else {
            continue;
        };
        let Some(mean) = &latency.mean else { continue };
        let level = match &latency.min {
            // A long tail may dominate the mean, but the median shows how most requests were served.
            // The other tools send requests as fast as possible, so readers expect queueing there.
            Some(min) if min.value * 3.0 <= latency.median().unwrap_or(mean).value => {
                match block.tool {
                    Tool::K6 => Level::Warning,
                    _ => Level::Note,
                }
            }
            Some(_) => continue,
            None => Level::Note,
        };
        let fastest = latency.min.as_ref().map_or(
            "cannot tell how long a request takes without queueing: the minimum is not printed".to_owned(),
            |min| format!("the fastest request took {}, and with twice the users at this rate, the mean would be {}", min.text, format_value(2.0 * users / rate, Unit::Time)),
        );
        findings.block(
            "saturated-closed-loop",
            level,
            block,
            mean.line,
            [
                format!("{} users without think time, {}, mean {}", format_number(users), format_value(rate, Unit::Rate), mean.text),
                format!(
                    "{} ÷ {} = {}, and the mean cycle is {}: the mean follows from the users and the rate; {fastest}",
                    format_number(users),
                    format_value(rate, Unit::Rate),
                    format_value(users / rate, Unit::Time),
                    format_value(turn, Unit::Time)
                ),
                "Report the rate as the capacity, and measure latency with an arrival rate below it.".to_owned(),
            ],
        );
    }
}

/// Reports if iterations = users × k exactly, where k is the number of whole iterations that fit
/// into the run.
pub fn check_lock_step(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        if !block.looping {
            continue;
        }
        let (Some((users, _, turn)), Some(iterations), Some(declared)) =
            (loop_figures(block), &block.iterations, &block.declared)
        else {
            continue;
        };
        let each = iterations.value / users;
        let whole = each.fract() == 0.0 && each >= 4.0 && users >= 20.0;
        // If the run's duration is nearly a multiple of the think time, all users stay in step.
        let fits = (declared.value / turn - each).abs() <= 1.5;
        let thinking = block.think_time().is_some_and(|think| think > 0.5 * turn);
        if whole && fits && thinking {
            findings.block(
                "lock-step",
                Level::Warning,
                block,
                iterations.line,
                [
                    format!("{} iterations, {} users, {}", iterations.text, format_number(users), declared.text),
                    format!(
                        "{} = {} × {} exactly: each user made {} iterations of {}, in lock-step; by chance, the count is divisible like this one time in {}",
                        iterations.text,
                        format_number(users),
                        format_number(each),
                        format_number(each),
                        format_value(turn, Unit::Time),
                        format_number(users)
                    ),
                    "Spread the starts, or vary the think time: the system was idle between simultaneous requests of all users.".to_owned(),
                ],
            );
        }
    }
}

/// Reports if |users − rate × turn| is more than a tenth of the users, beyond rounding and the
/// turns that were interrupted at the end.
pub fn check_littles_law(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some((allowed, rate, low, high, shown)) = in_flight_figures(block) else {
            check_busy_users(block, findings);
            continue;
        };
        let Some(users) = block.known_users() else {
            continue;
        };
        // Without a count, too few requests in flight are uncertain, but too many are not.
        let counted = block.samples().map(|n| n / allowed);
        let turns = counted.unwrap_or(0.0);
        // No row includes the requests in flight at the end. With a fixed count, users that finish
        // early are idle.
        let fixed = block.requested_count.is_some();
        let few = turns < if fixed { 10.0 } else { 3.0 };
        let over = low * rate > 1.1 * allowed;
        let idle = allowed - high * rate;
        // It is implausible that 90 % of the users were interrupted.
        let nearly_all = counted.is_some() && !fixed && idle > 0.9 * allowed && allowed >= 100.0;
        let under = !few && idle > 0.1 * allowed + allowed / turns.max(1.0) || nearly_all;
        // If only k6's gauge shows the number of users, the run may have had an arrival rate that
        // needed just one user.
        let gauge = block.constant_users && block.command.is_none() && allowed < 2.0;
        // wrk2 prints the same lines as wrk, but sends at a fixed rate.
        let paced = block.tool == Tool::Wrk
            && block.command.is_none()
            && block.titles.iter().any(|title| title.contains("wrk2"));
        let uncertain = gauge || paced;
        if !(over || under && !uncertain) || block.tool == Tool::H2load && block.streams.is_none() {
            continue;
        }
        let wrk_adds = over && block.tool == Tool::Wrk;
        let limit = match &block.streams {
            Some(streams) => format!(
                "{} × {} = {}",
                users.text,
                streams.text,
                format_number(allowed)
            ),
            None if allowed < users.value => {
                format!("{} of {}", format_number(allowed), users.text)
            }
            None => users.text.clone(),
        };
        let turn = if over { low } else { high };
        let consequence = if wrk_adds {
            "wrk adds samples for requests that it assumes it left out, which raises its mean"
                .to_owned()
        } else if over {
            format!("more than the maximum of {limit}: the latency or the rate is wrong")
        } else {
            format!(
                "the output does not show what the other {} of {limit} did",
                format_number(idle)
            )
        };
        findings.block(
            "littles-law-gap",
            if wrk_adds { Level::Note } else { Level::Warning },
            block,
            block.turn_rate().map_or(block.first_line, |rate| rate.line),
            [
                format!("{limit} may be in flight at the same time; {}, {shown}", format_value(rate, Unit::Rate)),
                format!(
                    "{} × {} = {} in flight on average (Little's law): {consequence}",
                    format_value(rate, Unit::Rate),
                    format_value(turn, Unit::Time),
                    format_number(rate * turn)
                ),
                if wrk_adds {
                    "Compare medians, or measure with wrk2 at a fixed rate.".to_owned()
                } else {
                    "Look for users that hang, fail or wait for a connection, and check that all figures come from the same run.".to_owned()
                },
            ],
        );
    }
}

/// Reports if iterations per second × mean duration exceeds the allocated users. Each user runs one
/// iteration at a time, whatever the executor.
fn check_busy_users(block: &Block, findings: &mut Findings) {
    let (Some(allocated), Some(rate), Some(mean)) = (
        &block.max_users,
        &block.iteration_rate,
        block
            .trend(Role::Iteration)
            .and_then(|trend| trend.mean.as_ref()),
    ) else {
        return;
    };
    let in_flight = rate.value * mean.bounds().0;
    if allocated.value <= 0.0 || in_flight <= 1.1 * allocated.value {
        return;
    }
    findings.block(
        "littles-law-gap",
        Level::Warning,
        block,
        rate.line,
        [
            format!(
                "iterations {}; {}: mean {}; at most {} users",
                rate.text, "iteration_duration", mean.text, allocated.text
            ),
            format!(
                "{} × {} = {} iterations in flight on average (Little's law), more than the {} allocated users",
                rate.text,
                mean.text,
                format_number(rate.value * mean.value),
                allocated.text
            ),
            "The lines come from different runs. Show k6's summary unchanged.".to_owned(),
        ],
    );
}

/// The maximum requests in flight, the turns per second, the smallest and the largest mean turn,
/// and the name of the figure for the mean.
fn in_flight_figures(block: &Block) -> Option<(f64, f64, f64, f64, String)> {
    if block.model != Model::Closed && !(block.constant_users && block.model == Model::Unknown) {
        return None;
    }
    let allowed = block.max_in_flight()?;
    let rate = block.turn_rate()?.value;
    let turn = block.turn_duration()?;
    let (low, high, shown) = match &turn.mean {
        Some(mean) => {
            // autocannon truncates every sample to whole milliseconds.
            let cut = if block.tool == Tool::Autocannon {
                1e-3
            } else {
                0.0
            };
            let (low, high) = mean.bounds();
            (low, high + cut, format!("mean {}", mean.text))
        }
        None => {
            let (low, high) = turn.mean_bounds(None)?;
            (low, high, "by the printed percentiles".to_owned())
        }
    };
    (allowed > 0.0 && rate > 0.0 && high > 0.0).then_some((allowed, rate, low, high, shown))
}

/// Reports if more users make no more requests per second: the additional latency is queueing.
fn check_rate_growth(report: &Report, findings: &mut Findings) {
    for (one, other) in report.pairs() {
        let (Some((users_a, rate_a, turn_a)), Some((users_b, rate_b, turn_b))) =
            (loop_figures(one), loop_figures(other))
        else {
            continue;
        };
        // The page may measure two systems at one address, one after the other.
        let same_target = one.target.is_some()
            && one.target == other.target
            && titles_without_numbers(&one.titles) == titles_without_numbers(&other.titles);
        if !same_target || one.rate.is_none() || one.streams.is_some() {
            continue;
        }
        let (more, less) = if users_a > users_b {
            (one, other)
        } else {
            (other, one)
        };
        let (ratio, rates, turns) = if users_a > users_b {
            (users_a / users_b, rate_a / rate_b, turn_a / turn_b)
        } else {
            (users_b / users_a, rate_b / rate_a, turn_b / turn_a)
        };
        // If latency grows much faster than users, the cause is something else, such as a different
        // system.
        let grows = (0.8 * ratio..2.0 * ratio).contains(&turns);
        if ratio < 1.5 || (rates - 1.0).abs() > 0.05 || !grows {
            continue;
        }
        let text = |block: &Block| {
            let mean = block
                .turn_duration()
                .and_then(|turn| turn.mean.as_ref())
                .map_or("", |mean| &mean.text)
                .to_owned();
            let users = block
                .users
                .as_ref()
                .map_or("", |users| &users.text)
                .to_owned();
            let rate = block.turn_rate().map_or("", |rate| &rate.text).to_owned();
            format!("{users} users: {rate}/s, mean {mean}")
        };
        findings.block(
            "saturated-closed-loop",
            Level::Warning,
            more,
            more.turn_duration().and_then(|turn| turn.mean.as_ref()).map_or(more.first_line, |mean| mean.line),
            [
                format!("{}; {} (line {})", text(more), text(less), less.first_line),
                format!("with {ratio:.2} times the users, the rate is {rates:.2} times and the latency {turns:.2} times as high: the additional users only wait"),
                "Report the rate as the capacity, and measure latency with an arrival rate below it.".to_owned(),
            ],
        );
        return;
    }
}

/// `vus` is the last sample of a gauge, taken while users were stopping.
pub fn check_gauge(report: &Report, findings: &mut Findings) {
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
                        "{} users ran throughout; {} of them had not yet stopped when the last sample was taken",
                        format_number(users),
                        last.text
                    ),
                    None => format!("{} of {} is the last sample, taken while users were stopping", last.text, max.text),
                },
                "Use the maximum instead of the last sample.".to_owned(),
            ],
        );
    }
}
