//! Determines whether a cell with `until` has been measured often enough.

use std::collections::BTreeMap;

use plimsoll_stats::enough::{confidence, restarts_needed};

use super::repeat;
use crate::resolve::until::Until;
use crate::resolve::{Cell, Lab};
use crate::run::store::Store;

/// Whether the first `restarts` restarts of a cell determine its figure as precisely as its `until`
/// requires. The copy of a cell ends with that cell, so both have the same number of restarts.
pub fn is_enough(lab: &Lab, cell: &Cell, restarts: u32, store: &Store) -> bool {
    enough_restarts(lab, cell, restarts, store).is_some()
}

/// The number of restarts after which a cell ended early: at most `restarts`.
pub fn enough_restarts(lab: &Lab, cell: &Cell, restarts: u32, store: &Store) -> Option<u32> {
    let original = cell.copy_of.and_then(|at| lab.cells.get(at));
    let cell = original.unwrap_or(cell);
    let until = cell.load.until.as_ref()?;
    let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in 1..=restarts.saturating_mul(cell.load.repeats) {
        let value = store.facts(cell.number, run).and_then(|facts| {
            let measured = repeat::read(cell, run, facts, &store.repeat(cell.number, run), "");
            measured.figures.get(&until.figure).copied()
        });
        // A restart without the figure gives no information, and the restarts before and after it are not
        // adjacent.
        values
            .entry(cell.load.restart_of(run))
            .or_default()
            .push(value?);
    }
    let values: Vec<Vec<f64>> = values.into_values().collect();
    let max = usize::try_from(cell.load.restarts).unwrap_or(usize::MAX);
    let count = restarts_needed(&values, max, until.precision)?;
    u32::try_from(count).ok()
}

/// The confidence level of the interval of a cell's figure.
pub fn confidence_of(cell: &Cell, figure: &str, normally: f64) -> f64 {
    match &cell.load.until {
        Some(Until { figure: own, .. }) if own == figure => {
            confidence(usize::try_from(cell.load.restarts).unwrap_or(usize::MAX))
        }
        _ => normally,
    }
}
