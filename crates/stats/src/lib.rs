//! Distributions that can be trusted: histograms of bounded error and bounded
//! memory, and the quantiles read from them.
//!
//! Pure arithmetic: no clock, no sockets, no environment. [`Histogram`] is the
//! one type; [`buckets`](Buckets) beneath it hold counts once there are too
//! many values to keep each.

mod buckets;
mod histogram;

pub use buckets::{Buckets, RELATIVE_WIDTH};
pub use histogram::{EXACT_BOUND, Histogram};
