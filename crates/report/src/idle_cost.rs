//! Latencies that fall as the load rises: requests to a mostly idle system take more processor time each.

use plimsoll_plots::number::Place;
use plimsoll_results::lab::{Cell, LabResult, Outcome};

use crate::declared_load;
use crate::document::Words;
use crate::matrix::CPU;
use crate::naming::{describe_place, describe_value};
use crate::ratio::estimate;

/// A note on the first pair of cells that differ only in their load, if the cell with the higher load takes less
/// time. `None` without such a pair.
pub fn note(result: &LabResult, cells: &[&Cell], figure: &str) -> Option<Words> {
    if !figure.starts_with("latency_") {
        return None;
    }
    let pairs = cells
        .iter()
        .flat_map(|low| cells.iter().map(move |high| (*low, *high)));
    let (axis, low, high) = pairs
        .filter_map(|(low, high)| Some((load_axis(result, low, high)?, low, high)))
        .find(|(_, low, high)| takes_less(result, low, high, figure))?;
    let print = |cell: &Cell, name: &str| {
        let figure = cell.figure(name)?;
        Some(Place::of(figure.value, figure.interval).print(figure.value))
    };
    let value = |cell: &'_ Cell| {
        let value = crate::leads::axis_value(cell, axis)?.to_owned();
        Some(describe_value(result, axis, &value))
    };
    let unit = &low.figure(figure)?.unit;
    let place = describe_place(result, &low.place, &[axis]);
    let (more, less) = (value(high)?, value(low)?);
    let times = (print(high, figure)?, print(low, figure)?);
    let costs = (print(high, CPU)?, print(low, CPU)?);
    Some(
        Words::new()
            .strong("Shorter with more load")
            .text(format!(
                " ({place}: {} {unit} with {more}, {} with {less}): each request also uses less CPU time ({} and {} CPU \
                 µs). The data do not show why; with fewer requests, the processor is idle for longer in between.",
                times.0, times.1, costs.0, costs.1
            )),
    )
}

/// The axis in which two cells differ, if it is the only one, it sets the load, and the first cell has the lower load.
fn load_axis<'a>(result: &LabResult, low: &'a Cell, high: &Cell) -> Option<&'a str> {
    let loads = (
        declared_load::load_of_cell(result, low)?,
        declared_load::load_of_cell(result, high)?,
    );
    let mut differing = low.place.iter().filter(|one| !high.place.contains(one));
    let axis = differing.next()?.0.as_str();
    let is_only = differing.next().is_none() && low.place.len() == high.place.len();
    (is_only && loads.0.number() < loads.1.number()).then_some(axis)
}

/// Whether requests of the second cell take less time with certainty, and less CPU time as well.
fn takes_less(result: &LabResult, low: &Cell, high: &Cell, figure: &str) -> bool {
    let smaller = |name: &str| {
        let (Some(base), Some(other)) = (low.figure(name), high.figure(name)) else {
            return false;
        };
        estimate(result, (low, base), (high, other)).outcome == Outcome::Smaller
    };
    [low, high].iter().all(|cell| cell.verdict == "valid") && smaller(figure) && smaller(CPU)
}
