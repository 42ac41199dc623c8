//! The rows of the live view: pieces of text with their colors.

use std::time::Duration;

use plimsoll_verdict::Level;

use crate::grpc_status;
use crate::http_text::{NO_RESPONSE, rate};
use crate::live_figures::{
    Counted, GeneratorLoad, LiveFigures, LiveThreshold, Offered, Quantiles, Traffic,
};
use crate::numbers;
use crate::paint::{Paint, spaces, width};

/// A string and its color.
pub struct Piece {
    text: String,
    color: Color,
}

enum Color {
    Plain,
    Figure,
    Good,
    Bad,
    Warning,
}

impl Piece {
    pub fn plain(text: impl Into<String>) -> Piece {
        Piece::new(text, Color::Plain)
    }

    fn figure(text: impl Into<String>) -> Piece {
        Piece::new(text, Color::Figure)
    }

    pub fn bad(text: impl Into<String>) -> Piece {
        Piece::new(text, Color::Bad)
    }

    pub fn warning(text: impl Into<String>) -> Piece {
        Piece::new(text, Color::Warning)
    }

    fn new(text: impl Into<String>, color: Color) -> Piece {
        Piece {
            text: text.into(),
            color,
        }
    }
}

pub const INDENT: &str = "  ";
pub const LABEL_WIDTH: usize = 12;
/// The column at which the texts start, after the labels.
pub const TEXT_COLUMN: usize = INDENT.len() + LABEL_WIDTH + 1;

/// The width of each time in a row of times.
const TIME_WIDTH: usize = 8;

/// The share of a processor above which a worker gets a warning.
const BUSY_SHARE: f64 = 0.9;

/// Makes text from a peer or a user safe to print.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

pub fn line(label: &str, pieces: &[Piece], paint: Paint) -> String {
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
            Color::Warning => paint.warning(&text),
        });
    }
    line
}

pub fn rates(figures: &LiveFigures, columns: usize) -> Vec<Piece> {
    if figures.no_response {
        return vec![Piece::bad(NO_RESPONSE)];
    }
    let now = figures.rates.last().copied().unwrap_or(0.0);
    let average = rate(figures.average_rate);
    let mut pieces = vec![
        Piece::figure(rate(now)),
        Piece::plain(format!("\u{a0}now, {average}\u{a0}on\u{a0}average")),
    ];
    if let Some(offered) = figures.offered_rate {
        pieces.push(Piece::plain(format!(", {}\u{a0}offered", rate(offered))));
    }
    let sparkline_width = columns.saturating_sub(LABEL_WIDTH + 60).min(40);
    let from = figures.rates.len().saturating_sub(sparkline_width);
    if let Some(latest) = figures.rates.get(from..).filter(|latest| latest.len() > 1) {
        pieces.push(Piece::plain(format!("  {}", sparkline(latest))));
    }
    pieces
}

/// Draws values as blocks of eight heights. The highest value gets the highest block.
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

pub fn failures(figures: &LiveFigures) -> Vec<Piece> {
    let what = match figures.counted {
        Counted::Requests => "requests",
        Counted::Iterations => "iterations",
    };
    let failed = figures.failed.to_string();
    let share = numbers::percent(figures.failed as f64 / (figures.total as f64).max(1.0));
    vec![
        if figures.failed > 0 {
            Piece::bad(failed)
        } else {
            Piece::figure(failed)
        },
        Piece::plain(format!(
            "\u{a0}of\u{a0}{}\u{a0}{what} ({share})",
            figures.total
        )),
    ]
}

pub fn latency(quantiles: &Quantiles, metric: &str) -> Vec<Piece> {
    let figures = [
        ("p50", quantiles.p50),
        ("p95", quantiles.p95),
        ("p99", quantiles.p99),
        ("max", quantiles.max),
    ];
    let mut pieces = Vec::new();
    let mut gap = 0;
    for (label, time) in figures {
        let text = milliseconds(time);
        pieces.push(Piece::plain(format!("{}{label}\u{a0}", spaces(gap))));
        // Wide enough that numbers do not move when they change.
        gap = TIME_WIDTH.saturating_sub(width(&text)) + 2;
        pieces.push(Piece::figure(text));
    }
    if !metric.is_empty() {
        pieces.push(Piece::plain(format!("{}{metric}", spaces(gap))));
    }
    pieces
}

fn milliseconds(time: Duration) -> String {
    numbers::time(time.as_nanos() as f64 / 1e6, None)
}

pub fn users(figures: &LiveFigures) -> Vec<Piece> {
    let (active, initialized) = figures.users;
    vec![
        Piece::figure(active.to_string()),
        Piece::plain(format!(
            " ({initialized}\u{a0}initialized), {:.1} iterations in flight",
            figures.in_flight
        )),
    ]
}

