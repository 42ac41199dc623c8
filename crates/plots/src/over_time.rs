//! Draws latency over time, with the rate and the failures below it.

use std::fmt::Write as _;

use crate::PlotWidth;
use crate::drawing::{Drawing, Frame, line_through};
use crate::legend::{Key, legend};
use crate::number;
use crate::picture::{Picture, unit};
use crate::scale::{Scale, extent};

/// The seconds of one or several runs, drawn end to end.
#[derive(Clone, Debug)]
pub struct OverTime {
    /// Short title of the picture.
    pub title: String,
    /// The unit of the latencies.
    pub unit: String,
    /// One point per second.
    pub points: Vec<TimePoint>,
    /// The runs.
    pub spans: Vec<Span>,
    /// Moments to mark, in seconds from the left edge.
    pub marks: Vec<f64>,
}

/// The values of one second.
#[derive(Clone, Debug, Default)]
pub struct TimePoint {
    /// The time in seconds, measured from the left edge.
    pub at: f64,
    /// Latency quantiles, if there were responses.
    pub p50: Option<f64>,
    /// See [`TimePoint::p50`].
    pub p95: Option<f64>,
    /// The longest latency.
    pub max: Option<f64>,
    /// Requests per second.
    pub rate: f64,
    /// Failed requests per second.
    pub failed: f64,
}

/// One of several runs that are drawn end to end.
#[derive(Clone, Debug)]
pub struct Span {
    /// The name of the run.
    pub label: String,
    /// The start of the run, in seconds from the left edge.
    pub from: f64,
    /// The end of the warm-up, in seconds from the left edge.
    pub warm: f64,
    /// The end of the run, in seconds from the left edge.
    pub to: f64,
}

/// Maximum number of points. If there are more, neighbors are combined to keep the picture small.
const MAX_POINTS: usize = 300;

impl OverTime {
    pub fn draw(&self, plot_width: PlotWidth) -> Picture {
        let (points, each) = thinned(&self.points);
        let width = plot_width.width();
        let mut drawing = Drawing::default();
        let mut keys = vec![
            (Key::Line(0), "median".to_owned()),
            (Key::Line(1), "p95".to_owned()),
            (Key::Thin, "longest".to_owned()),
            (Key::Field(2), "responded/s".to_owned()),
        ];
        let failures = points.iter().any(|point| point.failed > 0.0);
        if failures {
            keys.push((Key::Cross, "failed/s".to_owned()));
        }
        let top = legend(&mut drawing, &keys, (8.0, width - 8.0), 4.0) + 28.0;
        let left = 52.0;
        let right = width - 14.0;
        let upper = Frame {
            left,
            right,
            top,
            bottom: top + 150.0,
        };
        let lower = Frame {
            left,
            right,
            top: upper.bottom + 34.0,
            bottom: upper.bottom + 104.0,
        };
        let end = self
            .spans
            .iter()
            .map(|span| span.to)
            .fold(points.last().map_or(1.0, |point| point.at + each), f64::max);
        let along = Scale::exact(0.0, end, left, right);
        self.draw_spans(&mut drawing, &along, upper, lower);

        let latencies = points
            .iter()
            .flat_map(|point| [point.p50, point.p95, point.max])
            .flatten();
        let up = Scale::over(latencies, upper.bottom, upper.top);
        drawing.left_axis(upper, &up, 5, &self.unit);
        let line = |read: fn(&TimePoint) -> Option<f64>| {
            line_through(points.iter().map(|point| {
                (
                    along.at(point.at + each / 2.0),
                    read(point).map(|y| up.at(y)),
                )
            }))
        };
        drawing.path("line thin grey", &line(|point| point.max));
        drawing.path("line s1 d1", &line(|point| point.p95));
        drawing.path("line s0", &line(|point| point.p50));
        drawing.moments(upper, &along, &self.marks);

        let (_, max) = extent(points.iter().map(|point| point.rate));
        let rates = Scale::linear(0.0, max, lower.bottom, lower.top);
        drawing.left_axis(lower, &rates, 3, "per second");
        drawing.path(
            "f2 faint",
            &bars(&points, each, &along, &rates, |point| point.rate),
        );
        for point in points.iter().filter(|point| point.failed > 0.0) {
            let x = along.at(point.at + each / 2.0);
            drawing.cross(
                "line sbad",
                x,
                rates.at(point.failed).min(lower.bottom - 3.0),
                2.6,
            );
        }
        drawing.moments(lower, &along, &self.marks);
        let label = if each > 1.0 {
            format!(
                "seconds of measurement; each step is the worst of {} s",
                number::tick(each)
            )
        } else {
            "seconds of measurement".to_owned()
        };
        drawing.bottom_axis(
            lower,
            &along,
            if plot_width == PlotWidth::Wide { 12 } else { 6 },
            &label,
        );
        drawing.picture(&self.title, &self.describe(), width, lower.bottom + 44.0)
    }

