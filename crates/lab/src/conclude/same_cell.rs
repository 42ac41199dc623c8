//! The difference between two measurements of the same cell (A/A). It is the noise floor of all
//! other differences.

use plimsoll_results::lab::{Cell as Written, Floor, SameCell, Variation};
use plimsoll_stats::comparison::{Limits, Paired};

use super::judge::pairs_of;
use crate::resolve::Lab;

/// Removes the copy from the cells, and compares it with the cell that it repeats.
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
        // A figure of 0, for example the failure rate, has no ratio.
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
            "there is no noise floor, because {} have too few figures",
            if copy.figures.is_empty() {
                "the second runs"
            } else {
                "the runs"
            }
        );
    } else if [cell, &copy].iter().any(|one| one.verdict != "valid") {
        method.push_str("; one of the two cells is suspect");
    }
    SameCell {
        cell: cell.name.clone(),
        copy,
        floors,
        method,
    }
}

/// The noise floor of a figure, and the limits of a comparison of these pairs of cells. `noise` is
/// the lab's own floor. Cells in a place other than that of the repeated cell have no floor.
pub fn limits(
    figure: &str,
    noise: Option<f64>,
    same: Option<&SameCell>,
    pairs: &[(&Written, &Written)],
) -> (Option<f64>, Limits) {
    let of_pair = |(base, other): &(&Written, &Written)| same?.floor_between(figure, [base, other]);
    let measured = pairs.iter().filter_map(of_pair).reduce(f64::max);
    let floor = [noise, measured].into_iter().flatten().reduce(f64::max);
    let limits = match measured {
        Some(_) => Limits::with_floor(noise, measured),
        None => Limits::with_foreign_floor(noise, same.and_then(|same| same.floor(figure))),
    };
    (floor, limits)
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::{Figure, LinkFigures, Repeat};
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
        // Logarithms 0.04879, 0, 0.09531: mean 0.04803, s 0.04766, t(0.975, 2) = 4.3027: 0.04803 ± 0.11840,
        // plus the width of a histogram's bucket.
        let [floor] = same.floors.as_slice() else {
            panic!("{same:?}");
        };
        assert_eq!(floor.figure, "latency_p95");
        assert!((floor.ratio - 1.0492).abs() < 1e-3, "{floor:?}");
        assert!((floor.interval.0 - 0.932).abs() < 2e-3, "{floor:?}");
        assert!((floor.share - 0.181).abs() < 3e-3, "{floor:?}");
        assert!(same.method.starts_with("3 pairs of restarts"), "{same:?}");

        let base = cell("a", &[10.0; 3]);
        let (known, limits) = limits("latency_p95", None, Some(&same), &[(&base, &base)]);
        assert_eq!(known, Some(floor.share));
        let decide = |values: [f64; 3]| {
            let pairs = values.map(|value| (10.0, value));
            let paired = Paired::ratios(&pairs).expect("three pairs");
            paired.decide(paired.p, limits).outcome
        };
        // 15 % is significant, but not larger than the difference that the machine alone causes.
        assert_eq!(decide([11.5, 11.45, 11.55]), Outcome::Uncertain);
        assert_eq!(decide([10.2, 9.8, 10.4]), Outcome::NoDifference);
        assert_eq!(decide([12.5, 12.45, 12.55]), Outcome::Larger);
    }

    #[test]
    fn a_floor_of_the_lab_counts_if_it_is_higher() {
        let same = compare(&cell("a", &[10.0; 3]), cell("b", &[10.1, 10.0, 10.2]));
        let measured = same.floors[0].share;
        let base = cell("a", &[10.0; 3]);
        let of = |figure, noise| limits(figure, noise, Some(&same), &[(&base, &base)]);
        assert_eq!(of("latency_p95", Some(0.3)).0, Some(0.3));
        assert_eq!(of("latency_p95", Some(0.01)).0, Some(measured));
        let unknown = (None, Limits::of_ratio(None));
        assert_eq!(of("makespan", None), unknown);
        assert_eq!(limits("makespan", None, None, &[(&base, &base)]), unknown);
    }

    #[test]
    fn the_floor_of_one_place_is_not_that_of_another() {
        let at = |name: &str, place: &str, values: &[f64]| Written {
            link: Some(LinkFigures {
                name: place.to_owned(),
                ..LinkFigures::default()
            }),
            ..cell(name, values)
        };
        let near = at("a", "near", &[10.0; 3]);
        let same = compare(&near, at("b", "near", &[10.5, 10.0, 11.0]));
        let far = at("c", "far", &[50.0; 3]);
        let of = |pair| limits("latency_p95", None, Some(&same), &[pair]);
        assert_eq!(of((&near, &near)).0, Some(same.floors[0].share));
        assert_eq!(of((&near, &far)), of((&near, &near)));
        let (floor, limits) = of((&far, &far));
        assert_eq!(floor, None);
        let decide = |value: f64| {
            let values = [value, value * 1.001, value * 0.999];
            let pairs = values.map(|value| (50.0, value));
            let paired = Paired::ratios(&pairs).expect("three pairs");
            paired.decide(paired.p, limits).outcome
        };
        assert_eq!(decide(60.0), Outcome::Larger);
        // At the place `near`, this would be no difference. At `far` the floor is unknown, so the outcome
        // is open.
        assert_eq!(decide(55.0), Outcome::Uncertain);
        assert_eq!(decide(51.0), Outcome::NoDifference);
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