pub fn agents((agents, lost): (usize, usize)) -> Vec<Piece> {
    let mut pieces = vec![Piece::figure(agents.to_string())];
    if lost > 0 {
        pieces.push(Piece::plain(", "));
        pieces.push(Piece::bad(format!("{lost}\u{a0}lost")));
    }
    pieces
}

pub fn offered(offered: Offered) -> Vec<Piece> {
    let share = offered.started as f64 / (offered.offered as f64).max(1.0);
    let mut pieces = vec![
        Piece::figure(offered.offered.to_string()),
        Piece::plain(format!(
            "\u{a0}iterations, {}\u{a0}started, ",
            numbers::percent(share)
        )),
    ];
    let dropped = format!("{}\u{a0}dropped", offered.dropped);
    pieces.push(if offered.dropped > 0 {
        Piece::bad(dropped)
    } else {
        Piece::plain(dropped)
    });
    pieces
}

pub fn data(figures: &LiveFigures) -> Vec<Piece> {
    let amount = |bytes: f64| numbers::data(bytes).replace(' ', "\u{a0}");
    let direction = |name: &str, traffic: Traffic| {
        [
            Piece::plain(format!("{name}\u{a0}")),
            Piece::figure(format!("{}/s", amount(traffic.per_second))),
            Piece::plain(format!(" ({})", amount(traffic.total as f64))),
        ]
    };
    let received = direction("received", figures.received);
    let sent = direction(", sent", figures.sent);
    received.into_iter().chain(sent).collect()
}

pub fn checks((passed, failed): (u64, u64)) -> Vec<Piece> {
    let all = passed + failed;
    let share = numbers::percent(passed as f64 / (all as f64).max(1.0));
    let share = format!("{share}\u{a0}passed");
    vec![
        if failed > 0 {
            Piece::bad(share)
        } else {
            Piece::new(share, Color::Good)
        },
        Piece::plain(format!(" ({passed}\u{a0}of\u{a0}{all})")),
    ]
}

pub fn thresholds(thresholds: &[LiveThreshold]) -> Vec<Piece> {
    let crossed: Vec<&str> = thresholds
        .iter()
        .filter(|threshold| !threshold.is_met)
        .map(|threshold| threshold.text.as_str())
        .collect();
    let met = thresholds.len() - crossed.len();
    let mut pieces = vec![Piece::plain(format!("{met} of {} met", thresholds.len()))];
    if let Some(first) = crossed.first() {
        pieces.push(Piece::plain("; crossed: "));
        pieces.push(Piece::bad(*first));
        if crossed.len() > 1 {
            pieces.push(Piece::plain(format!(" and {} more", crossed.len() - 1)));
        }
    }
    pieces
}

pub fn statuses(figures: &LiveFigures) -> Vec<Piece> {
    figures
        .statuses
        .iter()
        .flat_map(|(status, count)| {
            let color = if grpc_status::is_good(status) {
                Color::Good
            } else {
                Color::Bad
            };
            [
                Piece::new(status.clone(), color),
                Piece::plain(format!("\u{a0}{count}  ")),
            ]
        })
        .collect()
}

pub fn generator(load: &GeneratorLoad) -> Vec<Piece> {
    let lag = load.send_lag.map(|lag| {
        let lag = milliseconds(lag);
        format!("send\u{a0}lag\u{a0}p99\u{a0}{lag}")
    });
    if load.workers.is_empty() {
        return lag.map(Piece::plain).into_iter().collect();
    }
    let busiest = load.workers.iter().copied().fold(0.0, f64::max);
    let total = load.workers.iter().fold(0.0, |sum, share| sum + share);
    let share = format!("{:.0}%", busiest * 100.0);
    let mut pieces = vec![
        if busiest >= BUSY_SHARE {
            Piece::warning(share)
        } else {
            Piece::figure(share)
        },
        Piece::plain(format!(
            " of a processor on the busiest of {} workers",
            load.workers.len()
        )),
        Piece::plain(format!(" ({:.0}% in all), {}", total * 100.0, load.rss)),
    ];
    pieces.extend(lag.map(|lag| Piece::plain(format!(", {lag}"))));
    pieces
}

/// During a run, the verdict only covers the generator.
pub fn verdict(level: Level) -> Vec<Piece> {
    let level = match level {
        Level::Valid => Piece::new("valid", Color::Good),
        Level::Suspect => Piece::warning("suspect"),
        Level::Invalid => Piece::bad("invalid"),
    };
    vec![level, Piece::plain(", on the generator so\u{a0}far")]
}
