//! The figures of each second of a run, from which a single run gets its intervals.

use std::collections::BTreeMap;

use plimsoll_results::lab::SecondFigures;
use plimsoll_results::record::Second;

use super::latency::requests;

/// Numerators and denominators of the figures that are ratios, for each whole second: `seconds` as
/// recorded, and as reported.
pub fn parts_per_second(
    seconds: &[Second],
    trend: &str,
    reported: &[SecondFigures],
) -> BTreeMap<String, Vec<(f64, f64)>> {
    let mut parts: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let whole = seconds.iter().zip(reported);
    for (second, reported) in whole.filter(|(second, _)| second.lasted.is_none()) {
        let count = |trend: &str| second.trends.get(trend).map_or(0, |trend| trend.count) as f64;
        let (all, failed) = (requests(second, trend), reported.failed as f64);
        let mut add = |name: &str, above: f64, below: f64| {
            let parts = parts.entry(name.to_owned()).or_default();
            parts.push((above, below));
        };
        add("requests_per_second", all - failed, 1.0);
        add("failed_share", failed * 100.0, all);
        add("iterations_per_second", count("iteration_duration"), 1.0);
        if let Some(bytes) = second.counters.get("data_received") {
            add("received_megabytes_per_second", bytes / 1e6, 1.0);
        }
        if let Some(used) = reported.system_cpu {
            add("cpu_time_per_request", used * 1e6, all);
        }
    }
    parts
}

/// CPU seconds per second, between the two readings around a second.
pub fn cpu_in(series: &[(f64, f64)], second: f64) -> Option<f64> {
    let at = |moment: f64| {
        let after = series.iter().position(|(time, _)| *time >= moment)?;
        let (time, used) = *series.get(after)?;
        let Some((before, had)) = after.checked_sub(1).and_then(|at| series.get(at)) else {
            return Some(used);
        };
        let share = if time > *before {
            (moment - before) / (time - before)
        } else {
            1.0
        };
        Some(had + (used - had) * share)
    };
    Some((at(second + 1.0)? - at(second)?).max(0.0))
}
