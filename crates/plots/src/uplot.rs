//! uPlot, the library that draws the charts of pages in the browser.

/// The source code of the library. It starts with the license, which must accompany every copy.
pub const SCRIPT: &str = concat!(
    "/* uPlot:\n",
    include_str!("../vendor/uplot/LICENSE"),
    "*/\n",
    include_str!("../vendor/uplot/uPlot.iife.min.js"),
    "\n"
);

/// The style sheet of the library.
pub const STYLE: &str = include_str!("../vendor/uplot/uPlot.min.css");
