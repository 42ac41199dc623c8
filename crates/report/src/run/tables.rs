//! The tables of a run: figures, names, thresholds, checks, errors, metrics.

use plimsoll_plots::number;
use plimsoll_results::fail_on::unit_of_threshold;
use plimsoll_results::figures::{self, RunFigures};
use plimsoll_results::record::NamedRequests;
use plimsoll_stats::Histogram;
use plimsoll_stats::tail::reliable_quantile;

use super::conclusion::{format_seconds, label_to_title, shorten};
use super::view::{RunView, Step};
use crate::document::{Block, Head, Table, Words};
use crate::marks;
use crate::method::format_bytes;

/// Maximum number of rows of a table; the JSON report has all of them.
const MAX_ROWS: usize = 100;
/// Maximum number of rows of the table over time.
const TIME_ROWS: usize = 20;
/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// The rate, the share of failures and the latency, with intervals from the run's own seconds.
pub fn figures(run: &RunView<'_>) -> Vec<Block> {
    let measured = RunFigures::of(run.record, 0).ok();
    // The value is that of the whole run, as printed. If the interval does not contain it, the value includes other
    // requests, such as those of setup.
    let interval = |name: &str, value: f64, scale: f64| {
        let figure = figures::find(name).ok()?;
        let interval = measured.as_ref()?.interval(figure, CONFIDENCE).ok()?;
        let (low, high) = (interval.low * scale, interval.high * scale);
        (low <= value && value <= high).then_some((low, high))
    };
    let mut rows = Vec::new();
    let mut row = |name: &str, value: Option<f64>, interval: Option<(f64, f64)>, unit: &str| {
        let Some(value) = value else { return };
        let range = interval.map_or_else(Words::new, |(low, high)| {
            Words::plain(format!("{} to {}", number::short(low), number::short(high)))
        });
        let value = Words::new().figure(value, None, unit);
        rows.push(vec![Words::plain(name), value, range]);
    };
    if let Some((rate, unit)) = run.successful_rate() {
        row("rate", Some(rate), interval("rate", rate, 1.0), &unit);
    }
    let failed = run
        .failed()
        .map(|(failed, all)| failed as f64 / all.max(1) as f64 * 100.0);
    row(
        "failed",
        failed,
        failed.and_then(|share| interval("failed", share, 100.0)),
        "%",
    );
    if let (Some(times), Some((_, label))) = (run.latency(), run.times) {
        let mean = times.mean();
        row(
            &format!("{label}, mean"),
            Some(mean),
            interval("mean", mean, 1.0),
            "ms",
        );
        for (name, label, q) in QUANTILES {
            let value = reliable_quantile(&times, q);
            row(
                label,
                value,
                value.and_then(|value| interval(name, value, 1.0)),
                "ms",
            );
        }
        row("longest", Some(times.max()), None, "ms");
    }
    titled_table(
        run,
        "Figures of the whole run. A percentile with fewer than ten values above it is left out.",
        vec![
            Head::words("figure"),
            Head::figures("value"),
            Head::figures("95 % interval"),
        ],
        rows,
        1,
    )
}

/// For each percentile: its name in intervals, its name for readers, and the quantile.
const QUANTILES: [(&str, &str, f64); 5] = [
    ("p50", "median", 0.5),
    ("p90", "p90", 0.9),
    ("p95", "p95", 0.95),
    ("p99", "p99", 0.99),
    ("p999", "p99.9", 0.999),
];

/// Each name and method with its figures.
pub fn names(run: &RunView<'_>) -> Vec<Block> {
    let row = |part: &NamedRequests| name_row(part, run.rate_seconds());
    let (others, named): (Vec<&NamedRequests>, Vec<&NamedRequests>) =
        run.end.names.iter().partition(|part| is_others(part));
    let shown = named.len().min(MAX_ROWS - others.len().min(1));
    let (first, left_out) = named.split_at(shown);
    let rows = first.iter().chain(&others).copied().map(row).collect();
    let mut blocks = titled_table(
        run,
        "HTTP requests by name. Times are service times of requests that did not fail, in ms.",
        vec![
            Head::words("name"),
            Head::words("method"),
            Head::figures("requests"),
            Head::figures("per second"),
            Head::figures("failed"),
            Head::figures("median"),
            Head::figures("p95"),
            Head::figures("p99"),
            Head::figures("longest"),
        ],
        rows,
        1,
    );
    if !left_out.is_empty() {
        let mut text = format!(
            "{} more names are not shown here. A report as JSON has them.",
            left_out.len()
        );
        if !others.is_empty() {
            text += " The row \u{201c}others\u{201d} counts the requests with still other names together: only the first ";
            text += &format!("{} names of a run are counted separately.", named.len());
        }
        blocks.push(Block::Prose(Words::plain(text)));
    }
    blocks
}

/// Whether these are the requests whose names are not counted separately.
fn is_others(part: &NamedRequests) -> bool {
    part.name.is_empty() && part.method.is_empty()
}

