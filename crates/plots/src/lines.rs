//! Draws values over time as lines, on one axis that starts at zero.

use crate::PlotWidth;
use crate::drawing::{Drawing, Frame, LOOKS, line_through};
use crate::legend::{Key, legend};
use crate::number;
use crate::picture::Picture;
use crate::scale::{Scale, extent};

/// Lines over the seconds of a measurement.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Short title of the picture.
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// The end of the measurement in seconds.
    pub end: f64,
    pub series: Vec<Series>,
    /// Moments to mark, in seconds from the start.
    pub marks: Vec<f64>,
}

#[derive(Clone, Debug)]
pub struct Series {
    /// The name of the line.
    pub label: String,
    /// The seconds since the start, and the value if there is one.
    pub points: Vec<(f64, Option<f64>)>,
}

/// Maximum number of points per line. If there are more, neighbors are combined to keep the picture
/// small.
const MAX_POINTS: usize = 300;

impl Lines {
    pub fn draw(&self, plot_width: PlotWidth) -> Picture {
        let width = plot_width.width();
        let mut drawing = Drawing::default();
        let keys: Vec<(Key, String)> = self
            .series
            .iter()
            .enumerate()
            .map(|(index, series)| (Key::Line(index), series.label.clone()))
            .collect();
        let top = legend(&mut drawing, &keys, (8.0, width - 8.0), 4.0) + 28.0;
        let frame = Frame {
            left: 52.0,
            right: width - 14.0,
            top,
            bottom: top + 130.0,
        };
        let thinned: Vec<Vec<(f64, Option<f64>)>> = self
            .series
            .iter()
            .map(|series| thinned(&series.points))
            .collect();
        let values = thinned.iter().flatten().filter_map(|point| point.1);
        let (_, max) = extent(values);
        let up = Scale::linear(0.0, max, frame.bottom, frame.top);
        let along = Scale::exact(0.0, self.end.max(1.0), frame.left, frame.right);
        drawing.left_axis(frame, &up, 4, &self.unit);
        for (index, points) in thinned.iter().enumerate() {
            let look = index % LOOKS;
            let points = points
                .iter()
                .map(|(at, value)| (along.at(*at), value.map(|value| up.at(value))));
            drawing.path(&format!("line s{look} d{look}"), &line_through(points));
        }
        drawing.moments(frame, &along, &self.marks);
        let ticks = if plot_width == PlotWidth::Wide { 12 } else { 6 };
        drawing.bottom_axis(frame, &along, ticks, "seconds of measurement");
        drawing.picture(&self.title, &self.describe(), width, frame.bottom + 44.0)
    }

    fn describe(&self) -> String {
        let each: Vec<String> = self
            .series
            .iter()
            .map(|series| {
                let values: Vec<f64> = series.points.iter().filter_map(|point| point.1).collect();
                if values.is_empty() {
                    return format!("no {}", series.label);
                }
                let (low, high) = extent(values);
                format!(
                    "{} from {} to {} {}",
                    series.label,
                    number::short(low),
                    number::short(high),
                    self.unit
                )
            })
            .collect();
        format!("Second by second: {}.", each.join("; "))
    }
}

/// Combines points to at most [`MAX_POINTS`]. A combined point has the highest value, so that no
/// peak is hidden.
fn thinned(points: &[(f64, Option<f64>)]) -> Vec<(f64, Option<f64>)> {
    let each = points.len().div_ceil(MAX_POINTS).max(1);
    points
        .chunks(each)
        .filter_map(|chunk| {
            let values = chunk.iter().filter_map(|point| point.1);
            Some((chunk.first()?.0, values.reduce(f64::max)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_stays_in_a_long_line() {
        let points: Vec<(f64, Option<f64>)> = (0..10_000_u32)
            .map(|at| (f64::from(at), Some(if at == 5_001 { 9.0 } else { 1.0 })))
            .collect();
        let thin = thinned(&points);
        assert!(thin.len() <= MAX_POINTS);
        assert!(thin.iter().any(|point| point.1 == Some(9.0)));
        let lines = Lines {
            title: "Users".to_owned(),
            unit: "users".to_owned(),
            end: 10_000.0,
            series: vec![Series {
                label: "users".to_owned(),
                points,
            }],
            marks: Vec::new(),
        };
        let picture = lines.draw(PlotWidth::Narrow);
        assert!(
            picture
                .description
                .contains("users from 1.000 to 9.00 users"),
            "{}",
            picture.description
        );
        assert!(picture.file().len() < 20_000);
    }
}
