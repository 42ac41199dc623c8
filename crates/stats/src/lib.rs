//! Statistics: histograms with bounded error and bounded memory, their quantiles, and conclusions
//! from them.
//!
//! Pure arithmetic: no clock, no sockets, no environment. [`Histogram`] contains samples; it uses
//! [`buckets`](Buckets) for counts once there are too many values to keep each. [`interval`]
//! computes the error of a value, [`warm_up`] where a run becomes steady, [`comparison`] whether
//! two differ, [`change_points`] when one changed,
//! [`goodness_of_fit`] whether values follow a distribution, and [`scalability`], [`knee`] and [`limit`] the
//! limit of a system. If the data do not support a conclusion, the result is an error with the
//! reason.

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
pub mod warm_up;

pub use buckets::{Buckets, RELATIVE_WIDTH};
pub use histogram::{EXACT_BOUND, Histogram};
pub use interval::Interval;
pub use looks::Looks;
pub use numbered::NumberedBuckets;
pub use random::Random;
