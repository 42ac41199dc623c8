//! Comparisons over all cells that two values of an axis have in common.

use plimsoll_results::lab::{Cell as CellResult, Outcome, Pooled, SameCell};
use plimsoll_stats::comparison::{LEVEL, Limits, Paired, holm};
use plimsoll_stats::interaction::p_of_equal_means;

use super::judge::{figures_of, pairs, pairs_of};
use crate::resolve::Lab;

/// All comparisons that the lab requests, each over all its cells together, with p values after
/// Holm's correction over all of them.
///
/// Each cell counts once, with the mean log ratio of its pairs of restarts, because the pairs of
/// one cell are not independent. The ratio is that of a typical cell. Cells whose ratios differ are
/// not pooled.
pub fn pooled(lab: &Lab, written: &[CellResult], same: Option<&SameCell>) -> Vec<Pooled> {
    let mut all: Vec<(Pooled, Paired, Limits)> = Vec::new();
    for compared in &lab.compared {
        let pairs = pairs(lab, compared, written);
        for other in &compared.against {
            let of_value: Vec<(&CellResult, &CellResult)> = pairs
                .iter()
                .copied()
                .filter(|(_, cell)| on(cell, &compared.axis) == Some(other))
                .collect();
            let mut figures: Vec<String> = Vec::new();
            for (base, cell) in &of_value {
                for figure in figures_of(compared, base, cell) {
                    if !figures.contains(&figure) {
                        figures.push(figure);
                    }
                }
            }
            for figure in figures {
                let known = |(one, ..): &(Pooled, Paired, Limits)| {
                    (&one.axis, &one.base, &one.other, &one.figure)
                        == (&compared.axis, &compared.base, other, &figure)
                };
                if !all.iter().any(known) {
                    let (_, limits) =
                        super::same_cell::limits(&figure, compared.noise, same, &of_value);
                    all.extend(one(&figure, &of_value).map(|(found, paired)| {
                        let found = Pooled {
                            axis: compared.axis.clone(),
                            base: compared.base.clone(),
                            other: other.clone(),
                            ..found
                        };
                        (found, paired, limits)
                    }));
                }
            }
        }
    }
    conclude(all)
}

fn one(figure: &str, cells: &[(&CellResult, &CellResult)]) -> Option<(Pooled, Paired)> {
    let mut of_cells: Vec<Vec<f64>> = Vec::new();
    for (base, other) in cells {
        // No conclusion is based on a suspect cell.
        if [base, other].iter().any(|cell| cell.verdict != "valid") {
            continue;
        }
        let has = |cell: &CellResult| cell.figures.iter().any(|one| one.name == figure);
        if has(base) && has(other) {
            let (_, of_cell) = pairs_of(base, other, figure);
            let of_cell: Vec<f64> = of_cell.iter().map(|(a, b)| (b / a).ln()).collect();
            if of_cell.is_empty() || of_cell.iter().any(|log| !log.is_finite()) {
                return None;
            }
            of_cells.push(of_cell);
        }
    }
    // If the ratios of the cells differ, there is no typical cell, so each cell is reported separately.
    if p_of_equal_means(&of_cells).is_none_or(|p| p <= LEVEL) {
        return None;
    }
    let mean = |logs: &Vec<f64>| logs.iter().sum::<f64>() / logs.len() as f64;
    let logs: Vec<f64> = of_cells.iter().map(mean).collect();
    let pairs = of_cells.iter().map(Vec::len).sum();
    let least = logs.iter().copied().reduce(f64::min)?;
    let most = logs.iter().copied().reduce(f64::max)?;
    let paired = Paired::of(&logs, plimsoll_stats::RELATIVE_WIDTH)?;
    let (low, high) = paired.interval();
    let found = Pooled {
        axis: String::new(),
        base: String::new(),
        other: String::new(),
        figure: figure.to_owned(),
        cells: logs.len(),
        pairs,
        ratio: paired.estimate.exp(),
        interval: (low.exp(), high.exp()),
        range: Some((least.exp(), most.exp())),
        p: paired.p,
        method: format!(
            "mean log ratio of {} cells whose ratios an F-test does not distinguish, Student's t-test over the \
             cells, Holm's correction",
            logs.len()
        ),
        outcome: Outcome::NotMeasured,
        at_most: None,
        would_decide: None,
    };
    Some((found, paired))
}

