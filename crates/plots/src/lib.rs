//! Plots as SVG and as text, by pure functions from values to a picture.
//!
//! They use no clock and no random numbers, so equal values result in equal bytes. A [`Picture`]
//! can be a separate file or part of a page. It follows the light or dark scheme of the reader, has
//! a text description, and never distinguishes series by color alone. Pictures are either 460 units
//! wide, so that text stays legible on a phone, or 960 units wide.

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

/// The width of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotWidth {
    /// A column of a page: 460 units.
    Narrow,
    /// A whole page: 960 units.
    Wide,
}

impl PlotWidth {
    /// The width in units.
    pub fn width(self) -> f64 {
        match self {
            PlotWidth::Narrow => 460.0,
            PlotWidth::Wide => 960.0,
        }
    }
}
