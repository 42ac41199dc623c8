//! Plots of the matrix: an overview per leading figure, and the cost per request.

use plimsoll_plots::{CpuBar, CpuBars, Overview, OverviewRow, PlotWidth, Spot};
use plimsoll_results::lab::{Axis, Cell, CellState, Figure, LabResult};

use crate::document::{Block, Plot};
use crate::leads::{Lead, axis_value, find_figure, find_judged_figure, leads, series_axis};
use crate::naming::{
    capitalize, describe_cell, describe_place, describe_state, describe_value, figures,
    is_believed, slug,
};

/// The figure for the cost of a request.
pub const CPU: &str = "cpu_time_per_request";

/// Whether a cell has its own row in tables. Cells that are not part of the form or not run yet are
/// only counted.
pub fn is_shown(cell: &Cell) -> bool {
    !matches!(cell.state, CellState::LeftOut | CellState::Missing)
}

/// The main plot: the figure that the report is about, over the matrix.
pub fn main_plot(result: &LabResult) -> Option<Block> {
    plots(result).into_iter().next()
}

/// The plots of the other leading figures.
pub fn other_plots(result: &LabResult) -> Vec<Block> {
    plots(result).into_iter().skip(1).collect()
}

/// The figure that the lab compares first comes first.
fn plots(result: &LabResult) -> Vec<Block> {
    let mut leads = leads(result);
    leads.retain(|lead| lead.name != CPU);
    leads
        .iter()
        .enumerate()
        .filter_map(|(index, lead)| overview_plot(result, lead, index))
        .collect()
}

/// Rows of a plot: cells that differ only in the axis of the series.
fn plot_rows(result: &LabResult) -> Vec<(String, Vec<(usize, &Cell)>)> {
    let axis = series_axis(result);
    let values: &[String] = axis
        .and_then(|axis| result.axes.iter().find(|known| known.name == axis))
        .map_or(&[], |axis: &Axis| &axis.values);
    let mut rows: Vec<(String, Vec<(usize, &Cell)>)> = Vec::new();
    for cell in result.cells.iter().filter(|cell| is_shown(cell)) {
        let without: Vec<&str> = axis.into_iter().collect();
        let label = describe_place(result, &cell.place, &without);
        let series = axis
            .and_then(|axis| axis_value(cell, axis))
            .and_then(|value| values.iter().position(|known| known == value))
            .unwrap_or(0);
        match rows.iter_mut().find(|row| row.0 == label) {
            Some(row) => row.1.push((series, cell)),
            None => rows.push((label, vec![(series, cell)])),
        }
    }
    rows
}

fn overview_plot(result: &LabResult, lead: &Lead, index: usize) -> Option<Block> {
    let axis = series_axis(result);
    let series: Vec<String> = axis
        .and_then(|axis| result.axes.iter().find(|known| known.name == axis))
        .map_or_else(
            || vec![lead.label.clone()],
            |axis| {
                axis.values
                    .iter()
                    .map(|value| describe_value(result, &axis.name, value))
                    .collect()
            },
        );
    let rows: Vec<OverviewRow> = plot_rows(result)
        .into_iter()
        .filter_map(|(label, cells)| {
            let spots: Vec<Spot> = cells
                .iter()
                .filter_map(|(series, cell)| {
                    Some(new_spot(*series, cell, find_figure(cell, lead)?))
                })
                .collect();
            // Omit rows without this figure, unless one of their cells lost its figures.
            let lost: Vec<String> = cells
                .iter()
                .filter(|(_, cell)| figures(cell).is_empty())
                .map(|(place, cell)| {
                    let name = series.get(*place).map_or("", String::as_str);
                    format!("{name} ({})", describe_state(cell).0)
                })
                .collect();
            let kin = !spots.is_empty() || shares_lead(result, &cells, lead);
            (kin && !(spots.is_empty() && lost.is_empty())).then_some(OverviewRow {
                label,
                spots,
                missing: lost,
            })
        })
        .collect();
    // If all figures are zero, the table is enough.
    let spots = rows.iter().flat_map(|row| &row.spots);
    if spots.clone().count() < 2 || spots.clone().all(|spot| spot.value == 0.0) {
        return None;
    }
    let mut limits: Vec<(f64, String)> = Vec::new();
    for outcome in &result.objectives {
        let about = result
            .cells
            .iter()
            .find(|cell| cell.name == outcome.cell)
            .and_then(|cell| find_judged_figure(cell, outcome.measured, &outcome.unit))
            .is_some_and(|figure| figure.name == lead.name);
        if about && !limits.iter().any(|known| known.0 == outcome.limit) {
            let limit = plimsoll_plots::number::tick(outcome.limit);
            limits.push((outcome.limit, format!("objective {limit} {}", outcome.unit)));
        }
    }
    let overview = Overview {
        title: format!("{} over the matrix", lead.label),
        label: lead.label.clone(),
        unit: lead.unit.clone(),
        series,
        rows,
        limits,
    };
    Some(Block::plot(Plot {
        name: format!("overview-{}-{}", index + 1, slug(&lead.name)),
        caption: format!(
            "{}, {}: {}, with its 95 % interval. Hollow markers are suspect.",
            capitalize(&lead.label),
            lead.unit,
            crate::units::value_over_runs(result)
        ),
        narrow: overview.draw(PlotWidth::Narrow),
        wide: Some(overview.draw(PlotWidth::Wide)),
        series: None,
    }))
}

