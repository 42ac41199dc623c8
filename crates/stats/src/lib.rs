//! Statistics: histograms with bounded error and bounded memory, their quantiles, and conclusions
//! from them.
//!
//! This crate is pure arithmetic, without a clock, sockets or environment. [`Histogram`] contains
//! samples, and switches to [`buckets`](Buckets) once there are too many values to keep
//! individually. [`interval`] computes the error of a value, [`warm_up`] detects when a run becomes
//! steady, [`comparison`] tests whether two values differ, and [`change_points`] finds when a value
//! changed. [`goodness_of_fit`] tests whether values follow a distribution. [`scalability`],
//! [`knee`] and [`limit`] determine the limit of a system. If the data do not support a conclusion,
//! the result is an error with the reason.

mod buckets;
pub mod change_points;
pub mod comparison;
pub mod enough;
pub mod goodness_of_fit;
mod histogram;
pub mod interaction;
pub mod interval;
pub mod knee;
pub mod limit;
mod looks;
mod numbered;
mod on_paper;
mod random;
pub mod repetition;
pub mod scalability;
pub mod student;
pub mod tail;
pub mod warm_up;

pub use buckets::{Buckets, RELATIVE_WIDTH};
pub use histogram::{EXACT_BOUND, Histogram};
pub use interval::Interval;
pub use looks::Looks;
pub use numbered::NumberedBuckets;
pub use random::Random;
