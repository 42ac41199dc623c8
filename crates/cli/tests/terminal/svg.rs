//! Draws the screen of a terminal as SVG.

use std::fmt::Write;

use vt100::{Color, Screen};

/// The size of a character, and the margin around the screen, in pixels.
const WIDTH: f64 = 8.0;
const HEIGHT: f64 = 17.0;
const MARGIN: f64 = 12.0;

/// The rows of the screen, up to the last row with text.
pub fn svg(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let is_empty = |row: u16| {
        let mut cells = (0..columns).filter_map(|column| screen.cell(row, column));
        cells.all(|cell| cell.contents().trim().is_empty())
    };
    let used = (0..rows).rev().find(|row| !is_empty(*row));
    let used = used.map_or(0, |last| last + 1);
    let width = f64::from(columns) * WIDTH + 2.0 * MARGIN;
    let height = f64::from(used) * HEIGHT + 2.0 * MARGIN;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" \
         font-size=\"13\" xml:space=\"preserve\">\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#12181f\"/>\n"
    );
    for row in 0..used {
        let y = MARGIN + (f64::from(row) + 0.75) * HEIGHT;
        for run in runs(screen, row, columns) {
            let x = MARGIN + f64::from(run.column) * WIDTH;
            let length = run.text.chars().count() as f64 * WIDTH;
            let weight = if run.style.is_bold {
                " font-weight=\"bold\""
            } else {
                ""
            };
            // Writing to a string cannot fail. The length makes every font as wide as the terminal's.
            let _ = writeln!(
                text,
                "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\" \
                 fill=\"{}\"{weight}>{}</text>",
                run.style.color,
                escaped(&run.text)
            );
        }
    }
    text.push_str("</svg>\n");
    text
}

/// Text in one style, without surrounding spaces.
struct Run {
    column: u16,
    text: String,
    style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Style {
    color: &'static str,
    is_bold: bool,
}

fn runs(screen: &Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        let contents = match cell.contents() {
            "" => " ",
            contents => contents,
        };
        let style = Style {
            color: color(cell.fgcolor(), cell.dim()),
            is_bold: cell.bold(),
        };
        match runs.last_mut() {
            Some(last) if last.style == style => last.text.push_str(contents),
            _ => runs.push(Run {
                column,
                text: contents.to_owned(),
                style,
            }),
        }
    }
    runs.iter().flat_map(Run::parts).collect()
}

impl Run {
    /// Splits at gaps of two or more spaces, because SVG would collapse a gap to one space.
    fn parts(&self) -> Vec<Run> {
        let mut column = usize::from(self.column);
        let mut parts = Vec::new();
        for part in self.text.split("  ") {
            let text = part.trim_matches(' ');
            if !text.is_empty() {
                let blank = part.len() - part.trim_start_matches(' ').len();
                parts.push(Run {
                    column: (column + blank) as u16,
                    text: text.to_owned(),
                    style: self.style,
                });
            }
            column += part.chars().count() + 2;
        }
        parts
    }
}

/// Colors that are readable on the dark background.
fn color(color: Color, is_dim: bool) -> &'static str {
    match color {
        Color::Idx(1 | 9) => "#ff8a80",
        Color::Idx(2 | 10) => "#4fc9ab",
        Color::Idx(3 | 11) => "#e0b84c",
        Color::Idx(4 | 12) => "#6db3f2",
        Color::Idx(5 | 13) => "#c39bf5",
        Color::Idx(6 | 14) => "#5fd0e0",
        _ if is_dim => "#7d8894",
        _ => "#e6ebf0",
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}
