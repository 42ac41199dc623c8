//! Renders the live view of a run as lines for a terminal. It has the same figures and labels as the live page.

use std::time::Duration;

use plimsoll_verdict::Level;

use crate::fit;
use crate::fixed_width::fixed_width;
pub use crate::live_figures::{
    Counted, GeneratorLoad, LiveFigures, LiveThreshold, Offered, Quantiles, Traffic,
};
use crate::live_rows::{self, INDENT, LABEL_WIDTH, Piece, TEXT_COLUMN, line, printable};
use crate::numbers;
use crate::paint::Paint;

/// The state of a run without a script at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveView {
    /// The description of the run.
    pub title: String,
    /// The time since the run began.
    pub elapsed: Duration,
    /// Its configured duration. `None` if a number of requests is configured.
    pub duration: Option<Duration>,
    /// Progress, 0 to 1.
    pub done: f64,
    /// The figures up to the latest second. `None` before the end of the first second.
    pub figures: Option<LiveFigures>,
}

/// Number of errors shown.
const ERRORS_SHOWN: usize = 3;
/// A narrower bar would show less than the percentage next to it.
const MIN_BAR_WIDTH: usize = 7;

/// The view as lines that fit into `columns`. The first line is empty.
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
    if figures.agents.0 > 0 {
        row("agents", live_rows::agents(figures.agents));
    }
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
    // Each error gets one row, even if it is long.
    for (text, count) in figures.errors.iter().take(ERRORS_SHOWN) {
        let error = Piece::bad(format!("{count} × {text}"));
        lines.push(fit::cut(&line("error", &[error], paint), columns));
    }
    let load = live_rows::generator(&figures.generator);
    if !load.is_empty() {
        let load = line("generator", &load, paint);
        lines.extend(fit::fit(&load, columns, TEXT_COLUMN));
    }
    if let Some((level, reasons)) = &figures.verdict {
        let verdict = line("verdict", &live_rows::verdict(*level), paint);
        lines.extend(fit::fit(&verdict, columns, TEXT_COLUMN));
        for reason in reasons.iter().filter(|_| *level != Level::Valid).take(1) {
            let reason = Piece::warning(reason.clone());
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
    let bar = if bar_width >= MIN_BAR_WIDTH {
        let rest = "-".repeat(bar_width.saturating_sub(filled));
        format!("[{}{rest}] ", "=".repeat(filled))
    } else {
        String::new()
    };
    Piece::plain(format!("{bar}{:.0}%  {time}", (done * 100.0).floor()))
}
