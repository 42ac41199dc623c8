//! Comparisons over all cells that two values of an axis have in common. Three repeats of
//! one cell are too few for a rank test; three of each of five cells are not.

use results::lab::{Cell as Written, Outcome, Pooled};
use stats::comparison::{Conclusion, compare, holm};

use super::judge::{LEVEL, figures_of, pairs};
use crate::resolve::Lab;

/// One cell alone is compared as a cell.
const LEAST_CELLS: usize = 2;

/// Every comparison that the lab asks for, over its cells together, with p values after
/// Holm over all of these.
///
/// Under the hypothesis that no cell differs, the sign of each pair's log ratio is a coin's
/// throw in any cell, so that the test is exact. The ratio is that of a typical cell.
pub fn pooled(lab: &Lab, written: &[Written]) -> Vec<Pooled> {
    let mut all: Vec<Pooled> = Vec::new();
    for compared in &lab.compared {
        let pairs = pairs(lab, compared, written);
        for other in &compared.against {
            let of_value: Vec<(&Written, &Written)> = pairs
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
                let known = |one: &Pooled| {
                    (&one.axis, &one.base, &one.other, &one.figure)
                        == (&compared.axis, &compared.base, other, &figure)
                };
                if !all.iter().any(known) {
                    all.extend(one(&figure, &of_value).map(|found| Pooled {
                        axis: compared.axis.clone(),
                        base: compared.base.clone(),
                        other: other.clone(),
                        ..found
                    }));
                }
            }
        }
    }
    correct(&mut all);
    all
}

fn one(figure: &str, cells: &[(&Written, &Written)]) -> Option<Pooled> {
    let repeats = |cell: &Written| {
        let found = cell.figures.iter().find(|one| one.name == figure)?;
        Some(found.repeats.clone())
    };
    let mut logs: Vec<(f64, f64)> = Vec::new();
    let mut count = 0;
    for (base, other) in cells {
        if let (Some(base), Some(other)) = (repeats(base), repeats(other)) {
            // Repeats of one number were run in the same round.
            logs.extend(base.into_iter().zip(other));
            count += 1;
        }
    }
    if count < LEAST_CELLS {
        return None;
    }
    let found = compare(&logs, LEVEL, None).ok()?;
    Some(Pooled {
        axis: String::new(),
        base: String::new(),
        other: String::new(),
        figure: figure.to_owned(),
        cells: count,
        pairs: found.pairs,
        ratio: found.ratio,
        interval: (found.low, found.high),
        p: found.p,
        method: format!(
            "{} pairs of one round each over {count} cells; Hodges–Lehmann estimate of log ratios, exact Wilcoxon signed-rank test, Holm's correction",
            found.pairs
        ),
        outcome: match found.conclusion {
            Conclusion::Different if found.ratio > 1.0 => Outcome::Larger,
            Conclusion::Different => Outcome::Smaller,
            _ => Outcome::WithinNoise,
        },
    })
}

fn correct(all: &mut [Pooled]) {
    let p: Vec<f64> = all.iter().map(|one| one.p).collect();
    for (one, p) in all.iter_mut().zip(holm(&p)) {
        one.p = p;
        if p > LEVEL {
            one.outcome = Outcome::WithinNoise;
        }
    }
}

fn on<'a>(cell: &'a Written, axis: &str) -> Option<&'a String> {
    let found = cell.place.iter().find(|(name, _)| name == axis);
    found.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use results::lab::{CellState, Figure};

    use super::*;

    fn cell(repeats: [f64; 3]) -> Written {
        Written {
            name: String::new(),
            place: Vec::new(),
            state: CellState::Measured,
            command: String::new(),
            link: None,
            protocol_declared: None,
            protocols: BTreeMap::new(),
            sanity: None,
            repeats: Vec::new(),
            figures: vec![Figure {
                name: "latency_p95".to_owned(),
                label: String::new(),
                unit: "ms".to_owned(),
                value: repeats[1],
                interval: None,
                why_no_interval: None,
                with_warm_up: None,
                better: None,
                repeats: repeats.to_vec(),
            }],
            verdict: "valid".to_owned(),
            reasons: Vec::new(),
            findings: Vec::new(),
            published: Vec::new(),
            limit: None,
        }
    }

    #[test]
    fn three_repeats_of_three_cells_show_what_those_of_one_cannot() {
        let (base, twice) = (cell([10.0, 11.0, 9.0]), cell([20.0, 22.2, 18.5]));
        let (other, more) = (cell([50.0, 55.0, 51.0]), cell([90.0, 99.0, 95.0]));
        let pairs = [(&base, &twice), (&other, &more), (&base, &twice)];
        let found = one("latency_p95", &pairs).unwrap();
        // Nine pairs of one sign: 2 ÷ 2⁹.
        assert_eq!((found.cells, found.pairs), (3, 9));
        assert!((found.p - 2.0 / 512.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.outcome, Outcome::Larger);
        assert!(
            found.interval.0 > 1.7 && found.interval.1 < 2.1,
            "{found:?}"
        );

        let alike = [(&base, &base), (&other, &other)];
        let found = one("latency_p95", &alike);
        assert!(found.is_none_or(|found| found.outcome == Outcome::WithinNoise));
        assert!(one("latency_p95", &pairs[..1]).is_none());
        assert!(one("throughput", &pairs).is_none());
    }
}
