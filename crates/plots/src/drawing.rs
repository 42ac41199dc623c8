//! Draws SVG shapes. Shapes have classes but no colors.

use std::fmt::Write as _;

use crate::number;
use crate::picture::{Picture, escaped, unit};
use crate::scale::Scale;

/// Number of different styles (dash, color, marker) for series.
pub const LOOKS: usize = 6;

/// Approximate width of a character in units. The font is 13 units high.
pub const CHARACTER: f64 = 7.4;

/// The area of the plot inside the axes. Coordinates are in units of the picture, from its top left corner.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// A picture in progress.
#[derive(Default)]
pub struct Drawing {
    body: String,
}

impl Drawing {
    /// The finished picture.
    pub fn picture(self, title: &str, description: &str, width: f64, height: f64) -> Picture {
        Picture {
            width,
            height,
            title: title.to_owned(),
            description: description.to_owned(),
            body: self.body,
        }
    }

    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let class = attribute(class);
        let (x, y, text) = (unit(x), unit(y), escaped(text));
        let _ = writeln!(self.body, "<text{class} x=\"{x}\" y=\"{y}\">{text}</text>");
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.path(
            class,
            &format!(
                "M{} {}L{} {}",
                unit(from.0),
                unit(from.1),
                unit(to.0),
                unit(to.1)
            ),
        );
    }

    pub fn path(&mut self, class: &str, path: &str) {
        if !path.is_empty() {
            let _ = writeln!(self.body, "<path{} d=\"{path}\"/>", attribute(class));
        }
    }

    pub fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let _ = writeln!(
            self.body,
            "<rect{} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            attribute(class),
            unit(x),
            unit(y),
            unit(width.max(0.0)),
            unit(height.max(0.0))
        );
    }

    /// Draws the marker of the series with this number. The marker is hollow if its value is doubtful.
    pub fn marker(&mut self, series: usize, x: f64, y: f64, hollow: bool) {
        let look = series % LOOKS;
        let fill = if hollow {
            "hollow".to_owned()
        } else {
            format!("f{look}")
        };
        let path = marker_path(look, x, y, 4.6);
        self.path(&format!("mark s{look} {fill}"), &path);
    }

    /// Draws a cross: the objective was missed.
    pub fn cross(&mut self, class: &str, x: f64, y: f64, r: f64) {
        let path = format!(
            "M{} {}L{} {}M{} {}L{} {}",
            unit(x - r),
            unit(y - r),
            unit(x + r),
            unit(y + r),
            unit(x - r),
            unit(y + r),
            unit(x + r),
            unit(y - r)
        );
        self.path(class, &path);
    }

    /// Draws an interval as a horizontal bar with end caps.
    pub fn interval(&mut self, class: &str, low: f64, high: f64, y: f64) {
        let (low, high, top, bottom) = (unit(low), unit(high), unit(y - 3.5), unit(y + 3.5));
        let y = unit(y);
        self.path(
            class,
            &format!("M{low} {y}H{high}M{low} {top}V{bottom}M{high} {top}V{bottom}"),
        );
    }

    /// Writes the name and the value of a row: left and right of the frame in a wide picture, above
    /// the row in a narrow one.
    pub fn row_label(
        &mut self,
        frame: Frame,
        width: f64,
        top: f64,
        label: &str,
        figure: &str,
        wide: bool,
    ) {
        let (end, y, space) = if wide {
            (width - 8.0, top + 17.0, (frame.left - 20.0) / CHARACTER)
        } else {
            let taken = figure.chars().count() as f64 * CHARACTER + 16.0;
            let space = (frame.right - 8.0 - taken) / CHARACTER;
            (frame.right, top + 15.0, space.max(6.0))
        };
        self.text("", 8.0, y, &cut(label, space as usize));
        self.text("end", end, y, figure);
    }

    /// Draws grid lines across the frame, with their numbers at the left.
    pub fn left_axis(&mut self, frame: Frame, scale: &Scale, max: usize, label: &str) {
        for tick in scale.ticks(max) {
            let y = scale.at(tick);
            self.line("grid", (frame.left, y), (frame.right, y));
            self.text("soft end", frame.left - 6.0, y + 4.5, &number::tick(tick));
        }
        self.text("soft", 2.0, frame.top - 9.0, label);
    }

    /// Draws moments that the caption explains, as dashed lines with numbers.
    pub fn moments(&mut self, frame: Frame, scale: &Scale, moments: &[f64]) {
        for (number, moment) in (1..).zip(moments) {
            let x = scale.at(*moment).clamp(frame.left, frame.right);
            self.line("axis sbad d4", (x, frame.top), (x, frame.bottom));
            self.text("bad mid", x, frame.top - 3.0, &format!("{number}"));
        }
    }

    /// Draws short ticks below the frame, with their numbers and the label below them.
    pub fn bottom_axis(&mut self, frame: Frame, scale: &Scale, max: usize, label: &str) {
        let ticks: Vec<(f64, String)> = scale
            .ticks(max)
            .into_iter()
            .map(|tick| (tick, number::tick(tick)))
            .collect();
        self.bottom_ticks(frame, scale, &ticks, label);
    }

    /// Like [`Drawing::bottom_axis`], but with numbers that are already formatted.
    pub fn bottom_ticks(
        &mut self,
        frame: Frame,
        scale: &Scale,
        ticks: &[(f64, String)],
        label: &str,
    ) {
        self.line(
            "axis",
            (frame.left, frame.bottom),
            (frame.right, frame.bottom),
        );
        for (value, text) in ticks {
            let x = scale.at(*value);
            self.line("axis", (x, frame.bottom), (x, frame.bottom + 4.0));
            // Text at an edge must not extend beyond the edge.
            let half = text.chars().count() as f64 * CHARACTER / 2.0;
            let place = x.min(frame.right + 10.0 - half);
            self.text("soft mid", place, frame.bottom + 18.0, text);
        }
        self.text(
            "soft mid",
            f64::midpoint(frame.left, frame.right),
            frame.bottom + 36.0,
            label,
        );
    }
}

/// `value`, cut to at most `max` characters.
pub fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(max.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// A line through points, interrupted where a value is missing.
pub fn line_through(points: impl IntoIterator<Item = (f64, Option<f64>)>) -> String {
    let mut path = String::new();
    let mut drawing = false;
    for (x, y) in points {
        match y {
            Some(y) => {
                let letter = if drawing { 'L' } else { 'M' };
                let _ = write!(path, "{letter}{} {}", unit(x), unit(y));
                if !drawing {
                    // Draw a single point as a dot, which results from the round ends of its line.
                    path.push_str("h0");
                }
                drawing = true;
            }
            None => drawing = false,
        }
    }
    path
}

/// The outline of a marker: circle, square, triangle, diamond, hexagon, inverted triangle.
fn marker_path(look: usize, x: f64, y: f64, r: f64) -> String {
    let corners: &[(f64, f64)] = match look {
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
        3 => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
        4 => &[
            (-0.55, -1.0),
            (0.55, -1.0),
            (1.1, 0.0),
            (0.55, 1.0),
            (-0.55, 1.0),
            (-1.1, 0.0),
        ],
        5 => &[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)],
        _ => {
            return format!(
                "M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z",
                unit(x - r),
                unit(y),
                r = unit(r),
                d = unit(2.0 * r)
            );
        }
    };
    let mut path = String::new();
    for (index, (dx, dy)) in corners.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{} {}", unit(x + dx * r), unit(y + dy * r));
    }
    path + "z"
}

fn attribute(class: &str) -> String {
    if class.is_empty() {
        String::new()
    } else {
        format!(" class=\"{class}\"")
    }
}