/// Whether cells that lost their figures would have had this figure. The cell closest to them in
/// the matrix decides.
fn shares_lead(result: &LabResult, cells: &[(usize, &Cell)], lead: &Lead) -> bool {
    cells.iter().any(|(_, cell)| {
        nearest_measured_cell(result, cell)
            .is_some_and(|nearest| find_figure(nearest, lead).is_some())
    })
}

/// The cell with figures that has the most axis values in common with `cell`.
pub fn nearest_measured_cell<'a>(result: &'a LabResult, cell: &Cell) -> Option<&'a Cell> {
    let shared = |other: &Cell| {
        other
            .place
            .iter()
            .filter(|place| cell.place.contains(place))
            .count()
    };
    result
        .cells
        .iter()
        .filter(|other| !figures(other).is_empty())
        // The first one in case of a tie.
        .rev()
        .max_by_key(|other| shared(other))
}

fn new_spot(series: usize, cell: &Cell, figure: &Figure) -> Spot {
    Spot {
        series,
        value: figure.value,
        interval: figure.interval,
        doubtful: cell.verdict != "valid",
        published: cell
            .published
            .iter()
            .find(|published| published.figure == figure.name)
            .map(|published| published.value),
    }
}

/// Processor time per request by process; none if it was not measured.
pub fn cpu_blocks(result: &LabResult) -> Vec<Block> {
    let found: Vec<(&Cell, &Figure)> = result
        .cells
        .iter()
        .filter(|cell| is_believed(cell))
        .filter_map(|cell| {
            let figure = cell.figure(CPU)?;
            Some((cell, figure))
        })
        .collect();
    let Some((_, first)) = found.first() else {
        return Vec::new();
    };
    let mut parts: Vec<String> = Vec::new();
    for (cell, _) in &found {
        for used in cell.repeats.iter().flat_map(|repeat| &repeat.used) {
            if used.name != "generator" && !used.apart && !parts.contains(&used.name) {
                parts.push(used.name.clone());
            }
        }
    }
    // There are six patterns, so more parts could not be distinguished.
    if parts.is_empty() || parts.len() > 6 {
        parts = vec!["all processes".to_owned()];
    }
    let bars: Vec<CpuBar> = found
        .iter()
        .map(|(cell, figure)| CpuBar {
            label: describe_cell(result, cell),
            parts: divide_figure(cell, &parts, figure.value),
            interval: figure.interval,
        })
        .collect();
    let plot = CpuBars {
        title: first.label.clone(),
        unit: first.unit.clone(),
        parts,
        bars,
    };
    vec![Block::plot(Plot {
        name: "cpu".to_owned(),
        caption: format!(
            "{}, {}: the system and its services, without the generator. The whisker is the 95 % interval of the whole.",
            capitalize(&first.label),
            first.unit
        ),
        narrow: plot.draw(PlotWidth::Narrow),
        wide: None,
        series: None,
    })]
}

/// Divides the figure among the parts in proportion to their processor time.
fn divide_figure(cell: &Cell, parts: &[String], whole: f64) -> Vec<f64> {
    let used: Vec<f64> = parts
        .iter()
        .map(|part| {
            cell.repeats
                .iter()
                .flat_map(|repeat| &repeat.used)
                .filter(|used| used.name == *part)
                .map(|used| used.cpu_seconds)
                .sum()
        })
        .collect();
    let all: f64 = used.iter().sum();
    if all > 0.0 {
        used.iter().map(|part| whole * part / all).collect()
    } else {
        let mut only = vec![0.0; parts.len()];
        if let Some(first) = only.first_mut() {
            *first = whole;
        }
        only
    }
}

/// Rows of cells that differ in one axis, for plots of distributions.
pub fn cell_families(result: &LabResult) -> Vec<(String, Vec<&Cell>)> {
    plot_rows(result)
        .into_iter()
        .map(|(label, cells)| (label, cells.into_iter().map(|(_, cell)| cell).collect()))
        .collect()
}
