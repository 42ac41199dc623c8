//! uPlot, which draws the charts of pages in the browser.

/// The library, with its license, which requires a copy of it with the code.
pub const SCRIPT: &str = concat!(
    "/* uPlot:\n",
    include_str!("../vendor/uplot/LICENSE"),
    "*/\n",
    include_str!("../vendor/uplot/uPlot.iife.min.js"),
    "\n"
);

/// Its style sheet.
pub const STYLE: &str = include_str!("../vendor/uplot/uPlot.min.css");
