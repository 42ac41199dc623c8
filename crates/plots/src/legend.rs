//! Draws legends: marker, dash and name of each series, in as many rows as necessary.

use crate::drawing::{CHARACTER, Drawing, LOOKS, cut};

/// The symbol in front of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A segment of the series' line.
    Line(usize),
    /// The series' marker.
    Marker(usize),
    /// A rectangle filled with the series' color.
    Field(usize),
    /// A thin dotted line.
    Thin,
    /// A tick in the soft color.
    Tick,
    /// A cross: failed.
    Cross,
    /// The line of a limit.
    Limit,
}

/// The height of a row.
const ROW: f64 = 19.0;

/// Draws the entries, starting at `(left, top)` and breaking lines before `right`. Returns the
/// height used, which is zero without entries.
pub fn legend(
    drawing: &mut Drawing,
    entries: &[(Key, String)],
    (left, right): (f64, f64),
    top: f64,
) -> f64 {
    let mut x = left;
    let mut y = top + 13.0;
    for (key, name) in entries {
        let space = ((right - left - 30.0) / CHARACTER).max(8.0) as usize;
        let name = cut(name, space);
        let width = 30.0 + name.chars().count() as f64 * CHARACTER + 16.0;
        if x > left && x + width - 16.0 > right {
            x = left;
            y += ROW;
        }
        sample(drawing, *key, x, y - 4.5);
        drawing.text("", x + 30.0, y, &name);
        x += width;
    }
    if entries.is_empty() {
        0.0
    } else {
        y - top + 8.0
    }
}

fn sample(drawing: &mut Drawing, key: Key, x: f64, y: f64) {
    let middle = x + 12.0;
    match key {
        Key::Line(series) => {
            let look = series % LOOKS;
            drawing.line(&format!("line s{look} d{look}"), (x, y), (x + 24.0, y));
        }
        Key::Marker(series) => drawing.marker(series, middle, y, false),
        Key::Field(series) => drawing.rect(
            &format!("f{}", series % LOOKS),
            x + 4.0,
            y - 5.0,
            16.0,
            10.0,
        ),
        Key::Thin => drawing.line("line thin grey", (x, y), (x + 24.0, y)),
        Key::Tick => drawing.line("line grey", (middle, y - 6.0), (middle, y + 6.0)),
        Key::Limit => drawing.line("line sbad d4", (x, y), (x + 24.0, y)),
        Key::Cross => drawing.cross("line sbad", middle, y, 4.0),
    }
}
