//! Distributions that can be trusted: histograms of bounded error and bounded
//! memory, the quantiles read from them, and what may be concluded from either.
//!
//! Pure arithmetic: no clock, no sockets, no environment. [`Histogram`] holds samples;
//! [`buckets`](Buckets) beneath it hold counts once there are too many values to keep
//! each. [`interval`] says how far a figure may be off, [`warm_up`] where it begins to
//! hold, [`comparison`] whether two differ, [`change_points`] when one changed,
//! [`scalability`], [`knee`] and [`limit`] where a system's limit is. What cannot be concluded is
//! refused, with the reason.

mod buckets;
pub mod change_points;
pub mod comparison;
mod histogram;
pub mod interval;
pub mod knee;
pub mod limit;
mod on_paper;
mod random;
pub mod scalability;
pub mod signed_rank;
pub mod student;
pub mod warm_up;

pub use buckets::{Buckets, RELATIVE_WIDTH};
pub use histogram::{EXACT_BOUND, Histogram};
pub use interval::Interval;
pub use random::Random;
