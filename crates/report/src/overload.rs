//! Cells whose service was overloaded, so that their latency is mostly a queue.

use plimsoll_plots::number::Place;
use plimsoll_results::lab::{Cell, LabResult};

use crate::document::Words;
use crate::matrix::CPU;
use crate::naming::{describe_cell, describe_place, shared_axes};

/// The mark of such a cell in a table.
pub const MARK: &str = "†";

/// A service that uses at least this share of its processors counts as overloaded: requests then wait for a processor.
const BUSY: f64 = 0.95;
/// The rate of a cell.
const RATE: &str = "requests_per_second";

/// The overloaded cells of a table of this figure, each with the share of its processors that it used. Only latencies have
/// such cells. If most services of the table are busy, saturating them is the purpose of the load, and none counts as overloaded.
pub fn overloaded_cells<'a>(
    result: &LabResult,
    cells: &[&'a Cell],
    figure: &str,
) -> Vec<(&'a Cell, f64)> {
    if !figure.starts_with("latency_") {
        return Vec::new();
    }
    let shares = cells
        .iter()
        .filter_map(|cell| Some((*cell, used_share(result, cell)?)));
    let shares: Vec<(&Cell, f64)> = shares.collect();
    let busy = shares.iter().filter(|(_, share)| *share >= BUSY);
    let busy: Vec<(&Cell, f64)> = busy.copied().collect();
    match busy.len() * 2 > shares.len() {
        true => Vec::new(),
        false => busy,
    }
}

/// The share of their processors that the systems and services of a cell used. `None` if they have no dedicated processors.
fn used_share(result: &LabResult, cell: &Cell) -> Option<f64> {
    let processors = system_processors(result)?;
    let seconds = cell.figure(CPU)?.value * 1e-6 * cell.figure(RATE)?.value;
    (processors > 0).then(|| seconds / processors as f64)
}

/// The number of processors of all systems and services. `None` if one of them has no dedicated processors.
pub fn system_processors(result: &LabResult) -> Option<usize> {
    let mut processors: Vec<u32> = Vec::new();
    for process in result.topology.iter().filter(|one| one.name != "generator") {
        if process.cpus.is_empty() {
            return None;
        }
        processors.extend(&process.cpus);
    }
    processors.sort_unstable();
    processors.dedup();
    Some(processors.len())
}

/// An explanation of the mark. `None` if no cell has it.
pub fn note(result: &LabResult, cells: &[&Cell], figure: &str) -> Option<Words> {
    let over = overloaded_cells(result, cells, figure);
    let percent = |share: f64| Place::decimals(0).print(share * 100.0);
    let shares = over.iter().map(|(_, share)| *share);
    let min = percent(shares.clone().reduce(f64::min)?);
    let max = percent(shares.reduce(f64::max)?);
    let share = match min == max {
        true => min,
        false => format!("{min} to {max}"),
    };
    let shared = shared_axes(over.iter().map(|(cell, _)| *cell));
    let first = over.first()?.0;
    let differ: Vec<&str> = first
        .place
        .iter()
        .map(|(axis, _)| axis.as_str())
        .filter(|axis| !shared.contains(axis))
        .collect();
    // Name only what distinguishes the overloaded cells from the rest of the table.
    let of_table = shared_axes(cells.iter().copied());
    let without: Vec<&str> = differ.into_iter().chain(of_table).collect();
    let place = match describe_place(result, &first.place, &without) {
        place if place.is_empty() => describe_cell(result, first),
        place => place,
    };
    Some(
        Words::plain(format!("{MARK} "))
            .strong("Overloaded")
            .text(format!(
                " ({place}): the service used {share} % of its processor, so requests waited for it, and the latency \
                 depends on how many wait."
            )),
    )
}
