//! The plots of a run, or of two end to end.

use plimsoll_plots::{
    Curve, HeatColumn, HeatMap, Lines, OverTime, Percentiles, PlotWidth, Series, Span, TimePoint,
    quantiles_of,
};
use serde_json::{Value, json};

use super::view::{RunView, Step};
use crate::document::{Block, Plot};
use crate::marks;

/// Maximum number of points in the interactive plots; longer runs combine seconds.
const MAX_POINTS: usize = 600;

/// Latency, rate and failures over time, interactive; none without seconds.
pub fn over_time(runs: &[RunView<'_>]) -> Option<Block> {
    let mut points = Vec::new();
    let (mut spans, mut marks) = (Vec::new(), Vec::new());
    let laid = run_starts(runs);
    for &(from, run) in &laid {
        points.extend(run.steps(usize::MAX).iter().map(|step| TimePoint {
            at: from + step.at,
            p50: step.quantile(0.5),
            p95: step.quantile(0.95),
            max: step.longest(),
            rate: step.per_second(step.requests),
            failed: step.per_second(step.failed as f64),
        }));
        spans.push(Span {
            label: run_name(run),
            from,
            warm: from + run.header.warm_up_seconds.min(load_seconds(run)),
            to: from + load_seconds(run),
        });
        marks.extend(marks::mark_times(from, &run.end.marks));
    }
    if points.is_empty() {
        return None;
    }
    let label = times(runs);
    let plot = OverTime {
        title: format!(
            "{} and rate over time",
            super::conclusion::label_to_title(label)
        ),
        unit: "ms".to_owned(),
        points,
        spans,
        marks,
    };
    let marks = dashed_lines(laid.into_iter().map(|(_, run)| run));
    Some(Block::plot(Plot {
        name: "over-time".to_owned(),
        caption: format!(
            "Above: {label} of the requests that started in each second. Below: requests and failures per second, and the generator's processor time. Shaded seconds are warm-up.{marks}"
        ),
        narrow: plot.draw(PlotWidth::Narrow),
        wide: Some(plot.draw(PlotWidth::Wide)),
        series: plot_data(runs),
    }))
}

/// All requests by time and latency, one picture for each run.
pub fn heat_maps(runs: &[RunView<'_>]) -> Vec<Block> {
    let label = times(runs);
    let mut blocks = Vec::new();
    for run in runs {
        let Some((metric, _)) = run.times else {
            continue;
        };
        let columns: Vec<HeatColumn> = run
            .record
            .seconds
            .iter()
            .map(|second| HeatColumn {
                at: second.second as f64,
                buckets: second
                    .trends
                    .get(metric)
                    .map(|trend| trend.coarse())
                    .unwrap_or_default(),
            })
            .collect();
        if columns.iter().all(|column| column.buckets.is_empty()) {
            continue;
        }
        let plot = HeatMap {
            title: title_with_run(run, "Every request"),
            unit: "ms".to_owned(),
            columns,
            breaks: Vec::new(),
            marks: marks::mark_times(0.0, &run.end.marks).collect(),
        };
        blocks.push(Block::plot(Plot {
            name: slug_with_run(run, "every-request"),
            caption: title_with_run(
                run,
                &format!(
                    "Every request by its start and its {label}. Darker fields have more requests.{}",
                    dashed_lines([run])
                ),
            ),
            narrow: plot.draw(PlotWidth::Narrow),
            wide: (runs.len() == 1).then(|| plot.draw(PlotWidth::Wide)),
            series: None,
        }));
    }
    blocks
}

/// The percentile curves of each run, and those of the service time if it is not the main latency.
pub fn percentile_plot(runs: &[RunView<'_>]) -> Option<Block> {
    let mut curves = Vec::new();
    for run in runs {
        let Some((metric, label)) = run.times else {
            continue;
        };
        curves.extend(curve(run, metric, label, runs.len()));
        let service = "http_req_duration{expected_response:true}";
        if runs.len() == 1 && metric != service {
            curves.extend(curve(run, service, "service time", runs.len()));
        }
    }
    if curves.is_empty() {
        return None;
    }
    let label = times(runs);
    let plot = Percentiles {
        title: format!("Percentiles of the {label}"),
        unit: "ms".to_owned(),
        curves,
        limit: None,
    };
    Some(Block::plot(Plot {
        name: "percentiles".to_owned(),
        caption: format!("Percentiles of the {label}. Thin lines depend on fewer than ten values."),
        narrow: plot.draw(PlotWidth::Narrow),
        wide: None,
        series: None,
    }))
}

fn curve(run: &RunView<'_>, metric: &str, label: &str, runs: usize) -> Option<Curve> {
    let trend = run.end.trends.get(metric)?;
    (trend.count > 1).then(|| Curve {
        label: if runs > 1 {
            run_name(run)
        } else {
            label.to_owned()
        },
        points: quantiles_of(&trend.buckets, plimsoll_stats::RELATIVE_WIDTH, trend.max),
        count: trend.count,
    })
}

/// Users, lateness and processor time of the generator, a small picture each.
pub fn generator_plots(runs: &[RunView<'_>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for run in runs {
        let steps = run.steps(usize::MAX);
        let line = |label: &str, read: &dyn Fn(&Step) -> Option<f64>| Series {
            label: label.to_owned(),
            points: steps
                .iter()
                .map(|step| (step.at + step.length / 2.0, read(step)))
                .collect(),
        };
        let explained = dashed_lines([run]);
        let mut picture =
            |slug: &str, title: &str, unit: &str, caption: &str, series: Vec<Series>| {
                let plot = Lines {
                    title: title_with_run(run, title),
                    unit: unit.to_owned(),
                    end: load_seconds(run),
                    series,
                    marks: marks::mark_times(0.0, &run.end.marks).collect(),
                };
                blocks.push(Block::plot(Plot {
                    name: slug_with_run(run, slug),
                    caption: title_with_run(run, &format!("{caption}{explained}")),
                    narrow: plot.draw(PlotWidth::Narrow),
                    wide: None,
                    series: None,
                }));
            };
        if steps.iter().any(|step| step.users > 0) {
            let users = line("users", &|step| Some(f64::from(step.users)));
            let in_flight = line("in flight", &|step| Some(step.in_flight));
            picture(
                "users",
                "Users",
                "users",
                "Virtual users, and how many of their iterations were in flight on average.",
                vec![users, in_flight],
            );
        }
        if steps.iter().any(|step| !step.lag.is_empty()) {
            let of =
                |q: f64| move |step: &Step| (!step.lag.is_empty()).then(|| step.lag.quantile(q));
            let median = line("median", &of(0.5));
            let p99 = line("p99", &of(0.99));
            let longest = line("longest", &of(1.0));
            picture(
                "send-lag",
                "Send lag",
                "ms",
                "How late the generator started iterations, compared with their schedule.",
                vec![median, p99, longest],
            );
        }
        if steps.iter().any(|step| step.cpu > 0.0) {
            let cpu = line("processors", &|step| Some(step.per_second(step.cpu)));
            picture(
                "generator",
                "Generator",
                "processors",
                "Processors that the generator kept busy.",
                vec![cpu],
            );
        }
    }
    blocks
}

/// A sentence about the marks of these runs.
fn dashed_lines<'a>(runs: impl IntoIterator<Item = &'a RunView<'a>>) -> String {
    let runs = runs.into_iter();
    let runs = runs.map(|run| (run.label.to_owned(), &run.end.marks[..]));
    marks::explain_marks("Dashed lines", runs)
}

/// The start of each run on the time axis if all runs are placed one after another.
fn run_starts<'r, 'a>(runs: &'r [RunView<'a>]) -> Vec<(f64, &'r RunView<'a>)> {
    let mut at = 0.0;
    let mut laid = Vec::new();
    for run in runs.iter().filter(|run| !run.record.seconds.is_empty()) {
        laid.push((at, run));
        at += load_seconds(run);
    }
    laid
}

/// Whole seconds of load.
fn load_seconds(run: &RunView<'_>) -> f64 {
    let last = run.record.seconds.iter().map(|second| second.second + 1);
    last.max().unwrap_or(0) as f64
}

fn times(runs: &[RunView<'_>]) -> &'static str {
    runs.iter()
        .find_map(|run| run.times)
        .map_or("latency", |(_, label)| label)
}

fn run_name(run: &RunView<'_>) -> String {
    match run.label {
        "" => "run".to_owned(),
        label => label.to_owned(),
    }
}

fn title_with_run(run: &RunView<'_>, title: &str) -> String {
    match run.label {
        "" => title.to_owned(),
        label => format!("{label}: {title}"),
    }
}

fn slug_with_run(run: &RunView<'_>, slug: &str) -> String {
    match run.label {
        "" => slug.to_owned(),
        label => format!("{slug}-{}", label.to_ascii_lowercase()),
    }
}

/// The data of the interactive plot: columns of equal length, with a gap between runs.
fn plot_data(runs: &[RunView<'_>]) -> Option<Value> {
    let keys = ["at", "p50", "p95", "p99", "max", "rate", "failed", "cpu"];
    let mut columns: Vec<Vec<Value>> = keys.iter().map(|_| Vec::new()).collect();
    let (mut spans, mut marks) = (Vec::new(), Vec::new());
    for (from, run) in run_starts(runs) {
        if from > 0.0 {
            let gap = std::iter::once(json!(from)).chain(std::iter::repeat(Value::Null));
            columns
                .iter_mut()
                .zip(gap)
                .for_each(|(column, value)| column.push(value));
        }
        for step in run.steps(MAX_POINTS) {
            let values = [
                Some(from + step.at + step.length / 2.0),
                step.quantile(0.5),
                step.quantile(0.95),
                step.quantile(0.99),
                step.longest(),
                Some(step.per_second(step.requests)),
                Some(step.per_second(step.failed as f64)),
                Some(step.per_second(step.cpu)),
            ];
            columns
                .iter_mut()
                .zip(values)
                .for_each(|(column, value)| column.push(round_value(value)));
        }
        let warm = from + run.header.warm_up_seconds.min(load_seconds(run));
        spans.push(json!([run_name(run), from, warm, from + load_seconds(run)]));
        marks.extend(marks::mark_times(from, &run.end.marks));
    }
    let is_short = columns.first().is_none_or(|at| at.len() < 2);
    // Without a response there is no latency to zoom into.
    let medians = columns.get(1).into_iter().flatten();
    if is_short || medians.clone().all(Value::is_null) {
        return None;
    }
    let mut data = serde_json::Map::new();
    for (key, column) in keys.into_iter().zip(columns) {
        data.insert(key.to_owned(), column.into());
    }
    data.insert("spans".to_owned(), spans.into());
    data.insert("marks".to_owned(), marks.into());
    Some(data.into())
}

/// The value with five digits, more than a plot can show.
fn round_value(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| {
        let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(value);
        json!(rounded)
    })
}
