//! The report as one JSON object: `docs/schema/run-report-1.json`.

use plimsoll_results::compare::Compared;
use plimsoll_results::figures::{FIGURES, RunFigures};
use plimsoll_stats::Histogram;
use plimsoll_stats::tail::reliable_quantile;
use serde_json::{Map, Value, json};

use super::view::{RunView, Step};
use super::{RunComparison, RunReport};

/// The value of `schema`.
const SCHEMA: &str = "plimsoll/run-report/1";
/// Maximum number of steps in the series over time; longer runs combine seconds.
const MAX_STEPS: usize = 600;
/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// The whole report.
pub fn document(report: &RunReport<'_>) -> Value {
    let runs: Vec<Value> = report.runs.iter().map(run_to_json).collect();
    let mut document = json!({ "schema": SCHEMA, "runs": runs });
    if let Some(of) = report.comparison {
        document["comparison"] = comparison_to_json(of);
    }
    document
}

fn run_to_json(run: &RunView<'_>) -> Value {
    let (header, end) = (run.header, &run.end);
    let thresholds: Vec<Value> = end
        .thresholds
        .iter()
        .enumerate()
        .map(|(at, (metric, text, met))| {
            json!({
                "metric": metric,
                "threshold": text,
                "met": met,
                "measured": end.thresholds_measured.get(at).copied().flatten(),
            })
        })
        .collect();
    let checks: Vec<Value> = end
        .checks
        .iter()
        .map(|(name, (passed, failed))| json!({ "name": name, "passed": passed, "failed": failed }))
        .collect();
    let names: Vec<Value> = end
        .names
        .iter()
        .map(|part| {
            json!({
                "name": part.name,
                "method": part.method,
                "requests": part.requests,
                "failed": part.failed,
                "service_time_ms": part.service_time.histogram().and_then(|times| latency_to_json(&times)),
            })
        })
        .collect();
    let reasons: Vec<Value> = end
        .generator
        .reasons
        .iter()
        .map(|(cause, text)| json!({ "cause": cause, "text": text }))
        .collect();
    let trends: Map<String, Value> = end
        .trends
        .keys()
        .filter_map(|name| Some((name.clone(), latency_to_json(&run.trend(name)?)?)))
        .collect();
    let over_time: Vec<Value> = run.steps(MAX_STEPS).iter().map(step_to_json).collect();
    json!({
        "label": run.label,
        "plimsoll": header.plimsoll,
        "kind": header.kind,
        "title": header.title,
        "command": header.command,
        "started": header.started,
        "model": header.model,
        "load": header.load,
        "configuration_hash": header.configuration_hash,
        "environment": header.environment,
        "verdict": run.verdict(),
        "reasons": reasons,
        "aborted": end.aborted,
        "marks": end.marks,
        "duration_seconds": end.duration_seconds,
        "counted": run.unit.noun(2),
        "count": run.count(),
        "per_second": run.rate(),
        "failed": run.failed().map(|(failed, _)| failed),
        "times": run.times.map(|(_, label)| label),
        "times_ms": run.latency().and_then(|times| latency_to_json(&times)),
        "intervals": intervals_to_json(run),
        "thresholds": thresholds,
        "objectives_not_judged": end.objectives_not_judged,
        "checks": checks,
        "names": names,
        "statuses": end.statuses,
        "errors": end.errors,
        "protocols": end.protocols,
        "connections_opened": end.connections_opened,
        "requests_resent": end.requests_resent,
        "counters": end.counters,
        "rates": end.rates,
        "gauges": end.gauges,
        "trends": trends,
        "fixed_work": end.fixed_work,
        "generator_cpu_seconds": end.generator.cpu_seconds,
        "generator_peak_rss_bytes": end.generator.peak_rss_bytes,
        "over_time": over_time,
    })
}

/// The statistics of times; a percentile with fewer than ten values above it is null.
fn latency_to_json(times: &Histogram) -> Option<Value> {
    (!times.is_empty()).then(|| {
        json!({
            "count": times.count(),
            "min": times.min(),
            "mean": times.mean(),
            "p50": reliable_quantile(times, 0.5),
            "p90": reliable_quantile(times, 0.9),
            "p95": reliable_quantile(times, 0.95),
            "p99": reliable_quantile(times, 0.99),
            "p999": reliable_quantile(times, 0.999),
            "max": times.max(),
        })
    })
}

/// The 95 % intervals of the figures, from the run's own seconds.
fn intervals_to_json(run: &RunView<'_>) -> Map<String, Value> {
    let Ok(measured) = RunFigures::of(run.record, 0) else {
        return Map::new();
    };
    FIGURES
        .iter()
        .filter_map(|figure| {
            let interval = measured.interval(figure, CONFIDENCE).ok()?;
            let bounds = json!({ "low": interval.low, "high": interval.high });
            Some((figure.name.to_owned(), bounds))
        })
        .collect()
}

fn step_to_json(step: &Step) -> Value {
    json!({
        "second": step.at,
        "seconds": step.length,
        "requests": step.requests,
        "failed": step.failed,
        "dropped": step.dropped,
        "p50_ms": reliable_quantile(&step.times, 0.5),
        "p95_ms": reliable_quantile(&step.times, 0.95),
        "p99_ms": reliable_quantile(&step.times, 0.99),
        "max_ms": step.longest(),
        "send_lag_max_ms": (!step.lag.is_empty()).then(|| step.lag.max()),
        "users": step.users,
        "in_flight": step.in_flight,
        "generator_cpu_seconds": step.cpu,
    })
}

fn comparison_to_json(comparison: &RunComparison) -> Value {
    let figures: Vec<Value> = comparison.compared.iter().map(compared_to_json).collect();
    let differences: Vec<Value> = comparison
        .differences
        .iter()
        .map(|(name, a, b)| json!({ "name": name, "a": a, "b": b }))
        .collect();
    json!({
        "method": comparison.method,
        "figures": figures,
        "differences": differences,
        "doubts": comparison.doubts,
    })
}

fn compared_to_json(one: &Compared) -> Value {
    let finite = |value: f64| value.is_finite().then_some(value);
    json!({
        "figure": one.figure.name,
        "unit": one.figure.unit,
        "a": one.a,
        "b": one.b,
        "change_is": if one.is_difference() { "b - a" } else { "b / a" },
        "change": one.change.map(|change| change.estimate),
        "low": one.change.and_then(|change| finite(change.low)),
        "high": one.change.and_then(|change| finite(change.high)),
        "outcome": one.outcome.name(),
        "worse": one.is_different() && one.is_worse(),
        "why": one.why,
    })
}
