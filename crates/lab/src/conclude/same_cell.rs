//! The difference between two measurements of one cell (A/A): the floor of all other differences.

use plimsoll_results::lab::{Cell as Written, Floor, SameCell, Variation};
use plimsoll_stats::comparison::{Limits, Paired};

use super::judge::pairs_of;
use crate::resolve::Lab;

/// Takes the copy from the cells, and compares it with the cell that it repeats.
pub fn take(lab: &Lab, cells: &mut Vec<Written>) -> Option<SameCell> {
    let (cell, _) = lab.same_cell()?;
    let copy = cells.pop()?;
    let cell = cells.iter().find(|one| one.name == cell.name)?;
    Some(compare(cell, copy))
}

fn compare(cell: &Written, copy: Written) -> SameCell {
    let mut floors = Vec::new();
    let mut method = String::new();
    for figure in &cell.figures {
        let (from, pairs) = pairs_of(cell, &copy, &figure.name);
        // A figure of 0, such as the share of failures, has no ratio.
        let Ok(paired) = Paired::ratios(&pairs) else {
            continue;
        };
        let (low, high) = paired.interval();
        floors.push(Floor {
            figure: figure.name.clone(),
            ratio: paired.estimate.exp(),
            interval: (low.exp(), high.exp()),
            share: low.abs().max(high.abs()).exp_m1(),
        });
        method = format!(
            "{} pairs of {} of one cell, measured under two names: mean log ratio, Student's 95 % interval, \
             of which the farther end is the floor",
            pairs.len(),
            match from {
                Variation::Restarts => "restarts",
                _ => "runs",
            }
        );
    }
    if floors.is_empty() {
        method = format!(
            "there is no floor, because {} have too few figures",
            if copy.figures.is_empty() {
                "the second runs"
            } else {
                "the runs"
            }
        );
    } else if [cell, &copy].iter().any(|one| one.verdict != "valid") {
        method.push_str("; one of both is suspect");
    }
    SameCell {
        cell: cell.name.clone(),
        copy,
        floors,
        method,
    }
}

/// The floor of a figure, and the limits of a comparison of it. `noise` is the lab's own floor.
pub fn limits(figure: &str, noise: Option<f64>, same: Option<&SameCell>) -> (Option<f64>, Limits) {
    let measured = same.and_then(|same| same.floors.iter().find(|one| one.figure == figure));
    let measured = measured.map(|floor| floor.share);
    let floor = [noise, measured].into_iter().flatten().reduce(f64::max);
    (floor, Limits::with_floor(noise, measured))
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::{Figure, Repeat};
    use plimsoll_stats::comparison::Outcome;

    use super::*;

    fn cell(name: &str, values: &[f64]) -> Written {
        let figure = |name: &str, values: &[f64]| Figure {
            name: name.to_owned(),
            repeats: values.to_vec(),
            restarts: values.to_vec(),
            ..Figure::default()
        };
        Written {
            name: name.to_owned(),
            figures: vec![
                figure("latency_p95", values),
                figure("failed_share", &vec![0.0; values.len()]),
            ],
            repeats: (1..)
                .take(values.len())
                .map(|number| Repeat {
                    number,
                    restart: number,
                    ..Repeat::default()
                })
                .collect(),
            verdict: "valid".to_owned(),
            ..Written::default()
        }
    }

    #[test]
    fn the_floor_is_the_farther_end_of_the_interval_between_equal_cells() {
        let same = compare(&cell("a", &[10.0; 3]), cell("b", &[10.5, 10.0, 11.0]));
        // Logarithms 0.04879, 0, 0.09531: mean 0.04803, s 0.04766, t(0.975, 2) = 4.3027:
        // 0.04803 ± 0.11840, and a histogram's bucket.
        let [floor] = same.floors.as_slice() else {
            panic!("{same:?}");
        };
        assert_eq!(floor.figure, "latency_p95");
        assert!((floor.ratio - 1.0492).abs() < 1e-3, "{floor:?}");
        assert!((floor.interval.0 - 0.932).abs() < 2e-3, "{floor:?}");
        assert!((floor.share - 0.181).abs() < 3e-3, "{floor:?}");
        assert!(same.method.starts_with("3 pairs of restarts"), "{same:?}");

        let (known, limits) = limits("latency_p95", None, Some(&same));
        assert_eq!(known, Some(floor.share));
        let decide = |values: [f64; 3]| {
            let pairs = values.map(|value| (10.0, value));
            let paired = Paired::ratios(&pairs).expect("three pairs");
            paired.decide(paired.p, limits).outcome
        };
        // 15 % is clear of chance, but not of what the machine alone makes.
        assert_eq!(decide([11.5, 11.45, 11.55]), Outcome::Uncertain);
        assert_eq!(decide([10.2, 9.8, 10.4]), Outcome::NoDifference);
        assert_eq!(decide([12.5, 12.45, 12.55]), Outcome::Larger);
    }

    #[test]
    fn a_floor_of_the_lab_counts_if_it_is_higher() {
        let same = compare(&cell("a", &[10.0; 3]), cell("b", &[10.1, 10.0, 10.2]));
        let measured = same.floors[0].share;
        assert_eq!(limits("latency_p95", Some(0.3), Some(&same)).0, Some(0.3));
        assert_eq!(
            limits("latency_p95", Some(0.01), Some(&same)).0,
            Some(measured)
        );
        assert_eq!(limits("makespan", None, Some(&same)).0, None);
        assert_eq!(
            limits("makespan", None, None),
            (None, Limits::of_ratio(None))
        );
    }

    #[test]
    fn two_runs_or_a_copy_without_figures_give_no_floor() {
        let two = compare(&cell("a", &[10.0; 2]), cell("b", &[10.0; 2]));
        assert!(
            two.floors.is_empty() && two.method.contains("too few figures"),
            "{two:?}"
        );
        let none = compare(&cell("a", &[10.0; 3]), Written::default());
        assert!(none.method.contains("the second runs"), "{none:?}");
    }
}
