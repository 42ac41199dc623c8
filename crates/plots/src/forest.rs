//! Draws forest plots: ratios of pairs with their intervals, around the line of no difference.

use crate::PlotWidth;
use crate::drawing::{CHARACTER, Drawing, Frame};
use crate::legend::{Key, legend};
use crate::number::{self, Place};
use crate::picture::Picture;
use crate::scale::{Scale, extent};

/// Ratios of pairs.
#[derive(Clone, Debug)]
pub struct Forest {
    /// Short title of the picture.
    pub title: String,
    /// The two values that form the ratio, as in `pgquery over sqlite`.
    pub label: String,
    /// The pairs from top to bottom.
    pub rows: Vec<RatioRow>,
}

/// A pair.
#[derive(Clone, Debug)]
pub struct RatioRow {
    /// The name of the pair.
    pub label: String,
    /// The second value divided by the first.
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// The outcome of the comparison.
    pub judged: Judged,
}

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The second value is larger or smaller.
    Different,
    /// There is no difference that matters.
    NoDifference,
    /// More repeats would settle it.
    Uncertain,
    /// Nothing was measured.
    Not,
}

const ROW: f64 = 40.0;
const ROW_WIDE: f64 = 24.0;

impl Forest {
    pub fn draw(&self, plot_width: PlotWidth) -> Picture {
        let width = plot_width.width();
        let wide = plot_width == PlotWidth::Wide;
        let mut drawing = Drawing::default();
        let judged = |judged| self.rows.iter().any(|row| row.judged == judged);
        let keys: Vec<(Key, String)> = [
            (Judged::Different, Key::Marker(1), "larger or smaller"),
            (Judged::NoDifference, Key::Marker(0), "no difference"),
            (Judged::Uncertain, Key::Marker(2), "uncertain"),
            (Judged::Not, Key::Tick, "not measured"),
        ]
        .into_iter()
        .filter(|(kind, ..)| judged(*kind))
        .map(|(_, key, name)| (key, name.to_owned()))
        .collect();
        let top = legend(&mut drawing, &keys, (8.0, width - 8.0), 4.0) + 10.0;
        let row_height = if wide { ROW_WIDE } else { ROW };
        let (left, right) = if wide {
            let longest = self.rows.iter().map(|row| row.label.chars().count()).max();
            let longest = longest.unwrap_or(0) as f64 * CHARACTER;
            (longest.clamp(60.0, 380.0) + 20.0, width - 170.0)
        } else {
            (14.0, width - 18.0)
        };
        let frame = Frame {
            left,
            right,
            top,
            bottom: top + self.rows.len() as f64 * row_height + 6.0,
        };
        let (low, high) = extent(self.rows.iter().flat_map(|row| {
            let (low, high) = row.interval.unwrap_or((row.ratio, row.ratio));
            [low, high, row.ratio, 1.0]
        }));
        let along = ratio_scale(low, high, frame);
        let ticks = ratio_ticks(&along);
        for (tick, _) in &ticks {
            let x = along.at(*tick);
            drawing.line("grid", (x, frame.top), (x, frame.bottom));
        }
        let one = along.at(1.0);
        drawing.line("line grey", (one, frame.top), (one, frame.bottom));
        for (index, row) in self.rows.iter().enumerate() {
            let top = frame.top + index as f64 * row_height;
            draw_row(&mut drawing, row, &along, top, frame, width, wide);
        }
        drawing.bottom_ticks(frame, &along, &ticks, &self.label);
        drawing.picture(&self.title, &self.describe(), width, frame.bottom + 44.0)
    }

    fn describe(&self) -> String {
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                let outcome = match row.judged {
                    Judged::Different if row.ratio > 1.0 => "larger",
                    Judged::Different => "smaller",
                    Judged::NoDifference => "no difference",
                    Judged::Uncertain => "uncertain",
                    Judged::Not => "not measured",
                };
                format!("{}: {}, {outcome}", row.label, figure(row))
            })
            .collect();
        format!("Ratios, {}. {}.", self.label, rows.join("; "))
    }
}

fn draw_row(
    drawing: &mut Drawing,
    row: &RatioRow,
    along: &Scale,
    top: f64,
    frame: Frame,
    width: f64,
    wide: bool,
) {
    let figure = figure(row);
    drawing.row_label(frame, width, top, &row.label, &figure, wide);
    let y = if wide { top + 12.0 } else { top + 29.0 };
    let (series, line) = match row.judged {
        Judged::Different => (Some(1), "line s1"),
        Judged::NoDifference => (Some(0), "line s0"),
        Judged::Uncertain => (Some(2), "line s2"),
        Judged::Not => (None, "line grey"),
    };
    if let Some((low, high)) = row.interval {
        drawing.interval(line, along.at(low), along.at(high), y);
    }
    let x = along.at(row.ratio);
    match series {
        Some(series) => drawing.marker(series, x, y, false),
        None => drawing.line("line grey", (x, y - 6.0), (x, y + 6.0)),
    }
}

/// `×1.42 (1.38 to 1.47)`.
fn figure(row: &RatioRow) -> String {
    let place = match row.interval {
        Some(_) => Place::of(row.ratio, row.interval),
        None => Place::decimals(2),
    };
    let interval = row.interval.map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", place.print(low), place.print(high))
    });
    format!("×{}{interval}", place.print(row.ratio))
}

/// A logarithmic scale: ratios of 2 and 1/2 are equally far from 1.
fn ratio_scale(low: f64, high: f64, frame: Frame) -> Scale {
    let reach = (high.max(1.0).ln()).max(-(low.clamp(1e-6, 1.0).ln()));
    let pad = (reach * 0.06).max(0.02);
    let low = low.clamp(1e-6, 1.0).ln() - pad;
    let high = high.max(1.0).ln() + pad;
    Scale::ratio(low.exp(), high.exp(), frame.left, frame.right)
}

/// Minimum distance between two ticks in units.
const APART: f64 = 42.0;

/// Round ratios around 1, from the finest set that covers both ends.
fn ratio_ticks(along: &Scale) -> Vec<(f64, String)> {
    const SETS: [&[f64]; 6] = [
        &[
            0.9, 0.92, 0.94, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06, 1.08, 1.1,
        ],
        &[0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5],
        &[0.25, 0.33, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0],
        &[0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0],
        &[0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0],
        &[
            0.000_1, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0,
        ],
    ];
    let (low, high) = along.ends();
    let reaches = |set: &&&[f64]| {
        set.first().is_some_and(|lowest| *lowest <= low)
            && set.last().is_some_and(|highest| *highest >= high)
    };
    let set = SETS.iter().find(reaches).unwrap_or(&SETS[5]);
    // The line of no difference always has its number. Other numbers are omitted if they overlap.
    let one = along.at(1.0);
    let mut last = f64::NEG_INFINITY;
    let mut ticks = Vec::new();
    for tick in set.iter().filter(|tick| **tick >= low && **tick <= high) {
        let at = along.at(*tick);
        let clear = *tick == 1.0 || (at - one).abs() >= APART;
        if clear && at - last >= APART {
            last = at;
            ticks.push((*tick, format!("×{}", number::tick(*tick))));
        }
    }
    ticks
}
