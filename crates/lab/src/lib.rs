//! Benchmarks that are described by one file: a matrix of cells, the systems to measure, the load,
//! and the conclusions.
//!
//! [`resolve::Lab::read`] converts a lab file to cells with all their effective values, or reports
//! all problems. The lab uses all measured programs, including our own, only through their command
//! lines and their output.

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

pub use form::FormName;
pub use problem::{Location, Problem};
pub use resolve::Lab;
