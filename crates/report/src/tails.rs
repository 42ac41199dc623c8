//! Percentile curves of cells that differ in one axis, in one plot.

use std::collections::BTreeMap;

use plimsoll_plots::{Curve, Percentiles, PlotWidth, quantiles_of};
use plimsoll_results::lab::{Cell, LabResult};

use crate::document::{Block, Plot};
use crate::leads::{axis_value, series_axis};
use crate::matrix::cell_families;
use crate::naming::{describe_cell, describe_value, is_believed, slug};

/// Maximum number of curves that can be distinguished in one plot.
const MAX_CURVES: usize = 6;

/// One plot for each family of cells that have latencies.
pub fn blocks(result: &LabResult) -> Vec<Block> {
    let axis = series_axis(result);
    let mut blocks = Vec::new();
    for (label, cells) in cell_families(result) {
        for cells in cells.chunks(MAX_CURVES) {
            let curves: Vec<Curve> = cells
                .iter()
                .filter(|cell| is_believed(cell))
                .filter_map(|cell| curve(result, cell, axis))
                .collect();
            if curves.is_empty() {
                continue;
            }
            let kind = cells
                .iter()
                .flat_map(|cell| &cell.repeats)
                .map(|repeat| repeat.latency_kind.as_str())
                .find(|kind| !kind.is_empty())
                .unwrap_or("latency");
            let place = if label.is_empty() {
                String::new()
            } else {
                format!(" at {label}")
            };
            let plot = Percentiles {
                title: format!("Percentiles of {kind}{place}"),
                unit: "ms".to_owned(),
                curves,
                limit: None,
            };
            let number = blocks.len() + 1;
            blocks.push(Block::plot(Plot {
                name: format!("percentiles-{number}-{}", slug(&label))
                    .trim_end_matches('-')
                    .to_owned(),
                caption: format!(
                    "Percentiles of {kind}{place}. Thin lines depend on fewer than ten values."
                ),
                narrow: plot.draw(PlotWidth::Narrow),
                wide: None,
                series: None,
            }));
        }
    }
    blocks
}

/// All repeats of a cell as one curve, with the buckets of their histograms added up.
fn curve(result: &LabResult, cell: &Cell, axis: Option<&str>) -> Option<Curve> {
    // The bits of positive floats sort like the numbers.
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    let mut max = 0.0_f64;
    for repeat in &cell.repeats {
        for (edge, count) in &repeat.latency.buckets {
            *buckets.entry(edge.max(0.0).to_bits()).or_default() += count;
        }
        max = max.max(repeat.latency.max);
    }
    let buckets: Vec<(f64, u64)> = buckets
        .into_iter()
        .map(|(edge, count)| (f64::from_bits(edge), count))
        .collect();
    let count: u64 = buckets.iter().map(|bucket| bucket.1).sum();
    (count > 1).then(|| Curve {
        label: axis
            .and_then(|axis| {
                axis_value(cell, axis).map(|value| describe_value(result, axis, value))
            })
            .unwrap_or_else(|| describe_cell(result, cell)),
        points: quantiles_of(&buckets, plimsoll_stats::RELATIVE_WIDTH, max),
        count,
    })
}