fn name_row(part: &NamedRequests, duration: f64) -> Vec<Words> {
    let name = match is_others(part) {
        true => Words::plain("others"),
        false => Words::new().code(shorten(&part.name)),
    };
    let rate = if duration > 0.0 {
        part.requests as f64 / duration
    } else {
        0.0
    };
    let mut row = vec![
        name,
        Words::plain(part.method.clone()),
        Words::plain(number::count(part.requests)),
        Words::plain(number::short(rate)),
        failure_words(part.failed),
    ];
    let times = part
        .service_time
        .histogram()
        .filter(|times| !times.is_empty());
    row.extend(latency_columns(times.as_ref(), &[0.5, 0.95, 0.99]));
    row
}

/// Quantiles that are reliable, and the longest time.
fn latency_columns(times: Option<&Histogram>, qs: &[f64]) -> Vec<Words> {
    let shown = |value: Option<f64>| {
        value.map_or_else(Words::new, |value| Words::plain(number::short(value)))
    };
    qs.iter()
        .map(|q| shown(times.and_then(|times| reliable_quantile(times, *q))))
        .chain([shown(times.map(Histogram::max))])
        .collect()
}

fn failure_words(failed: u64) -> Words {
    match failed {
        0 => Words::plain("0"),
        failed => Words::new().strong(number::count(failed)),
    }
}

/// Each threshold with the measured value.
pub fn thresholds(run: &RunView<'_>) -> Vec<Block> {
    let all = run.end.thresholds.iter().enumerate();
    let mut rows: Vec<Vec<Words>> = all
        .map(|(at, (metric, text, met))| {
            let measured = run.end.thresholds_measured.get(at).copied().flatten();
            vec![
                Words::new().code(shorten(metric)),
                Words::new().code(shorten(text)),
                measured.map_or_else(Words::new, |value| {
                    let unit = unit_of_threshold(metric);
                    Words::plain(format!("{}{unit}", number::short(value)))
                }),
                Words::new().verdict(if *met { "met" } else { "missed" }),
            ]
        })
        .collect();
    let open = run.end.objectives_not_judged.iter();
    rows.extend(open.map(|text| {
        vec![
            Words::plain("objective"),
            Words::plain(shorten(text)),
            Words::new(),
            Words::new().verdict("undecided"),
        ]
    }));
    let head = vec![
        Head::words("metric"),
        Head::words("threshold"),
        Head::figures("measured"),
        Head::words("outcome"),
    ];
    titled_table(run, "Thresholds", head, rows, 2)
}

/// Each check, those that failed first.
pub fn checks(run: &RunView<'_>) -> Vec<Block> {
    let mut all: Vec<(&String, u64, u64)> = run
        .end
        .checks
        .iter()
        .map(|(name, (passed, failed))| (name, *passed, *failed))
        .collect();
    all.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(b.0)));
    let rows = all
        .into_iter()
        .map(|(name, passed, failed)| {
            let share = passed as f64 / (passed + failed).max(1) as f64 * 100.0;
            vec![
                Words::plain(shorten(name)),
                Words::plain(number::count(passed)),
                failure_words(failed),
                Words::plain(format!("{} %", number::short(share))),
            ]
        })
        .collect();
    let head = vec![
        Head::words("check"),
        Head::figures("passed"),
        Head::figures("failed"),
        Head::figures("share passed"),
    ];
    titled_table(run, "Checks", head, rows, 1)
}

