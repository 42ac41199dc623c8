//! Draws the search for the highest rate that meets an objective.

use crate::PlotWidth;
use crate::drawing::{Drawing, Frame};
use crate::legend::{Key, legend};
use crate::number;
use crate::picture::Picture;
use crate::scale::{Scale, extent};

/// A search and its trials.
#[derive(Clone, Debug)]
pub struct LimitPlot {
    /// Short title of the picture.
    pub title: String,
    /// The metric of the objective.
    pub figure: String,
    /// The unit of the metric.
    pub unit: String,
    /// The upper bound of the objective, in `unit`.
    pub limit: f64,
    /// The trials in chronological order.
    pub trials: Vec<Trial>,
    /// The highest rate that met the objective.
    pub kept: Option<f64>,
    /// The lowest rate above it that missed the objective.
    pub broken: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The requested rate per second.
    pub rate: f64,
    /// The measured value in the plot's unit. `None` if there was no response.
    pub value: Option<f64>,
    /// Whether the trial met the objective.
    pub kept: bool,
    /// Whether the trial was the soak.
    pub soak: bool,
}

impl LimitPlot {
    pub fn draw(&self, plot_width: PlotWidth) -> Picture {
        let width = plot_width.width();
        let mut drawing = Drawing::default();
        let mut keys = vec![
            (Key::Marker(0), "met".to_owned()),
            (Key::Cross, "missed".to_owned()),
        ];
        if self.trials.iter().any(|trial| trial.soak) {
            keys.push((Key::Marker(1), "soak, met".to_owned()));
        }
        let top = legend(&mut drawing, &keys, (8.0, width - 8.0), 4.0) + 28.0;
        let frame = Frame {
            left: 52.0,
            right: width - 18.0,
            top,
            bottom: top + 190.0,
        };
        let up = Scale::over(
            self.trials
                .iter()
                .filter_map(|trial| trial.value)
                .chain([self.limit]),
            frame.bottom,
            frame.top,
        );
        let (low, high) = extent(self.trials.iter().map(|trial| trial.rate));
        let along = if low > 0.0 && high / low > 4.0 {
            Scale::logarithmic(low, high, frame.left, frame.right)
        } else {
            Scale::linear(low, high, frame.left, frame.right)
        };
        if let (Some(kept), Some(broken)) = (self.kept, self.broken) {
            let (from, to) = (along.at(kept), along.at(broken));
            let height = frame.bottom - frame.top;
            drawing.rect("band", from, frame.top, to - from, height);
            drawing.line("axis", (from, frame.top), (from, frame.bottom));
            drawing.line("axis", (to, frame.top), (to, frame.bottom));
        }
        drawing.left_axis(frame, &up, 6, &format!("{}, {}", self.figure, self.unit));
        let y = up.at(self.limit);
        drawing.line("line sbad d4", (frame.left, y), (frame.right, y));
        for trial in &self.trials {
            let x = along.at(trial.rate);
            // Place trials without a response at the top, next to the worst ones.
            let y = trial.value.map_or(frame.top, |value| up.at(value));
            if trial.kept {
                drawing.marker(usize::from(trial.soak), x, y, false);
            } else {
                drawing.cross("line sbad", x, y, 4.4);
            }
        }
        let max_ticks = if plot_width == PlotWidth::Wide { 10 } else { 6 };
        drawing.bottom_axis(frame, &along, max_ticks, "requests per second asked for");
        drawing.picture(&self.title, &self.describe(), width, frame.bottom + 44.0)
    }

    fn describe(&self) -> String {
        let trials: Vec<String> = self
            .trials
            .iter()
            .map(|trial| {
                format!(
                    "{} per second: {} {}{}",
                    number::short(trial.rate),
                    trial.value.map_or_else(
                        || "no response,".to_owned(),
                        |value| format!("{} {},", number::short(value), self.unit)
                    ),
                    if trial.kept { "met" } else { "missed" },
                    if trial.soak { ", long" } else { "" }
                )
            })
            .collect();
        format!(
            "Trials against a limit of {} {}. {}.",
            number::short(self.limit),
            self.unit,
            trials.join("; ")
        )
    }
}
