//! The live view of a run, as lines for a terminal. It has the figures of the live page, in the page's words.

use std::time::Duration;

use plimsoll_units::Bytes;
use plimsoll_verdict::Level;

use crate::fit;
use crate::fixed_width::fixed_width;
use crate::live_rows::{self, INDENT, LABEL_WIDTH, Piece, TEXT_COLUMN, line, printable};
use crate::numbers;
use crate::paint::Paint;

/// The state of a run without a script at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveView {
    /// The description of the run.
    pub title: String,
    /// Since the run began.
    pub elapsed: Duration,
    /// Its configured duration; `None` if a number of requests is configured.
    pub duration: Option<Duration>,
    /// Progress, 0 to 1.
    pub done: f64,
    /// The figures up to the latest second; `None` before the end of the first one.
    pub figures: Option<LiveFigures>,
}

/// The figures of a run up to the end of its latest second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveFigures {
    /// What is counted.
    pub counted: Counted,
    /// The number of those so far, including failed ones.
    pub total: u64,
    /// Failed requests, or interrupted iterations.
    pub failed: u64,
    /// No request got a response.
    pub no_response: bool,
    /// Requests or iterations per second in each of the latest seconds, oldest first.
    pub rates: Vec<f64>,
    /// Per second since the start.
    pub average_rate: f64,
    /// The configured requests per second; `None` in a closed model.
    pub offered_rate: Option<f64>,
    /// Latency in the latest second.
    pub latest: Option<Quantiles>,
    /// Latency so far.
    pub overall: Option<Quantiles>,
    /// The metric that is shown as the latency.
    pub latency_metric: &'static str,
    /// Users that run iterations, and initialized ones.
    pub users: (u32, u32),
    /// Mean number of iterations in flight in the latest second.
    pub in_flight: f64,
    pub received: Traffic,
    pub sent: Traffic,
    /// Iterations of the schedule; `None` in a closed model.
    pub offered: Option<Offered>,
    /// Checks that passed and that failed.
    pub checks: (u64, u64),
    pub thresholds: Vec<LiveThreshold>,
    /// Responses by status, sorted.
    pub statuses: Vec<(String, u64)>,
    /// Failures by text, most frequent first.
    pub errors: Vec<(String, u64)>,
    /// The activity of the generator itself.
    pub generator: GeneratorLoad,
    /// The verdict on the generator so far, and its reasons.
    pub verdict: Option<(Level, Vec<String>)>,
}

/// What a rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    #[default]
    Requests,
    /// In a run without requests.
    Iterations,
}

/// Bytes in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// In the latest second.
    pub per_second: f64,
    /// Since the start.
    pub total: u64,
}

/// Iterations of an open model since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Scheduled ones.
    pub offered: u64,
    pub started: u64,
    /// Those for which no user was free.
    pub dropped: u64,
}

/// A threshold so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveThreshold {
    /// Metric, condition and measured value.
    pub text: String,
    pub is_met: bool,
}

/// Times of exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// The median.
    pub p50: Duration,
    /// The 95th percentile.
    pub p95: Duration,
    /// The 99th percentile.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

/// The generator's own resource use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorLoad {
    /// Share of a processor that each worker thread used in the latest second.
    pub workers: Vec<f64>,
    /// 99th percentile of the send lag; `None` in a closed model.
    pub send_lag: Option<Duration>,
    /// Current memory.
    pub rss: Bytes,
}

/// Number of errors shown.
const ERRORS_SHOWN: usize = 3;
/// A narrower bar shows less than the percentage next to it.
const NARROWEST_BAR: usize = 7;

/// The view as lines that fit into `columns`, the first of them empty.
pub fn lines(view: &LiveView, columns: usize, paint: Paint) -> Vec<String> {
    let title = format!("{INDENT}{}", paint.bold(&printable(&view.title)));
    let mut lines = vec![String::new(), fit::cut(&title, columns)];
    let progress = line("", &[progress(view, columns)], paint);
    lines.extend(fit::fit(&progress, columns, TEXT_COLUMN));
    if let Some(figures) = &view.figures {
        lines.extend(figure_lines(figures, columns, paint));
    }
    lines
}

/// The figures as lines that fit into `columns`.
pub fn figure_lines(figures: &LiveFigures, columns: usize, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    let mut row = |label: &str, pieces: Vec<Piece>| {
        let line = line(label, &pieces, paint);
        lines.extend(fit::fit(&line, columns, TEXT_COLUMN));
    };
    let (rate, failed) = match figures.counted {
        Counted::Requests => ("requests/s", "failed"),
        Counted::Iterations => ("iterations/s", "interrupted"),
    };
    row(rate, live_rows::rates(figures, columns));
    row(failed, live_rows::failures(figures));
    for (label, quantiles, metric) in [
        ("latency now", figures.latest, ""),
        ("latency", figures.overall, figures.latency_metric),
    ] {
        if let Some(quantiles) = quantiles {
            row(label, live_rows::latency(&quantiles, metric));
        }
    }
    row("users", live_rows::users(figures));
    if let Some(offered) = figures.offered {
        row("offered", live_rows::offered(offered));
    }
    row("data", live_rows::data(figures));
    if figures.checks != (0, 0) {
        row("checks", live_rows::checks(figures.checks));
    }
    if !figures.thresholds.is_empty() {
        row("thresholds", live_rows::thresholds(&figures.thresholds));
    }
    if !figures.statuses.is_empty() {
        row("status", live_rows::statuses(figures));
    }
    // Each error has one row, whatever its length.
    for (text, count) in figures.errors.iter().take(ERRORS_SHOWN) {
        let error = Piece::bad(format!("{count} × {text}"));
        lines.push(fit::cut(&line("error", &[error], paint), columns));
    }
    let load = line(
        "generator",
        &live_rows::generator(&figures.generator),
        paint,
    );
    lines.extend(fit::fit(&load, columns, TEXT_COLUMN));
    if let Some((level, reasons)) = &figures.verdict {
        let verdict = line("verdict", &live_rows::verdict(*level), paint);
        lines.extend(fit::fit(&verdict, columns, TEXT_COLUMN));
        for reason in reasons.iter().filter(|_| *level != Level::Valid).take(1) {
            let reason = Piece::doubtful(reason.clone());
            lines.push(fit::cut(&line("", &[reason], paint), columns));
        }
    }
    lines
}

fn progress(view: &LiveView, columns: usize) -> Piece {
    let time = match view.duration {
        Some(duration) => format!(
            "{}\u{a0}of\u{a0}{}",
            fixed_width(view.elapsed, duration),
            numbers::time(duration.as_secs_f64() * 1e3, None)
        ),
        None => fixed_width(view.elapsed, view.elapsed),
    };
    let done = if view.done.is_finite() {
        view.done.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let bar_width = columns.saturating_sub(LABEL_WIDTH + 40).min(40);
    let filled = (done * bar_width as f64) as usize;
    let bar = if bar_width >= NARROWEST_BAR {
        let rest = "-".repeat(bar_width.saturating_sub(filled));
        format!("[{}{rest}] ", "=".repeat(filled))
    } else {
        String::new()
    };
    Piece::plain(format!("{bar}{:.0}%  {time}", (done * 100.0).floor()))
}
