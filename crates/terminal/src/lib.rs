//! The interface between a command-line program and its user: stdout and stderr, the live view on a terminal, the log,
//! questions, and signals. Nothing else writes to stdout or stderr.

pub mod load_view;
pub mod log;
pub mod messages;
pub mod out_of_memory;
pub mod prompt;
mod repeated;
pub mod script_view;
pub mod signals;
pub mod streams;
