//! Draws one metric over the whole matrix: each row is a combination of the other axes, and each
//! marker is a value of one axis with its interval.

use crate::PlotWidth;
use crate::drawing::{CHARACTER, Drawing, Frame, LOOKS, cut};
use crate::legend::{Key, legend};
use crate::number;
use crate::picture::Picture;
use crate::scale::Scale;

/// One metric over the matrix.
#[derive(Clone, Debug)]
pub struct Overview {
    /// Short title of the picture.
    pub title: String,
    /// The name of the metric.
    pub label: String,
    /// The unit of the metric.
    pub unit: String,
    /// The names of the series. Each [`Spot`] belongs to one series.
    pub series: Vec<String>,
    /// The rows from top to bottom.
    pub rows: Vec<OverviewRow>,
    /// Limits of the metric, with their names.
    pub limits: Vec<(f64, String)>,
}

/// One combination of the other axes.
#[derive(Clone, Debug)]
pub struct OverviewRow {
    /// The name of the combination.
    pub label: String,
    /// The values of the combination.
    pub spots: Vec<Spot>,
    /// Series without a value in this row, with the reason: `pgfunc: invalid`.
    pub missing: Vec<String>,
}

/// A value of one series.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The index of its series.
    pub series: usize,
    pub value: f64,
    /// The 95 % interval of the value.
    pub interval: Option<(f64, f64)>,
    /// Whether the value is doubtful. Its marker is then hollow.
    pub doubtful: bool,
    /// The corresponding published value.
    pub published: Option<f64>,
}

/// The height of each series in a row.
const STEP: f64 = 11.0;

impl Overview {
    pub fn draw(&self, plot_width: PlotWidth) -> Picture {
        let width = plot_width.width();
        let wide = plot_width == PlotWidth::Wide;
        let mut drawing = Drawing::default();
        let keys = self.keys();
        let top = legend(&mut drawing, &keys, (8.0, width - 8.0), 4.0) + 14.0;
        let longest = self
            .rows
            .iter()
            .map(|row| row.label.chars().count())
            .max()
            .unwrap_or(0) as f64
            * CHARACTER;
        let left = if wide {
            longest.clamp(60.0, 360.0) + 20.0
        } else {
            14.0
        };
        let heights: Vec<f64> = self
            .rows
            .iter()
            .map(|row| self.height_of(row, wide))
            .collect();
        let frame = Frame {
            left,
            right: width - 18.0,
            top,
            bottom: top + heights.iter().sum::<f64>(),
        };
        let values = self
            .rows
            .iter()
            .flat_map(|row| &row.spots)
            .flat_map(|spot| {
                let (low, high) = spot.interval.unwrap_or((spot.value, spot.value));
                [low, high, spot.value, spot.published.unwrap_or(spot.value)]
            });
        let along = Scale::over(
            values.chain(self.limits.iter().map(|limit| limit.0)),
            frame.left + 8.0,
            frame.right,
        );
        for tick in along.ticks(if wide { 9 } else { 6 }) {
            let x = along.at(tick);
            drawing.line("grid", (x, frame.top), (x, frame.bottom));
        }
        for (value, _) in &self.limits {
            let x = along.at(*value);
            drawing.line("line sbad d4", (x, frame.top), (x, frame.bottom));
        }
        let mut y = frame.top;
        for (row, height) in self.rows.iter().zip(&heights) {
            self.draw_row(&mut drawing, row, &along, (y, *height), frame, wide);
            y += height;
        }
        let label = if along.is_logarithmic() {
            format!(
                "{}, {} (equal steps are equal ratios)",
                self.label, self.unit
            )
        } else {
            format!("{}, {}", self.label, self.unit)
        };
        let max_ticks = if wide { 9 } else { 6 };
        drawing.bottom_axis(frame, &along, max_ticks, &label);
        drawing.picture(&self.title, &self.describe(), width, frame.bottom + 44.0)
    }

    fn keys(&self) -> Vec<(Key, String)> {
        let mut keys: Vec<(Key, String)> = self
            .series
            .iter()
            .enumerate()
            .map(|(index, name)| (Key::Marker(index), name.clone()))
            .collect();
        let spots = || self.rows.iter().flat_map(|row| &row.spots);
        if spots().any(|spot| spot.published.is_some()) {
            keys.push((Key::Tick, "published, another machine".to_owned()));
        }
        for (_, name) in &self.limits {
            keys.push((Key::Limit, name.clone()));
        }
        keys
    }

    fn height_of(&self, row: &OverviewRow, wide: bool) -> f64 {
        let tracks = STEP * row.spots.len().max(1) as f64;
        let missing = if row.missing.is_empty() { 0.0 } else { 15.0 };
        tracks + missing + if wide { 12.0 } else { 26.0 }
    }

    fn draw_row(
        &self,
        drawing: &mut Drawing,
        row: &OverviewRow,
        along: &Scale,
        (top, height): (f64, f64),
        frame: Frame,
        wide: bool,
    ) {
        drawing.line("grid", (8.0, top), (frame.right, top));
        let space = if wide {
            frame.left - 20.0
        } else {
            frame.right - 16.0
        };
        let label = cut(&row.label, (space / CHARACTER) as usize);
        let mut y = if wide {
            drawing.text("", 8.0, top + height / 2.0 + 4.5, &label);
            top + 6.0 + STEP / 2.0
        } else {
            drawing.text("", 8.0, top + 15.0, &label);
            top + 21.0 + STEP / 2.0
        };
        for spot in &row.spots {
            let look = spot.series % LOOKS;
            if let Some(published) = spot.published {
                let x = along.at(published);
                drawing.line("line grey", (x, y - 5.0), (x, y + 5.0));
            }
            if let Some((low, high)) = spot.interval {
                drawing.interval(&format!("line s{look}"), along.at(low), along.at(high), y);
            }
            drawing.marker(spot.series, along.at(spot.value), y, spot.doubtful);
            y += STEP;
        }
        if row.spots.is_empty() {
            y += STEP;
        }
        if !row.missing.is_empty() {
            let text = format!("no figure: {}", row.missing.join(", "));
            let space = ((frame.right - frame.left - 8.0) / CHARACTER) as usize;
            drawing.text("soft", frame.left + 8.0, y + 7.0, &cut(&text, space));
        }
    }

    fn describe(&self) -> String {
        let mut lines = Vec::new();
        for row in &self.rows {
            for spot in &row.spots {
                let series = self.series.get(spot.series).map_or("", String::as_str);
                let place = number::Place::of(spot.value, spot.interval);
                let interval = spot.interval.map_or_else(String::new, |(low, high)| {
                    format!(" ({} to {})", place.print(low), place.print(high))
                });
                let name = match (row.label.is_empty(), series.is_empty()) {
                    (true, _) => series.to_owned(),
                    (false, true) => row.label.clone(),
                    (false, false) => format!("{}, {series}", row.label),
                };
                lines.push(format!(
                    "{name}: {}{interval} {}",
                    place.print(spot.value),
                    self.unit
                ));
            }
        }
        format!("{}. {}.", self.label, lines.join("; "))
    }
}
