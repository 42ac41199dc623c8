//! Plots as SVG and as text: pure functions from values to a picture.
//!
//! They use no clock and no random numbers, so equal values give equal bytes. A [`Picture`] can be
//! a separate file or part of a page. It follows the reader's light or dark scheme, has a text
//! description, and never distinguishes series by color alone. Pictures are drawn for a column of
//! 460 units, so that text stays legible on a phone, or for one of 960.

mod cpu;
mod drawing;
mod forest;
mod heat_map;
mod legend;
mod limit;
mod lines;
pub mod number;
mod over_time;
mod overview;
mod percentiles;
mod picture;
mod scale;
pub mod terminal;
pub mod uplot;

pub use cpu::{CpuBar, CpuBars};
pub use forest::{Forest, Judged, RatioRow};
pub use heat_map::{HeatColumn, HeatMap};
pub use limit::{LimitPlot, Trial};
pub use lines::{Lines, Series};
pub use over_time::{OverTime, Span, TimePoint};
pub use overview::{Overview, OverviewRow, Spot};
pub use percentiles::{Curve, Percentiles, quantiles_of};
pub use picture::{COLORS, Picture, RULES, escaped};

/// How wide a picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// A column: 460 units.
    Narrow,
    /// A whole page: 960 units.
    Wide,
}

impl Room {
    /// Units across.
    pub fn width(self) -> f64 {
        match self {
            Room::Narrow => 460.0,
            Room::Wide => 960.0,
        }
    }
}
