//! The positions of feeders: which row of a table is the next one, for all users of a run.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// All feeders of a program, by name.
#[derive(Debug, Default)]
pub struct Feeders(Mutex<HashMap<String, Arc<Position>>>);

impl Feeders {
    /// The position of the feeder with that name. The feeder's first user creates it.
    pub fn position(&self, name: &str) -> Arc<Position> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(name.to_owned()).or_default())
    }
}

/// The number of rows that this machine has used.
#[derive(Debug, Default)]
pub struct Position(AtomicU64);

impl Position {
    /// Takes the next row of this machine and returns its index. No other user gets the same row.
    pub fn take(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Maps the n-th row of this machine to its index among the rows of all machines.
#[derive(Clone)]
pub struct RowShare(Arc<dyn Fn(u64) -> Option<u64> + Send + Sync>);

impl RowShare {
    /// `place` maps each number to an index that no other machine has. It is `None` if this machine has no rows.
    pub fn new(place: impl Fn(u64) -> Option<u64> + Send + Sync + 'static) -> RowShare {
        RowShare(Arc::new(place))
    }

    /// The index of the n-th row.
    pub fn place(&self, number: u64) -> Option<u64> {
        (self.0)(number)
    }
}

impl Default for RowShare {
    fn default() -> Self {
        RowShare::new(Some)
    }
}

impl fmt::Debug for RowShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowShare")
    }
}
