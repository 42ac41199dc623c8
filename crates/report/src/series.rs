//! A cell's runs by second: as pictures, and as data for interactive plots.

use plimsoll_plots::{HeatColumn, HeatMap, OverTime, Span, TimePoint};
use plimsoll_results::lab::{Cell, Repeat};
use serde_json::{Value, json};

use crate::marks;

/// Runs end to end: where each starts, in seconds from the left edge.
fn run_starts(cell: &Cell) -> Vec<(f64, &Repeat)> {
    let mut at = 0.0;
    let mut laid = Vec::new();
    for repeat in cell
        .repeats
        .iter()
        .filter(|repeat| !repeat.seconds.is_empty())
    {
        laid.push((at, repeat));
        at += load_seconds(repeat);
    }
    laid
}

fn marks(laid: &[(f64, &Repeat)]) -> Vec<f64> {
    let runs = laid.iter();
    runs.flat_map(|(from, repeat)| marks::mark_times(*from, &repeat.marks))
        .collect()
}

/// A sentence about the marks of all runs. Empty if there are no marks.
pub fn dashed_lines(cell: &Cell) -> String {
    let runs = run_starts(cell).into_iter();
    let runs = runs.map(|(_, repeat)| (format!("run {}", repeat.number), &repeat.marks[..]));
    marks::explain_marks("Dashed lines", runs)
}

fn load_seconds(repeat: &Repeat) -> f64 {
    repeat
        .seconds
        .iter()
        .map(|second| second.second + 1)
        .max()
        .unwrap_or(0) as f64
}

/// Latency, rate and failures of all runs; none without data per second.
pub fn over_time(cell: &Cell, title: String) -> Option<OverTime> {
    let laid = run_starts(cell);
    let points: Vec<TimePoint> = laid
        .iter()
        .flat_map(|(from, repeat)| {
            repeat.seconds.iter().map(move |second| TimePoint {
                at: from + second.second as f64,
                p50: second.p50,
                p95: second.p95,
                max: second.max,
                rate: second.requests as f64,
                failed: second.failed as f64,
            })
        })
        .collect();
    (!points.is_empty()).then(|| OverTime {
        title,
        unit: "ms".to_owned(),
        points,
        spans: laid
            .iter()
            .map(|(from, repeat)| Span {
                label: format!("run {}", repeat.number),
                from: *from,
                warm: from + repeat.warm_up_seconds.min(load_seconds(repeat)),
                to: from + load_seconds(repeat),
            })
            .collect(),
        marks: marks(&laid),
    })
}

/// Every request of all runs by time and latency; none if requests were not recorded.
pub fn heat_map(cell: &Cell, title: String) -> Option<HeatMap> {
    let laid = run_starts(cell);
    let columns: Vec<HeatColumn> = laid
        .iter()
        .flat_map(|(from, repeat)| {
            repeat.seconds.iter().map(move |second| HeatColumn {
                at: from + second.second as f64,
                buckets: second.latencies.clone(),
            })
        })
        .collect();
    columns
        .iter()
        .any(|column| !column.buckets.is_empty())
        .then(|| HeatMap {
            title,
            unit: "ms".to_owned(),
            columns,
            breaks: laid.iter().skip(1).map(|(from, _)| *from).collect(),
            marks: marks(&laid),
        })
}

/// The data of the interactive plots: columns of equal length, with a gap between runs, and the
/// runs.
pub fn plot_data(cell: &Cell) -> Option<Value> {
    let laid = run_starts(cell);
    let (mut at, mut p50, mut p95, mut p99, mut max) = (vec![], vec![], vec![], vec![], vec![]);
    let (mut rate, mut failed, mut cpu) = (vec![], vec![], vec![]);
    for (from, repeat) in &laid {
        if *from > 0.0 {
            at.push(json!(from));
            for column in [
                &mut p50,
                &mut p95,
                &mut p99,
                &mut max,
                &mut rate,
                &mut failed,
                &mut cpu,
            ] {
                column.push(Value::Null);
            }
        }
        for second in &repeat.seconds {
            at.push(json!(from + second.second as f64 + 0.5));
            p50.push(round_value(second.p50));
            p95.push(round_value(second.p95));
            p99.push(round_value(second.p99));
            max.push(round_value(second.max));
            rate.push(json!(second.requests));
            failed.push(json!(second.failed));
            cpu.push(round_value(second.system_cpu));
        }
    }
    let spans: Vec<Value> = laid
        .iter()
        .map(|(from, repeat)| {
            let warm = from + repeat.warm_up_seconds.min(load_seconds(repeat));
            json!([
                format!("run {}", repeat.number),
                from,
                warm,
                from + load_seconds(repeat)
            ])
        })
        .collect();
    (at.len() > 1).then(|| {
        json!({
            "at": at, "p50": p50, "p95": p95, "p99": p99, "max": max,
            "rate": rate, "failed": failed, "cpu": cpu, "spans": spans, "marks": marks(&laid),
        })
    })
}

/// The value with five digits, more than a plot can show.
fn round_value(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| {
        let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(value);
        json!(rounded)
    })
}
