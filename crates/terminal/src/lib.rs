//! The interface between a command-line program and its user: stdout and stderr, the live view on a terminal, the log,
//! questions, signals and exit statuses; runs, searches and labs that are shown, with their summaries and reports. Nothing else writes to
//! stdout or stderr.

pub mod attack_results;
#[cfg(feature = "scripts")]
mod control_api;
pub mod exit;
mod lab_page;
pub mod lab_run;
pub mod live_page;
pub mod load_run;
mod load_view;
pub mod log;
pub mod messages;
pub mod out_of_memory;
pub mod prompt;
mod repeated;
pub mod reporting;
#[cfg(feature = "scripts")]
pub mod script_run;
#[cfg(feature = "scripts")]
mod script_summary;
#[cfg(feature = "scripts")]
mod script_view;
pub mod search_run;
pub mod signals;
pub mod streams;
