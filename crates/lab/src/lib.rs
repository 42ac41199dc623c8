//! Benchmarks described by one file: a matrix of cells, the systems to measure, the load, and the
//! conclusions.
//!
//! [`resolve::Lab::read`] turns a lab file into cells with all their effective values, or reports
//! all problems. All measured programs, including our own, are accessed only through their command
//! line and their output.

pub mod conclude;
pub mod fail_on;
pub mod file;
pub mod form;
pub mod limit_search;
pub mod matrix;
pub mod plan;
pub mod problem;
mod redact;
pub mod resolve;
pub mod run;
mod stamp;
pub mod starter;
pub mod template;

pub use form::Which;
pub use problem::{Place, Problem};
pub use resolve::Lab;
