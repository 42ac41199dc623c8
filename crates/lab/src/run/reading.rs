//! What a lab reads from its records while it runs.

use super::store::Store;
use crate::resolve::{Cell, Lab};

/// The figures in a run's record, available when the run has ended.
#[derive(Clone, Debug, Default)]
pub struct FirstLook {
    /// Its figures in one line, and whether the generator doubts them. Empty if there are no figures.
    pub figures: String,
    /// The reason why other programs on the machine disturbed it, if they did.
    pub disturbance: Option<String>,
}

/// Functions that read the records of runs. They are passed as pointers because the module that
/// implements them depends on this module.
#[derive(Clone, Copy)]
pub struct Reading {
    /// Reads the figures from the record of one run.
    pub look: fn(&Cell, u32, &Store) -> FirstLook,
    /// Whether these restarts of a cell are enough.
    pub is_enough: fn(&Lab, &Cell, u32, &Store) -> bool,
    /// Whether runs are measured again if other programs on the machine disturbed them.
    pub repeats_disturbed: bool,
}
