//! A benchmark as one file: a matrix of cells, the systems they are measured on, the
//! load, and what is concluded.
//!
//! [`resolve::Lab::read`] makes of a lab file every cell with every effective value, or
//! tells all that is wrong. What is measured, ours or another's, is reached through its
//! command line and its output alone.

pub mod conclude;
pub mod file;
pub mod form;
pub mod matrix;
pub mod plan;
pub mod problem;
mod redact;
pub mod resolve;
pub mod run;
mod stamp;
pub mod template;

pub use form::Which;
pub use problem::{Place, Problem};
pub use resolve::Lab;