/// Failures without a response, and responses by status.
pub fn errors(run: &RunView<'_>) -> Vec<Block> {
    let counted = |counts: &std::collections::BTreeMap<String, u64>| -> Vec<Vec<Words>> {
        let mut all: Vec<(&String, u64)> =
            counts.iter().map(|(text, count)| (text, *count)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        all.into_iter()
            .map(|(text, count)| {
                vec![
                    Words::plain(shorten(text)),
                    Words::plain(number::count(count)),
                ]
            })
            .collect()
    };
    let head = |name: &str| vec![Head::words(name), Head::figures("count")];
    let mut blocks = titled_table(
        run,
        "Errors by kind",
        head("error"),
        counted(&run.end.errors),
        1,
    );
    blocks.extend(titled_table(
        run,
        "Responses by status",
        head("status"),
        counted(&run.end.statuses),
        1,
    ));
    blocks
}

/// Fixed work and its results.
pub fn fixed_work(run: &RunView<'_>) -> Vec<Block> {
    let rows = run
        .end
        .fixed_work
        .iter()
        .map(|(scenario, work)| {
            vec![
                Words::plain(shorten(scenario)),
                Words::plain(number::count(work.workers.into())),
                Words::plain(format!(
                    "{} of {}",
                    number::count(work.iterations),
                    number::count(work.iterations_wanted)
                )),
                Words::plain(number::count(work.calls)),
                failure_words(work.failed_calls),
                Words::new().figure(work.makespan_seconds, None, "s"),
            ]
        })
        .collect();
    let head = vec![
        Head::words("scenario"),
        Head::figures("users"),
        Head::figures("iterations"),
        Head::figures("calls"),
        Head::figures("failed calls"),
        Head::figures("makespan"),
    ];
    titled_table(run, "Fixed work", head, rows, 1)
}

/// The run in slices of time: the plots of a page as text.
pub fn over_time(run: &RunView<'_>) -> Vec<Block> {
    let steps = run.steps(TIME_ROWS);
    let is_open = steps.iter().any(|step| !step.lag.is_empty());
    let rows = steps.iter().map(|step| time_row(step, is_open)).collect();
    let mut head = vec![
        Head::words("second"),
        Head::figures("per second"),
        Head::figures("failed"),
        Head::figures("median"),
        Head::figures("p95"),
        Head::figures("longest"),
        Head::figures("users"),
    ];
    if is_open {
        head.push(Head::figures("longest send lag"));
    }
    let (_, label) = run.times.unwrap_or(("", "time"));
    let marks = marks::explain_marks("Changes of the load", [(String::new(), &run.end.marks[..])]);
    titled_table(
        run,
        &format!(
            "Over time. Times are the {label}, in ms. A percentile with fewer than ten values above it is left out.{marks}"
        ),
        head,
        rows,
        1,
    )
}

fn time_row(step: &Step, is_open: bool) -> Vec<Words> {
    let shown = |value: Option<f64>| {
        value.map_or_else(Words::new, |value| Words::plain(number::short(value)))
    };
    let mut row = vec![
        Words::plain(format!(
            "{} to {}",
            format_seconds(step.at),
            match step.at + step.length {
                end if end < 0.95 => number::short(end),
                end => format_seconds(end),
            }
        )),
        Words::plain(number::short(step.per_second(step.requests))),
        failure_words(step.failed),
        shown(reliable_quantile(&step.times, 0.5)),
        shown(reliable_quantile(&step.times, 0.95)),
        shown(step.longest()),
        Words::plain(number::count(step.users.into())),
    ];
    if is_open {
        row.push(shown((!step.lag.is_empty()).then(|| step.lag.max())));
    }
    row
}

/// Every metric of the run.
pub fn metrics(run: &RunView<'_>) -> Vec<Block> {
    let trends = run
        .end
        .trends
        .keys()
        .filter_map(|name| {
            let times = run.trend(name)?;
            let mut row = vec![
                Words::new().code(shorten(name)),
                Words::plain(number::count(times.count())),
                Words::plain(number::short(times.mean())),
            ];
            row.extend(latency_columns(Some(&times), &[0.5, 0.9, 0.95, 0.99]));
            Some(row)
        })
        .collect();
    let head = vec![
        Head::words("trend"),
        Head::figures("values"),
        Head::figures("mean"),
        Head::figures("median"),
        Head::figures("p90"),
        Head::figures("p95"),
        Head::figures("p99"),
        Head::figures("largest"),
    ];
    let mut blocks = titled_table(run, "Trends. Times are in ms.", head, trends, 1);
    let mut others: Vec<Vec<Words>> = Vec::new();
    for (name, sum) in &run.end.counters {
        let text = match name.as_str() {
            "data_sent" | "data_received" => format_bytes(sum.max(0.0) as u64),
            _ if sum.fract() == 0.0 && *sum >= 0.0 => number::count(*sum as u64),
            _ => number::short(*sum),
        };
        others.push(vec![
            Words::new().code(shorten(name)),
            Words::plain("sum"),
            Words::plain(text),
        ]);
    }
    for (name, (hits, all)) in &run.end.rates {
        let text = format!("{} of {}", number::count(*hits), number::count(*all));
        others.push(vec![
            Words::new().code(shorten(name)),
            Words::plain("share"),
            Words::plain(text),
        ]);
    }
    for (name, (latest, min, max)) in &run.end.gauges {
        let text = format!(
            "{} ({} to {})",
            number::short(*latest),
            number::short(*min),
            number::short(*max)
        );
        others.push(vec![
            Words::new().code(shorten(name)),
            Words::plain("latest"),
            Words::plain(text),
        ]);
    }
    let head = vec![
        Head::words("metric"),
        Head::words("kind"),
        Head::figures("value"),
    ];
    blocks.extend(titled_table(
        run,
        "Counters, rates and gauges",
        head,
        others,
        1,
    ));
    blocks
}

/// A table, named after its run if there are two. Empty if it has no rows.
pub fn titled_table(
    run: &RunView<'_>,
    caption: &str,
    head: Vec<Head>,
    mut rows: Vec<Vec<Words>>,
    names: usize,
) -> Vec<Block> {
    if rows.is_empty() {
        return Vec::new();
    }
    let more = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    let caption = match run.label {
        "" => caption.to_owned(),
        label => format!("{label}: {caption}"),
    };
    let mut blocks = vec![Block::Table(Table {
        caption,
        head,
        rows,
        names,
    })];
    if more > 0 {
        blocks.push(Block::Prose(Words::plain(format!(
            "{more} more are not shown here. A report as JSON has all of them."
        ))));
    }
    blocks
}

/// The heading of the section about latency.
pub fn latency_title(runs: &[RunView<'_>]) -> String {
    let label = runs
        .iter()
        .find_map(|run| run.times)
        .map(|(_, label)| label);
    label_to_title(label.unwrap_or("latency"))
}