    fn draw_spans(&self, drawing: &mut Drawing, along: &Scale, upper: Frame, lower: Frame) {
        for span in &self.spans {
            let (from, warm, to) = (along.at(span.from), along.at(span.warm), along.at(span.to));
            if warm > from {
                for frame in [upper, lower] {
                    let height = frame.bottom - frame.top;
                    drawing.rect("band", from, frame.top, warm - from, height);
                }
            }
            if self.spans.len() > 1 {
                if span.from > 0.0 {
                    drawing.line("grid", (from, upper.top), (from, lower.bottom));
                }
                let space = to - from;
                if space > 24.0 {
                    let label = if space > span.label.chars().count() as f64 * 7.2 {
                        span.label.clone()
                    } else {
                        String::new()
                    };
                    drawing.text(
                        "soft mid",
                        f64::midpoint(from, to),
                        upper.bottom + 16.0,
                        &label,
                    );
                }
            }
        }
    }

    fn describe(&self) -> String {
        let words = |name: &str, read: fn(&TimePoint) -> Option<f64>, unit: &str| {
            let values: Vec<f64> = self.points.iter().filter_map(read).collect();
            if values.is_empty() {
                return format!("no {name}");
            }
            let (low, high) = extent(values);
            format!(
                "{name} from {} to {} {unit}",
                number::short(low),
                number::short(high)
            )
        };
        let failed = self
            .points
            .iter()
            .filter(|point| point.failed > 0.0)
            .count();
        format!(
            "Second by second: {}; {}; {}; failures in {failed} of {} seconds. Shaded seconds are warm-up.",
            words("median", |point| point.p50, &self.unit),
            words("95th percentile", |point| point.p95, &self.unit),
            words("rate", |point| Some(point.rate), "per second"),
            self.points.len(),
        )
    }
}

/// Combines seconds to at most [`MAX_POINTS`] points, and returns the number of seconds that each
/// point covers. A combined point has the worst latency, so that none is hidden.
fn thinned(points: &[TimePoint]) -> (Vec<TimePoint>, f64) {
    let each = points.len().div_ceil(MAX_POINTS).max(1);
    if each == 1 {
        return (points.to_vec(), 1.0);
    }
    let worst = |chunk: &[TimePoint], read: fn(&TimePoint) -> Option<f64>| {
        chunk.iter().filter_map(read).reduce(f64::max)
    };
    let mean = |chunk: &[TimePoint], read: fn(&TimePoint) -> f64| {
        chunk.iter().map(read).sum::<f64>() / chunk.len() as f64
    };
    let thin = points
        .chunks(each)
        .map(|chunk| TimePoint {
            at: chunk.first().map_or(0.0, |point| point.at),
            p50: worst(chunk, |point| point.p50),
            p95: worst(chunk, |point| point.p95),
            max: worst(chunk, |point| point.max),
            rate: mean(chunk, |point| point.rate),
            failed: mean(chunk, |point| point.failed),
        })
        .collect();
    (thin, each as f64)
}

/// Draws columns from the bottom up, as a single path.
fn bars(
    points: &[TimePoint],
    each: f64,
    along: &Scale,
    up: &Scale,
    read: fn(&TimePoint) -> f64,
) -> String {
    let ground = up.at(0.0);
    let mut path = String::new();
    for point in points {
        let height = ground - up.at(read(point));
        if height <= 0.0 {
            continue;
        }
        let from = along.at(point.at);
        let across = along.at(point.at + each) - from;
        // Only columns that are wide enough have gaps between them.
        let across = if across > 4.0 { across - 0.8 } else { across };
        let (across, height) = (unit(across), unit(height));
        let _ = write!(
            path,
            "M{} {}v-{height}h{across}v{height}z",
            unit(from),
            unit(ground)
        );
    }
    path
}
