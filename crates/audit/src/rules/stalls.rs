//! Tails and stalls.

use crate::block::{Model, Role, quantile_name};
use crate::finding::Level;
use crate::quantity::{Unit, digits, plain};
use crate::report::{Findings, Report};

use super::series::alike;

/// mean > p90: if nine tenths are at most p90, the last tenth makes the rest of the sum.
pub fn startup(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some(latency) = block.latency() else {
            continue;
        };
        let Some(mean) = &latency.mean else { continue };
        let below = latency
            .quantiles
            .iter()
            .find(|(q, figure)| *q >= 0.9 && mean.bounds().0 > figure.bounds().1);
        let Some((q, figure)) = below else { continue };
        // A mean a little above a very narrow p90 misleads nobody.
        let apart = latency
            .median()
            .is_none_or(|median| mean.value >= 1.1 * median.value);
        if !apart {
            continue;
        }
        let least = mean.value - q * figure.value;
        let share = least / mean.value;
        let mut evidence = format!(
            "{}: mean {}, {} {}",
            latency.name,
            mean.text,
            quantile_name(*q),
            figure.text
        );
        let mut advice =
            "Leave the warm-up out and print both; quote the median for the typical request."
                .to_owned();
        // Connections are opened once, at the start: p95 = 0 and a large maximum.
        let connects = block
            .trend(Role::Connecting)
            .filter(|connecting| connecting.top().is_some_and(|(_, top)| top.value == 0.0));
        match connects.and_then(|trend| Some((trend, trend.mean.as_ref()?, trend.max.as_ref()?))) {
            Some((trend, connect, max)) => {
                let total = connect.value * block.samples().unwrap_or(0.0);
                evidence.push_str(&format!(
                    "; {}: mean {}, max {}",
                    trend.name, connect.text, max.text
                ));
                advice.push_str(&format!(
                    " Connecting took {} in all and happened to fewer than one request in twenty: at the start.",
                    plain(total, Unit::Time)
                ));
            }
            None => advice.push_str(" When the slow ones happened is not printed."),
        }
        findings.block(
            "startup-dominates",
            Level::Warning,
            block,
            mean.line,
            [
                evidence,
                format!(
                    "{} of the requests took at most {}, together at most {} × {} = {} of the mean; the other {} made at least {}, {:.0} % of it, at {} each on average or more",
                    plain(*q, Unit::Share),
                    figure.text,
                    q,
                    figure.text,
                    plain(q * figure.value, Unit::Time),
                    plain(1.0 - q, Unit::Share),
                    plain(least, Unit::Time),
                    share * 100.0,
                    plain(least / (1.0 - q), Unit::Time)
                ),
                advice,
            ],
        );
    }
}

/// max ÷ duration > 1 − q: by time, more of the run was stalled than the highest
/// percentile leaves out; by count the closed loop asked nothing meanwhile.
pub fn hidden(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        if block.model != Model::Closed {
            continue;
        }
        let latency = block.trend(Role::Expected).or(block.latency());
        let elapsed = block.elapsed.as_ref().or(block.declared.as_ref());
        let (Some(latency), Some(elapsed)) = (latency, elapsed) else {
            continue;
        };
        let (Some(max), Some((q, top)), Some(users), Some(samples)) =
            (&latency.max, latency.top(), &block.users, block.samples())
        else {
            continue;
        };
        let Some(turn) = block.turn().or(block.latency()) else {
            continue;
        };
        let typical = turn.median().or(turn.mean.as_ref());
        let Some(typical) = typical.filter(|typical| typical.value > 0.0) else {
            continue;
        };
        // A failure that ran into a time-out is another rule's.
        if block.failed() > 0.0 && block.trend(Role::Expected).is_none() {
            continue;
        }
        let share = max.value / elapsed.value;
        if share <= 1.0 - q || max.value < 10.0 * top.value {
            continue;
        }
        let missed = max.value / typical.value;
        findings.block(
            "hidden-stall",
            Level::Error,
            block,
            max.line,
            [
                format!(
                    "{}: {} {}, max {}; {} users, {}, {} samples",
                    latency.name,
                    quantile_name(*q),
                    top.text,
                    max.text,
                    users.text,
                    elapsed.text,
                    digits(samples)
                ),
                format!(
                    "{} ÷ {} = {:.1} % of the run, more than the {} that {} leaves out; the stalled user sent 1 request where it sends {} at {} each; {} users × 1 sample = {} of {} ({}), so no percentile up to {} can show it",
                    max.text,
                    plain(elapsed.value, Unit::Time),
                    share * 100.0,
                    plain(1.0 - q, Unit::Share),
                    quantile_name(*q),
                    digits(missed.floor()),
                    typical.text,
                    users.text,
                    users.text,
                    digits(samples),
                    plain(users.value / samples, Unit::Share),
                    quantile_name(1.0 - users.value / samples)
                ),
                "Measure with an arrival rate, from the scheduled start: those who would have come during the stall then count.".to_owned(),
            ],
        );
    }
}

/// |mean A − mean B| ≤ k × max ÷ n for a small k.
pub fn explains(report: &Report, findings: &mut Findings) {
    const HANDFUL: f64 = 10.0;
    for (one, other) in report.pairs() {
        if !alike(one, other) {
            continue;
        }
        let mean = |block: &crate::block::Block| {
            let latency = block.latency()?;
            Some((
                latency.mean.clone()?,
                latency.max.clone()?,
                block.samples()?,
            ))
        };
        let (Some(a), Some(b)) = (mean(one), mean(other)) else {
            continue;
        };
        let difference = (a.0.value - b.0.value).abs();
        let slower = if a.0.value > b.0.value { &a } else { &b };
        let each = slower.1.value / slower.2;
        let needed = (difference / each).ceil();
        let real = difference > 0.03 * slower.0.value;
        if !real || !(1.0..=HANDFUL).contains(&needed) {
            continue;
        }
        findings.block(
            "one-stall-explains",
            Level::Note,
            other,
            b.0.line,
            [
                format!(
                    "means {} and {}; the slower one's maximum {} of {} samples",
                    a.0.text,
                    b.0.text,
                    slower.1.text,
                    digits(slower.2)
                ),
                format!(
                    "the means differ by {}; one sample of {} adds {} ÷ {} = {}, so {} of them make the whole difference",
                    plain(difference, Unit::Time),
                    slower.1.text,
                    slower.1.text,
                    digits(slower.2),
                    plain(each, Unit::Time),
                    digits(needed)
                ),
                "Compare medians, or repeat both runs in turn before calling one faster.".to_owned(),
            ],
        );
    }
}
