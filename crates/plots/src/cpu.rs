//! Draws processor time per request, by process.

use crate::PlotWidth;
use crate::drawing::{CHARACTER, Drawing, Frame, LOOKS};
use crate::legend::{Key, legend};
use crate::number::{self, Place};
use crate::picture::Picture;
use crate::scale::Scale;

/// Stacked bars, one below the other.
#[derive(Clone, Debug)]
pub struct CpuBars {
    /// Short title of the picture.
    pub title: String,
    /// The unit of the values: `CPU µs`.
    pub unit: String,
    /// Names of the parts, in stacking order.
    pub parts: Vec<String>,
    /// The bars from top to bottom.
    pub bars: Vec<CpuBar>,
}

#[derive(Clone, Debug)]
pub struct CpuBar {
    /// The name of the bar.
    pub label: String,
    /// One value per part. Their sum is the total.
    pub parts: Vec<f64>,
    /// The 95 % interval of the total.
    pub interval: Option<(f64, f64)>,
}

const ROW: f64 = 38.0;
const ROW_WIDE: f64 = 25.0;

impl CpuBars {
    pub fn draw(&self, plot_width: PlotWidth) -> Picture {
        let width = plot_width.width();
        let wide = plot_width == PlotWidth::Wide;
        let mut drawing = Drawing::default();
        let keys: Vec<(Key, String)> = self
            .parts
            .iter()
            .enumerate()
            .map(|(index, name)| (Key::Field(index), name.clone()))
            .collect();
        let keys = if keys.len() > 1 { keys } else { Vec::new() };
        let top = legend(&mut drawing, &keys, (8.0, width - 8.0), 4.0) + 8.0;
        let longest = self.bars.iter().map(|bar| bar.label.chars().count()).max();
        let left = if wide {
            (longest.unwrap_or(0) as f64 * CHARACTER).clamp(60.0, 360.0) + 20.0
        } else {
            10.0
        };
        let row = if wide { ROW_WIDE } else { ROW };
        let frame = Frame {
            left,
            right: width - if wide { 150.0 } else { 18.0 },
            top,
            bottom: top + self.bars.len() as f64 * row + 4.0,
        };
        let highest = self
            .bars
            .iter()
            .map(|bar| {
                let whole: f64 = bar.parts.iter().sum();
                whole.max(bar.interval.map_or(0.0, |interval| interval.1))
            })
            .fold(0.0, f64::max);
        let along = Scale::linear(0.0, highest, frame.left, frame.right);
        let max_ticks = if wide { 8 } else { 6 };
        for tick in along.ticks(max_ticks) {
            let x = along.at(tick);
            drawing.line("grid", (x, frame.top), (x, frame.bottom));
        }
        for (index, bar) in self.bars.iter().enumerate() {
            let top = frame.top + index as f64 * row;
            draw_bar(&mut drawing, bar, &along, top, frame, width, wide);
        }
        drawing.bottom_axis(frame, &along, max_ticks, &self.unit);
        drawing.picture(&self.title, &self.describe(), width, frame.bottom + 44.0)
    }

    fn describe(&self) -> String {
        let bars: Vec<String> = self
            .bars
            .iter()
            .map(|bar| {
                let parts: Vec<String> = self
                    .parts
                    .iter()
                    .zip(&bar.parts)
                    .map(|(name, value)| format!("{name} {}", number::short(*value)))
                    .collect();
                format!("{}: {}", bar.label, parts.join(", "))
            })
            .collect();
        format!("{}. {}.", self.unit, bars.join("; "))
    }
}

fn draw_bar(
    drawing: &mut Drawing,
    bar: &CpuBar,
    along: &Scale,
    top: f64,
    frame: Frame,
    width: f64,
    wide: bool,
) {
    let whole: f64 = bar.parts.iter().sum();
    let figure = Place::of(whole, bar.interval).print(whole);
    drawing.row_label(frame, width, top, &bar.label, &figure, wide);
    let y = if wide { top + 5.0 } else { top + 20.0 };
    let mut from = 0.0;
    for (index, part) in bar.parts.iter().enumerate() {
        let (left, right) = (along.at(from), along.at(from + part));
        drawing.rect(&format!("f{}", index % LOOKS), left, y, right - left, 14.0);
        // Leave a gap, so that parts can be distinguished without color.
        if index > 0 && right - left > 1.0 {
            drawing.line("mark seam", (left, y), (left, y + 14.0));
        }
        from += part;
    }
    if let Some((low, high)) = bar.interval {
        drawing.interval("axis", along.at(low), along.at(high), y + 7.0);
    }
}
