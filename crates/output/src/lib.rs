//! Formats the results of a run, with one module for each format.
//!
//! * End-of-test summaries for people: [`summary_text`] in k6's current layout,
//!   [`summary_legacy`] in its previous one, [`http_text`] for one URL.
//! * End-of-test summaries for programs: [`summary_data`] for `handleSummary`,
//!   [`summary_export`], [`summary_machine`], [`http_result`].
//! * During the run: [`header`], [`progress`], [`live`].
//! * Every sample: [`output`], with [`output_json`] and [`output_csv`].
//!
//! Everything except the outputs is a pure function of its arguments. Nothing here prints; the command line does.

mod additions;
pub mod catalog;
mod category;
mod collation;
mod detail;
pub mod fit;
mod fixed_width;
pub mod fixed_work;
pub mod grpc_status;
pub mod header;
pub mod http_result;
pub mod http_text;
mod json_number;
pub mod live;
mod live_figures;
mod live_rows;
pub mod log_line;
mod metric_table;
pub mod numbers;
pub mod output;
pub mod output_csv;
mod output_json;
mod paint;
mod pretty;
pub mod progress;
pub mod progress_texts;
mod prometheus_name;
mod protocols;
mod sample_output;
pub mod screen;
pub mod summary_data;
pub mod summary_export;
pub mod summary_legacy;
pub mod summary_machine;
pub mod summary_text;
mod time_format;
mod trend_figure;
pub mod wall_clock;

pub use additions::verdict_lines;
pub use metric_table::Style;
pub use paint::Paint;
pub use pretty::{option_json, pretty_json};
pub use prometheus_name::prometheus_name;
pub use trend_figure::default_trend_stats;
