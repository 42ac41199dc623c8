//! What a lab reads from its records while it runs.

use super::store::Store;
use crate::resolve::{Cell, Lab};

/// The figures in a run's record as soon as the run has ended.
#[derive(Clone, Debug, Default)]
pub struct FirstLook {
    /// Its figures in one line, and whether the generator doubts them; empty if there are none.
    pub figures: String,
    /// Why other programs of the machine disturbed it, if they did.
    pub disturbance: Option<String>,
}

/// Reads the records of runs. The module that does it depends on this one.
#[derive(Clone, Copy)]
pub struct Reading {
    /// Reads the figures from the record of one run.
    pub look: fn(&Cell, u32, &Store) -> FirstLook,
    /// Whether these restarts of a cell are enough.
    pub is_enough: fn(&Lab, &Cell, u32, &Store) -> bool,
    /// Whether existing runs are measured again if other programs of the machine disturbed them.
    pub repeats_disturbed: bool,
}
