//! Draws percentile curves: the share of requests that took at most a certain time. The axis is
//! stretched at the tail, so that the slowest hundredth is as wide as the rest.

use crate::PlotWidth;
use crate::drawing::{Drawing, Frame, LOOKS, line_through};
use crate::legend::{Key, legend};
use crate::number;
use crate::picture::Picture;
use crate::scale::{Scale, extent};

/// Distributions in one picture.
#[derive(Clone, Debug)]
pub struct Percentiles {
    /// Short title of the picture.
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// The distributions.
    pub curves: Vec<Curve>,
    /// A limit of the values, with its name.
    pub limit: Option<(f64, String)>,
}

/// A distribution.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The name of the distribution.
    pub label: String,
    /// Pairs of a share, from 0 to below 1, and the value below which that share of the values is.
    pub points: Vec<(f64, f64)>,
    /// Number of values. Above the share 1 − 10 / n, the curve depends on fewer than ten values and
    /// is drawn thin.
    pub count: u64,
}

/// Minimum number of values above a share for a reliable quantile.
const ENOUGH: f64 = 10.0;

/// Converts buckets (lower edge, count) in ascending order to a curve. The buckets have the given
/// relative width, and `max` is the largest value.
pub fn quantiles_of(buckets: &[(f64, u64)], relative_width: f64, max: f64) -> Vec<(f64, f64)> {
    let total: u64 = buckets.iter().map(|bucket| bucket.1).sum();
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut below = 0;
    let mut last = f64::NEG_INFINITY;
    for (edge, count) in buckets {
        let value = (edge + edge.abs() * relative_width / 2.0).min(max);
        let share = below as f64 / total.max(1) as f64;
        let place = tail(share);
        // Skip points that are too close together to be visible, but never the first one.
        if place - last >= 0.01 {
            points.push((share, value));
            last = place;
        }
        below += count;
    }
    if total > 1 {
        points.push((1.0 - 1.0 / total as f64, max));
    }
    points
}

impl Percentiles {
    pub fn draw(&self, plot_width: PlotWidth) -> Picture {
        let width = plot_width.width();
        let mut drawing = Drawing::default();
        let keys: Vec<(Key, String)> = self
            .curves
            .iter()
            .enumerate()
            .map(|(index, curve)| (Key::Line(index), curve.label.clone()))
            .collect();
        let top = legend(&mut drawing, &keys, (8.0, width - 8.0), 4.0) + 30.0;
        let frame = Frame {
            left: 52.0,
            right: width - 14.0,
            top,
            bottom: top
                + if plot_width == PlotWidth::Wide {
                    260.0
                } else {
                    210.0
                },
        };
        let values = self
            .curves
            .iter()
            .flat_map(|curve| curve.points.iter().map(|point| point.1))
            .chain(self.limit.iter().map(|limit| limit.0));
        let up = Scale::over(values, frame.bottom, frame.top);
        drawing.left_axis(frame, &up, 6, &self.unit);
        let (_, furthest) = extent(
            self.curves
                .iter()
                .flat_map(|curve| curve.points.iter().map(|point| tail(point.0))),
        );
        let along = Scale::exact(0.0, furthest.clamp(1.0, 7.0), frame.left, frame.right);
        let ticks: Vec<(f64, String)> = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999]
            .into_iter()
            .filter(|share| tail(*share) <= furthest)
            .map(|share| (tail(share), number::tick(share * 100.0)))
            .collect();
        drawing.bottom_ticks(frame, &along, &ticks, "percentile");
        if let Some((limit, name)) = &self.limit {
            let y = up.at(*limit);
            drawing.line("line sbad d4", (frame.left, y), (frame.right, y));
            drawing.text("bad", frame.left + 6.0, y - 5.0, name);
        }
        for (index, curve) in self.curves.iter().enumerate() {
            let look = index % LOOKS;
            let sure = 1.0 - ENOUGH / curve.count.max(1) as f64;
            let place = |point: &(f64, f64)| (along.at(tail(point.0)), Some(up.at(point.1)));
            let split = curve.points.partition_point(|point| point.0 <= sure);
            let (head, rest) = curve.points.split_at(split);
            drawing.path(
                &format!("line s{look} d{look}"),
                &line_through(head.iter().map(place)),
            );
            let rest = head.last().into_iter().chain(rest).map(place);
            drawing.path(&format!("line thin s{look}"), &line_through(rest));
        }
        drawing.picture(&self.title, &self.describe(), width, frame.bottom + 44.0)
    }

    fn describe(&self) -> String {
        let at = |curve: &Curve, share: f64| {
            let index = curve.points.partition_point(|point| point.0 <= share);
            index
                .checked_sub(1)
                .and_then(|index| curve.points.get(index))
                .map_or_else(|| "–".to_owned(), |point| number::short(point.1))
        };
        let each: Vec<String> = self
            .curves
            .iter()
            .map(|curve| {
                format!(
                    "{}: median {} {unit}, 95th percentile {} {unit}, 99th {} {unit}",
                    curve.label,
                    at(curve, 0.5),
                    at(curve, 0.95),
                    at(curve, 0.99),
                    unit = self.unit
                )
            })
            .collect();
        format!(
            "Percentile curves. {}. Thin ends rest on fewer than ten values.",
            each.join("; ")
        )
    }
}

/// The position of a share on the axis. Each further 9 takes one unit.
fn tail(share: f64) -> f64 {
    -(1.0 - share).max(1e-9).log10()
}
