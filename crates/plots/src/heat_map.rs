//! Draws heat maps: the number of requests by time and latency. They show what quantiles hide: two
//! groups of latencies, a stall, or slow drift.

use std::fmt::Write as _;

use crate::PlotWidth;
use crate::drawing::{Drawing, Frame};
use crate::number;
use crate::picture::{Picture, unit};
use crate::scale::{Scale, extent};

/// Distributions in chronological order.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// Short title of the picture.
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// One distribution per second.
    pub columns: Vec<HeatColumn>,
    /// The times, in seconds, at which one run ends and the next one begins.
    pub breaks: Vec<f64>,
    /// Moments to mark, in seconds from the left edge.
    pub marks: Vec<f64>,
}

/// The distribution of one second.
#[derive(Clone, Debug)]
pub struct HeatColumn {
    /// The time in seconds, measured from the left edge.
    pub at: f64,
    /// The lower edge and the count of each bucket.
    pub buckets: Vec<(f64, u64)>,
}

/// Maximum number of columns and rows. If there are more, neighbors are combined.
const MAX_COLUMNS: usize = 120;
const MAX_ROWS: i32 = 40;
const MIN_ROWS: i32 = 10;
/// Buckets per factor of ten. Rows have the same edges as buckets, so that no bucket is split.
const PER_DECADE: f64 = 10.0;
const SHADES: usize = 5;

impl HeatMap {
    pub fn draw(&self, plot_width: PlotWidth) -> Picture {
        let width = plot_width.width();
        let frame = Frame {
            left: 52.0,
            right: width - 14.0,
            top: 50.0,
            bottom: 250.0,
        };
        let mut drawing = Drawing::default();
        let positive = self
            .columns
            .iter()
            .flat_map(|column| column.buckets.iter().map(|bucket| bucket.0))
            .filter(|edge| *edge > 0.0);
        let (low, high) = extent(positive);
        let rows = Rows::over(low, high);
        let up = rows.scale(frame);
        let each = (self.columns.len().div_ceil(MAX_COLUMNS)).max(1);
        let count = self.columns.len().div_ceil(each).max(1);
        let end = self.columns.last().map_or(1.0, |column| column.at + 1.0);
        let along = Scale::exact(0.0, end, frame.left, frame.right);
        drawing.left_axis(frame, &up, 6, &self.unit);
        let grid = self.grid(&rows, count, end);
        let max_count = grid.iter().flatten().copied().max().unwrap_or(0).max(1);
        let across = (frame.right - frame.left) / count as f64;
        let down = (frame.bottom - frame.top) / f64::from(rows.count);
        for shade in 1..=SHADES {
            let mut path = String::new();
            for (column, fields) in grid.iter().enumerate() {
                // Vertically adjacent fields of the same shade are drawn as one.
                let mut row = 0;
                for same in fields
                    .chunk_by(|one, next| shade_of(*one, max_count) == shade_of(*next, max_count))
                {
                    if same
                        .first()
                        .is_some_and(|count| shade_of(*count, max_count) == shade)
                    {
                        let _ = write!(
                            path,
                            "M{} {}h{}v-{}h-{}z",
                            unit(frame.left + column as f64 * across),
                            unit(frame.bottom - row as f64 * down),
                            unit(across),
                            unit(down * same.len() as f64),
                            unit(across)
                        );
                    }
                    row += same.len();
                }
            }
            drawing.path(&format!("h{shade}"), &path);
        }
        for place in &self.breaks {
            let x = along.at(*place);
            drawing.line("axis", (x, frame.top), (x, frame.bottom));
        }
        drawing.moments(frame, &along, &self.marks);
        draw_key(&mut drawing, max_count);
        let ticks = if plot_width == PlotWidth::Wide { 12 } else { 6 };
        drawing.bottom_axis(frame, &along, ticks, "seconds of measurement");
        let description = format!(
            "Each field is a stretch of time and of latency; the darker, the more requests, up to {} in one. Latencies reach from {} to {} {}.",
            number::count(max_count),
            number::short(low),
            number::short(high),
            self.unit
        );
        drawing.picture(&self.title, &description, width, frame.bottom + 44.0)
    }

    /// Counts by column and row, starting with the lowest row.
    fn grid(&self, rows: &Rows, columns: usize, end: f64) -> Vec<Vec<u64>> {
        let mut grid = vec![vec![0; rows.count.unsigned_abs() as usize]; columns];
        for column in &self.columns {
            let place = ((column.at / end) * columns as f64 + 1e-9) as usize;
            for (edge, count) in &column.buckets {
                if let Some(field) = grid
                    .get_mut(place.min(columns - 1))
                    .and_then(|fields| fields.get_mut(rows.of(*edge)))
                {
                    *field += count;
                }
            }
        }
        grid
    }
}

/// Rows of equal height on the logarithmic scale. Each covers several buckets.
struct Rows {
    /// The number of the lowest bucket.
    first: i32,
    /// Buckets per row.
    each: i32,
    count: i32,
}

impl Rows {
    fn over(low: f64, high: f64) -> Rows {
        let (mut first, last) = (bucket(low), bucket(high));
        let span = last - first + 1;
        let each = (span + MAX_ROWS - 1) / MAX_ROWS;
        let count = ((span + each - 1) / each).max(MIN_ROWS);
        if count == MIN_ROWS {
            // Center a small number of rows.
            first -= (count * each - span) / 2;
        }
        Rows { first, each, count }
    }

    fn of(&self, edge: f64) -> usize {
        let row = (bucket(edge) - self.first) / self.each;
        row.clamp(0, self.count - 1).unsigned_abs() as usize
    }

    fn scale(&self, frame: Frame) -> Scale {
        let edge = |bucket: i32| 10_f64.powf(f64::from(bucket) / PER_DECADE);
        let top = self.first + self.count * self.each;
        Scale::ratio(edge(self.first), edge(top), frame.bottom, frame.top)
    }
}

/// The number of the bucket that begins at or below `edge`. Values of zero or less are in the
/// lowest bucket.
fn bucket(edge: f64) -> i32 {
    if edge > 0.0 {
        ((edge.log10() * PER_DECADE + 1e-6).floor() as i32).clamp(-200, 200)
    } else {
        -200
    }
}

/// The shade for a count: 0 for none, otherwise logarithmic, so that single requests are visible.
fn shade_of(count: u64, max_count: u64) -> usize {
    if count == 0 {
        return 0;
    }
    let share = ((count as f64) + 1.0).ln() / ((max_count as f64) + 1.0).ln();
    ((share * SHADES as f64).ceil() as usize).clamp(1, SHADES)
}

fn draw_key(drawing: &mut Drawing, max_count: u64) {
    let mut x = 8.0;
    drawing.text("soft", x, 18.0, "requests");
    x += 64.0;
    let mut before = 0;
    for shade in 1..=SHADES {
        // The largest count with this shade.
        let largest =
            ((max_count as f64 + 1.0).powf(shade as f64 / SHADES as f64) - 1.0 + 1e-9).floor();
        let largest = if shade == SHADES {
            max_count
        } else {
            largest.max(0.0) as u64
        };
        if largest == before {
            continue;
        }
        let label = if largest == before + 1 {
            number::count(largest)
        } else {
            format!("≤ {}", number::count(largest))
        };
        before = largest;
        drawing.rect(&format!("h{shade}"), x, 7.0, 14.0, 13.0);
        drawing.text("soft", x + 18.0, 18.0, &label);
        x += 30.0 + label.chars().count() as f64 * 7.0;
    }
}
