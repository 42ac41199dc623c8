//! A distribution of times on paper: figures a reader wants, and the buckets they
//! were read off, so that any other figure can be made later.

use serde::{Deserialize, Serialize};

/// A distribution, in the unit of its metric (times: milliseconds).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many values there are. A quantile q of fewer than 10 / (1 - q) is chance.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Lower edge and count of each bucket that was hit, in rising order. No bucket
    /// is wider than 1/1024 of its lower edge ([`stats::RELATIVE_WIDTH`]).
    pub buckets: Vec<(f64, u64)>,
}
