//! The difference between two measurements of the same cell (A/A). It is the noise floor of all
//! other differences.

use plimsoll_results::lab::{Cell as CellResult, Floor, SameCell, Variation};
use plimsoll_stats::comparison::{Limits, Paired};

use super::judge::pairs_of;
use crate::resolve::Lab;

/// Removes the copy from the cells, and compares it with the cell that it repeats.
pub fn compare_copy(lab: &Lab, cells: &mut Vec<CellResult>) -> Option<SameCell> {
    let (cell, _) = lab.same_cell()?;
    let copy = cells.pop()?;
    let cell = cells.iter().find(|one| one.name == cell.name)?;
    Some(compare(cell, copy))
}

fn compare(cell: &CellResult, copy: CellResult) -> SameCell {
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
/// the lab's own floor. Cells in a place other than that of the repeated cell have no floor: their
/// own restarts show how much they vary, and a difference only has to exceed the time that the
/// machine alone causes at the place of the repeated cell.
pub fn limits(
    figure: &str,
    noise: Option<f64>,
    same: Option<&SameCell>,
    pairs: &[(&CellResult, &CellResult)],
) -> (Option<f64>, Limits) {
    let most = |of_pair: &dyn Fn(&SameCell, [&CellResult; 2]) -> Option<f64>| {
        let all = pairs
            .iter()
            .filter_map(|(base, other)| of_pair(same?, [base, other]));
        all.reduce(f64::max)
    };
    let measured = most(&|same, cells| same.floor_between(figure, cells));
    let floor = [noise, measured].into_iter().flatten().reduce(f64::max);
    let limits = match measured {
        Some(_) => Limits::with_floor(noise, measured),
        None => {
            let elsewhere = most(&|same, cells| same.floor_elsewhere(figure, cells));
            Limits::with_foreign_floor(noise, elsewhere)
        }
    };
    (floor, limits)
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::{Figure, LinkFigures, Repeat};
    use plimsoll_stats::comparison::Outcome;

    use super::*;

    fn cell(name: &str, values: &[f64]) -> CellResult {
        let figure = |name: &str, values: &[f64]| Figure {
            name: name.to_owned(),
            value: values.iter().sum::<f64>() / values.len() as f64,
            repeats: values.to_vec(),
            restarts: values.to_vec(),
            ..Figure::default()
        };
        CellResult {
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
            ..CellResult::default()
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

    fn at(place: &str, cell: CellResult) -> CellResult {
        CellResult {
            link: Some(LinkFigures {
                name: place.to_owned(),
                ..LinkFigures::default()
            }),
            ..cell
        }
    }

    /// The outcome of a comparison of cells at the place `far`, if the cell that was measured twice
    /// is at the place `near`. One cell is `ratio` times the other in each of three restarts, which
    /// differ by 0.1 %.
    fn of_far_cells(same: &SameCell, figure: &str, base: &CellResult, ratio: f64) -> Outcome {
        let mut other = base.clone();
        for figure in &mut other.figures {
            figure.value *= ratio;
        }
        let (floor, limits) = limits(figure, None, Some(same), &[(base, &other)]);
        assert_eq!(floor, None, "the floor of another place");
        let ratios = [ratio, ratio * 1.001, ratio * 0.999];
        let pairs = ratios.map(|ratio| (1.0, ratio));
        let paired = Paired::ratios(&pairs).expect("three pairs");
        paired.decide(paired.p, limits).outcome
    }

    #[test]
    fn a_latency_elsewhere_has_to_differ_by_the_time_that_the_machine_causes() {
        let near = at("near", cell("a", &[10.0; 3]));
        let same = compare(&near, at("near", cell("b", &[10.5, 10.0, 11.0])));
        let far = at("far", cell("c", &[50.0; 3]));
        let of = |pair| limits("latency_p95", None, Some(&same), &[pair]);
        assert_eq!(of((&near, &near)).0, Some(same.floors[0].share));
        assert_eq!(of((&near, &far)), of((&near, &near)));
        // The floor is 18.1 % of 10.5 ms, which is 1.90 ms, and 3.8 % of 50 ms. Up to 5 % counts as equal.
        let decide = |ratio| of_far_cells(&same, "latency_p95", &far, ratio);
        assert_eq!(decide(1.2), Outcome::Larger);
        assert_eq!(decide(1.06), Outcome::Larger);
        assert_eq!(decide(1.0 / 1.06), Outcome::Smaller);
        assert_eq!(decide(1.035), Outcome::NoDifference);
        assert_eq!(decide(1.0), Outcome::NoDifference);
    }

    #[test]
    fn the_floor_of_a_latency_never_exceeds_its_share() {
        let far = at("far", cell("a", &[50.0; 3]));
        let same = compare(&far, at("far", cell("b", &[52.5, 50.0, 55.0])));
        let near = at("near", cell("c", &[1.0; 3]));
        let share = same.floors[0].share;
        let found = same.floor_elsewhere("latency_p95", [&near, &near]);
        assert_eq!(found, Some(share));
    }

    /// The time of a request determines a rate. Other figures do not depend on the line.
    #[test]
    fn a_floor_elsewhere_is_smaller_only_for_figures_that_a_line_dilutes() {
        let with = |place: &str, latency: f64, name: &str, values: [f64; 3]| {
            let mut cell = at(place, cell(name, &[latency; 3]));
            for figure in ["requests_per_second", "cpu_time_per_request"] {
                cell.figures.push(Figure {
                    name: figure.to_owned(),
                    value: values[0],
                    repeats: values.to_vec(),
                    restarts: values.to_vec(),
                    ..Figure::default()
                });
            }
            cell.figures.push(Figure {
                name: "latency_mean".to_owned(),
                value: latency,
                ..Figure::default()
            });
            cell
        };
        let near = with("near", 1.0, "a", [100.0; 3]);
        let same = compare(&near, with("near", 1.0, "b", [105.0, 100.0, 110.0]));
        let far = with("far", 3.0, "c", [10.0; 3]);
        let floor = |figure: &str| {
            let found = same.floor_elsewhere(figure, [&far, &far]);
            found
                .zip(same.floor(figure))
                .map(|(there, here)| there / here)
        };
        let rate = floor("requests_per_second").expect("a floor");
        assert!((rate - 1.0 / 3.0).abs() < 1e-9, "{rate}");
        assert_eq!(floor("cpu_time_per_request"), Some(1.0));
        assert_eq!(floor("makespan"), None);
        // Without the latency of a cell, the share stays.
        let unknown = at("far", cell("d", &[10.0; 3]));
        let found = same.floor_elsewhere("requests_per_second", [&unknown, &far]);
        assert_eq!(found, same.floor("requests_per_second"));
    }

    #[test]
    fn two_runs_or_a_copy_without_figures_give_no_floor() {
        let two = compare(&cell("a", &[10.0; 2]), cell("b", &[10.0; 2]));
        assert!(
            two.floors.is_empty() && two.method.contains("too few figures"),
            "{two:?}"
        );
        let none = compare(&cell("a", &[10.0; 3]), CellResult::default());
        assert!(none.method.contains("the second runs"), "{none:?}");
    }
}
