//! The live view of load on one URL, as lines for a terminal.

use std::time::Duration;

use plimsoll_units::Bytes;

use crate::fit;
use crate::fixed_width::fixed_width;
use crate::grpc_status;
use crate::http_text::{NO_RESPONSE, rate};
use crate::numbers;
use crate::paint::{Paint, spaces, width};

/// The state of a run at one moment.
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
    /// Active connections, or users.
    pub users: u32,
    /// Exchanges so far, including failed ones.
    pub requests: u64,
    /// Those that got a response.
    pub responses: u64,
    /// Failed ones.
    pub failed: u64,
    /// Requests per second in each of the latest seconds, oldest first.
    pub rates: Vec<f64>,
    /// The configured requests per second; `None` in a closed model.
    pub wanted_rate: Option<f64>,
    /// Duration of exchanges in the latest second.
    pub latest: Option<Quantiles>,
    /// Duration of exchanges so far.
    pub overall: Option<Quantiles>,
    /// Responses by status, sorted.
    pub statuses: Vec<(u16, u64)>,
    /// Failures without a response, most frequent first.
    pub errors: Vec<(String, u64)>,
    /// The activity of the generator itself.
    pub generator: GeneratorLoad,
}

/// Times of exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// The median.
    pub p50: Duration,
    /// The 90th percentile.
    pub p90: Duration,
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
    /// A warning that the results may be affected.
    pub warning: Option<String>,
}

/// Number of errors shown.
const ERRORS_SHOWN: usize = 3;

/// A worker's processor share from which on a warning is given.
const BUSY: f64 = 0.9;

/// The view as lines that fit into `columns`, the first of them empty.
pub fn lines(view: &LiveView, columns: usize, paint: Paint) -> Vec<String> {
    let title = format!("{INDENT}{}", paint.bold(&printable(&view.title)));
    let mut lines = vec![String::new(), fit::cut(&title, columns)];
    let mut figures = |label: &str, pieces: Vec<Piece>| {
        let line = line(label, &pieces, paint);
        lines.extend(fit::fit(&line, columns, TEXT_COLUMN));
    };
    figures("", progress(view, columns));
    figures("rate", rates(view, columns));
    figures("requests", counts(view));
    for (label, quantiles) in [("latency now", view.latest), ("latency", view.overall)] {
        if let Some(quantiles) = quantiles {
            figures(label, latency(&quantiles));
        }
    }
    if !view.statuses.is_empty() {
        figures("status", statuses(view));
    }
    // Each error has one row, whatever its length.
    for (text, count) in view.errors.iter().take(ERRORS_SHOWN) {
        let error = Piece::bad(format!("{count} × {text}"));
        lines.push(fit::cut(&line("error", &[error], paint), columns));
    }
    let load = line("generator", &generator(&view.generator), paint);
    lines.extend(fit::fit(&load, columns, TEXT_COLUMN));
    if let Some(warning) = &view.generator.warning {
        let warning = Piece::doubtful(warning.clone());
        lines.push(fit::cut(&line("", &[warning], paint), columns));
    }
    lines
}

/// Text and its color.
struct Piece {
    text: String,
    color: Color,
}

enum Color {
    Plain,
    Figure,
    Good,
    Bad,
    Doubtful,
}

impl Piece {
    fn plain(text: impl Into<String>) -> Piece {
        Piece {
            text: text.into(),
            color: Color::Plain,
        }
    }

    fn figure(text: impl Into<String>) -> Piece {
        Piece {
            text: text.into(),
            color: Color::Figure,
        }
    }

    fn bad(text: impl Into<String>) -> Piece {
        Piece {
            text: text.into(),
            color: Color::Bad,
        }
    }

    fn doubtful(text: impl Into<String>) -> Piece {
        Piece {
            text: text.into(),
            color: Color::Doubtful,
        }
    }
}

const INDENT: &str = "  ";
const LABEL_WIDTH: usize = 12;
/// The column in which the text after the labels begins.
const TEXT_COLUMN: usize = INDENT.len() + LABEL_WIDTH + 1;
/// A narrower bar shows less than the percentage next to it.
const NARROWEST_BAR: usize = 7;

/// Text from a peer or a user may contain anything.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn line(label: &str, pieces: &[Piece], paint: Paint) -> String {
    let mut line = format!(
        "{INDENT}{label}{} ",
        spaces(LABEL_WIDTH.saturating_sub(width(label)))
    );
    for piece in pieces {
        let text = printable(&piece.text);
        line.push_str(&match piece.color {
            Color::Plain => text,
            Color::Figure => paint.figure(&text),
            Color::Good => paint.good(&text),
            Color::Bad => paint.bad(&text),
            Color::Doubtful => paint.doubtful(&text),
        });
    }
    line
}

