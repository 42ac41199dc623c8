//! The interface between a command-line program and its user: stdout and stderr, the live view on a terminal, the log,
//! prompts, signals and exit statuses. It shows runs, searches, comparisons, labs and throughput tests, with their
//! summaries and reports. No other crate writes to stdout or stderr.

pub mod attack_results;
pub mod comparisons;
#[cfg(feature = "scripts")]
mod control_api;
pub mod exit;
#[cfg(unix)]
pub mod freed_memory;
mod lab_page;
pub mod lab_run;
pub mod live_page;
pub mod load_run;
mod load_view;
pub mod log;
pub mod messages;
pub mod new_files;
pub mod out_of_memory;
mod prompt;
pub mod reference_systems;
pub mod remote_control;
mod repeated;
pub mod reporting;
#[cfg(feature = "scripts")]
pub mod run_outputs;
#[cfg(feature = "scripts")]
pub mod script_command;
#[cfg(feature = "scripts")]
pub mod script_run;
#[cfg(feature = "scripts")]
mod script_summary;
#[cfg(feature = "scripts")]
mod script_view;
pub mod search_run;
pub mod signals;
pub mod stored_report;
pub mod streams;
pub mod throughput_run;