fn conclude(all: Vec<(Pooled, Paired, Limits)>) -> Vec<Pooled> {
    let p: Vec<f64> = all.iter().map(|(one, ..)| one.p).collect();
    let all = all.into_iter().zip(holm(&p));
    all.map(|((one, paired, limits), p)| {
        let decision = paired.decide(p, limits);
        let outcome = Outcome::from(decision.outcome);
        let no_difference = outcome == Outcome::NoDifference;
        Pooled {
            p,
            outcome,
            at_most: no_difference.then(|| decision.reach.exp_m1()),
            would_decide: decision.would_decide,
            ..one
        }
    })
    .collect()
}

fn on<'a>(cell: &'a CellResult, axis: &str) -> Option<&'a String> {
    let found = cell.place.iter().find(|(name, _)| name == axis);
    found.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plimsoll_results::lab::{CellState, Figure, Repeat};

    use super::*;

    fn cell(repeats: [f64; 3]) -> CellResult {
        CellResult {
            name: String::new(),
            place: Vec::new(),
            state: CellState::Measured,
            command: String::new(),
            link: None,
            protocol_declared: None,
            protocols: BTreeMap::new(),
            sanity: None,
            repeats: (1..=3)
                .map(|number| Repeat {
                    number,
                    restart: number,
                    ..Repeat::default()
                })
                .collect(),
            figures: vec![Figure {
                name: "latency_p95".to_owned(),
                label: String::new(),
                unit: "ms".to_owned(),
                value: repeats[1],
                repeats: repeats.to_vec(),
                restarts: repeats.to_vec(),
                ..Figure::default()
            }],
            verdict: "valid".to_owned(),
            reasons: Vec::new(),
            findings: Vec::new(),
            published: Vec::new(),
            limit: None,
        }
    }

    #[test]
    fn each_cell_is_compared_once() {
        let (base, twice) = (cell([10.0, 11.0, 9.0]), cell([20.0, 22.2, 18.5]));
        let (other, more) = (cell([50.0, 55.0, 51.0]), cell([99.0, 112.2, 101.0]));
        let decided = |cells: &[(&CellResult, &CellResult)]| {
            let (found, paired) = one("latency_p95", cells).unwrap();
            conclude(vec![(found, paired, Limits::of_ratio(None))]).remove(0)
        };
        let found = decided(&[(&base, &twice), (&other, &more), (&base, &twice)]);
        assert_eq!((found.cells, found.pairs), (3, 9));
        assert_eq!(found.outcome, Outcome::Larger, "{found:?}");
        // Means 0.7053, 0.6931, 0.7053: 0.7012 ± 4.303 × 0.00406, plus the width of a bucket.
        assert!((found.ratio - 2.0162).abs() < 1e-3, "{found:?}");
        assert!((found.interval.0 - 1.979).abs() < 0.01, "{found:?}");
        assert!((found.interval.1 - 2.054).abs() < 0.01, "{found:?}");
        let (least, most) = found.range.expect("several cells");
        assert!(
            (least - 2.0).abs() < 1e-3 && (most - 2.0244).abs() < 1e-3,
            "{found:?}"
        );

        let found = decided(&[(&base, &base), (&other, &other), (&base, &base)]);
        assert_eq!(found.outcome, Outcome::NoDifference);
        let pairs = [(&base, &twice), (&other, &more), (&base, &twice)];
        assert!(one("latency_p95", &pairs[..2]).is_none());
        assert!(one("throughput", &pairs).is_none());
    }

    #[test]
    fn cells_whose_ratios_differ_and_suspect_cells_are_not_pooled() {
        let (base, twice) = (cell([10.0, 11.0, 9.0]), cell([20.0, 22.2, 18.5]));
        let less = cell([18.0, 19.8, 16.8]);
        assert!(one("latency_p95", &[(&base, &twice); 3]).is_some());
        let differ = [(&base, &twice), (&base, &less), (&base, &twice)];
        assert!(one("latency_p95", &differ).is_none());
        let mut suspect = twice.clone();
        suspect.verdict = "suspect".to_owned();
        let doubted = [(&base, &twice), (&base, &suspect), (&base, &twice)];
        assert!(one("latency_p95", &doubted).is_none());
    }
}