fn progress(view: &LiveView, columns: usize) -> Vec<Piece> {
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
    let room = columns.saturating_sub(LABEL_WIDTH + 40).min(40);
    let filled = (done * room as f64) as usize;
    let mut pieces = Vec::new();
    if room >= NARROWEST_BAR {
        pieces.push(Piece::plain(format!(
            "[{}{}] ",
            "=".repeat(filled),
            "-".repeat(room - filled)
        )));
    }
    pieces.push(Piece::plain(format!(
        "{:.0}%  {time}  {}\u{a0}users",
        (done * 100.0).floor(),
        view.users
    )));
    pieces
}

fn rates(view: &LiveView, columns: usize) -> Vec<Piece> {
    if view.requests > 0 && view.responses == 0 {
        return vec![Piece::bad(NO_RESPONSE)];
    }
    let now = view.rates.last().copied().unwrap_or(0.0);
    let seconds = view.elapsed.as_secs_f64();
    let mean = if seconds > 0.0 {
        view.requests as f64 / seconds
    } else {
        0.0
    };
    let mut pieces = vec![
        Piece::figure(rate(now)),
        Piece::plain(format!("/s now, {}/s on average", rate(mean))),
    ];
    if let Some(wanted) = view.wanted_rate {
        pieces.push(Piece::plain(format!(", {}/s wanted", rate(wanted))));
    }
    let room = columns.saturating_sub(LABEL_WIDTH + 60).min(40);
    let from = view.rates.len().saturating_sub(room);
    if let Some(latest) = view.rates.get(from..).filter(|latest| latest.len() > 1) {
        pieces.push(Piece::plain(format!("  {}", sparkline(latest))));
    }
    pieces
}

/// Values as blocks of eight heights, the highest value the highest block.
fn sparkline(values: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = values.iter().copied().fold(0.0, f64::max);
    values
        .iter()
        .map(|value| {
            let share = if highest > 0.0 { value / highest } else { 0.0 };
            let height = (share * 7.0).round().clamp(0.0, 7.0) as usize;
            BLOCKS.get(height).copied().unwrap_or('▁')
        })
        .collect()
}

fn counts(view: &LiveView) -> Vec<Piece> {
    let mut pieces = vec![Piece::figure(view.requests.to_string())];
    if view.failed > 0 {
        let share = numbers::percent(view.failed as f64 / (view.requests as f64).max(1.0));
        pieces.push(Piece::plain(", "));
        pieces.push(Piece::bad(format!("{} failed ({share})", view.failed)));
    }
    pieces
}

fn latency(quantiles: &Quantiles) -> Vec<Piece> {
    let figures = [
        ("p50\u{a0}", quantiles.p50),
        ("  p90\u{a0}", quantiles.p90),
        ("  p99\u{a0}", quantiles.p99),
        ("  max\u{a0}", quantiles.max),
    ];
    figures
        .into_iter()
        .flat_map(|(label, time)| {
            // Padded, so that the numbers do not move when they change.
            let text = format!("{:<8}", milliseconds(time));
            [Piece::plain(label), Piece::figure(text)]
        })
        .collect()
}

fn milliseconds(time: Duration) -> String {
    numbers::time(time.as_nanos() as f64 / 1e6, None)
}

fn statuses(view: &LiveView) -> Vec<Piece> {
    view.statuses
        .iter()
        .flat_map(|(status, count)| {
            let text = grpc_status::name(*status);
            let color = if grpc_status::is_good(&text) {
                Color::Good
            } else {
                Color::Bad
            };
            [
                Piece { text, color },
                Piece::plain(format!("\u{a0}{count}  ")),
            ]
        })
        .collect()
}

fn generator(load: &GeneratorLoad) -> Vec<Piece> {
    let busiest = load.workers.iter().copied().fold(0.0, f64::max);
    let total = load.workers.iter().fold(0.0, |sum, share| sum + share);
    let share = format!("{:.0}%", busiest * 100.0);
    let mut pieces = vec![
        if busiest >= BUSY {
            Piece::doubtful(share)
        } else {
            Piece::figure(share)
        },
        Piece::plain(format!(
            " of a processor on the busiest of {} workers",
            load.workers.len()
        )),
        Piece::plain(format!(" ({:.0}% in all), {}", total * 100.0, load.rss)),
    ];
    if let Some(lag) = load.send_lag {
        pieces.push(Piece::plain(format!(
            ", send lag p99\u{a0}{}",
            milliseconds(lag)
        )));
    }
    pieces
}
