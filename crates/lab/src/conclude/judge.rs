//! Judges objectives and comparisons.

use std::collections::BTreeMap;

use plimsoll_results::compare::ASSUMED_NOISE;
use plimsoll_results::lab::{
    Cell as CellResult, Comparison, ObjectiveOutcome, Outcome, SameCell, TooFew, Variation,
    latency_quantile,
};
use plimsoll_stats::comparison::{Limits, Paired, holm};
use plimsoll_stats::tail;

use super::repeat::Measured;
use super::same_cell;
use crate::resolve::conclusions::{Compared, FIGURES, Objective};
use crate::resolve::design::cells_of;
use crate::resolve::{Cell, Lab};

/// Figures that are compared by default.
const HEADLINES: [&str; 6] = [
    "requests_per_second",
    "latency_p95",
    "cpu_time_per_request",
    "makespan",
    "throughput",
    "limit",
];

/// The outcome of each objective, in each of its cells that has figures.
pub fn objectives(
    lab: &Lab,
    written: &[CellResult],
    measured: &[Vec<Measured>],
) -> Vec<ObjectiveOutcome> {
    let mut all = Vec::new();
    for objective in &lab.objectives {
        for ((cell, written), measured) in lab.cells.iter().zip(written).zip(measured) {
            if objective.when.holds(&cell.coordinates) {
                all.extend(objective_of(objective, cell, written, measured));
            }
        }
    }
    all
}

fn objective_of(
    objective: &Objective,
    cell: &Cell,
    written: &CellResult,
    measured: &[Measured],
) -> Option<ObjectiveOutcome> {
    let figure = written
        .figures
        .iter()
        .find(|figure| figure.name == objective.figure)?;
    let (mut below, mut all) = (0.0, 0.0);
    for (edge, count) in measured.iter().flat_map(|one| &one.repeat.latency.buckets) {
        all += *count as f64;
        if *edge <= objective.limit {
            below += *count as f64;
        }
    }
    let within = objective
        .figure
        .starts_with("latency_p")
        .then(|| if all > 0.0 { below / all } else { 0.0 });
    let latencies = written.latencies();
    let too_few = latencies.and_then(|latencies| too_few(objective, latencies, all - below));
    let verdict = match too_few {
        Some(_) => "undecided",
        None => of_objective(objective, figure.value, figure.interval),
    };
    Some(ObjectiveOutcome {
        objective: objective.text.clone(),
        cell: cell.name.clone(),
        measured: figure.value,
        limit: objective.limit,
        unit: figure.unit.clone(),
        verdict: verdict.to_owned(),
        within,
        // Without an interval, the figure is from a single run.
        interval_from: figure.interval_from.or(Some(Variation::OneRun)),
        too_few,
    })
}

/// Set if there are too few latencies to show whether a percentile meets its upper limit. `above` of them exceed it.
fn too_few(objective: &Objective, latencies: u64, above: f64) -> Option<TooFew> {
    let q = latency_quantile(&objective.figure).filter(|_| objective.at_most)?;
    let needed = tail::needed_to_judge(latencies as f64, above, q)?;
    Some(TooFew {
        counted: latencies,
        needed,
    })
}

/// Only the count can show that nothing failed: no finite number of requests proves that the
/// failure rate is zero.
fn of_objective(objective: &Objective, value: f64, interval: Option<(f64, f64)>) -> &'static str {
    let asks_for_none = objective.at_most && objective.limit == 0.0;
    match objective.figure.as_str() {
        "failed_share" if asks_for_none && value > 0.0 => "broken",
        "failed_share" if asks_for_none => "kept",
        _ => verdict(value, interval, objective.limit, objective.at_most),
    }
}

/// Returns `kept`, `broken` or `undecided`. Without an interval, the figure decides if its distance
/// from the limit exceeds the usual difference between single runs of the same system.
pub fn verdict(
    value: f64,
    interval: Option<(f64, f64)>,
    limit: f64,
    at_most: bool,
) -> &'static str {
    let holds = |value: f64| {
        if at_most {
            value <= limit
        } else {
            value >= limit
        }
    };
    match interval {
        None if (value - limit).abs() <= ASSUMED_NOISE * limit.abs() => "undecided",
        None if holds(value) => "kept",
        None => "broken",
        Some((low, high)) => match (holds(low), holds(high)) {
            (true, true) => "kept",
            (false, false) => "broken",
            _ => "undecided",
        },
    }
}

/// All comparisons that the lab requests, with p values after Holm's correction. The correction
/// covers all primary comparisons together, and for other comparisons the figures of each pair of
/// cells.
pub fn comparisons(lab: &Lab, written: &[CellResult], same: Option<&SameCell>) -> Vec<Comparison> {
    let mut all: Vec<(Comparison, Option<Test>)> = Vec::new();
    let primary = lab.compared.iter().filter(|compared| compared.primary);
    let others = lab.compared.iter().filter(|compared| !compared.primary);
    for compared in primary.chain(others) {
        for (base, other) in pairs(lab, compared, written) {
            for figure in figures_of(compared, base, other) {
                let is_known = |(one, _): &(Comparison, _)| {
                    (&one.cells.0, &one.cells.1, &one.figure) == (&base.name, &other.name, &figure)
                };
                if all.iter().any(is_known) {
                    continue;
                }
                let (mut comparison, paired) = comparison(&compared.axis, &figure, base, other);
                let family = match compared.primary {
                    true => String::new(),
                    false => format!("{} | {}", base.name, other.name),
                };
                let (floor, limits) =
                    same_cell::limits(&figure, compared.noise, same, &[(base, other)]);
                comparison.primary = compared.primary;
                comparison.floor = floor;
                let test = paired.map(|paired| Test {
                    family,
                    paired,
                    limits,
                });
                all.push((comparison, test));
            }
        }
    }
    conclude(&mut all);
    all.into_iter().map(|(comparison, _)| comparison).collect()
}

/// The statistical test of a comparison.
struct Test {
    /// Tests of the same family are corrected together.
    family: String,
    paired: Paired,
    limits: Limits,
}

/// Sets the outcomes of all comparisons, after Holm's correction in each family.
fn conclude(all: &mut [(Comparison, Option<Test>)]) {
    let mut families: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, (_, test)) in all.iter().enumerate() {
        if let Some(test) = test {
            families.entry(test.family.clone()).or_default().push(place);
        }
    }
    for places in families.values() {
        let p_of = |place: &usize| Some(all.get(*place)?.1.as_ref()?.paired.p);
        let p: Vec<f64> = places.iter().filter_map(p_of).collect();
        for (place, p) in places.iter().zip(holm(&p)) {
            let Some((comparison, Some(test))) = all.get_mut(*place) else {
                continue;
            };
            let decision = test.paired.decide(p, test.limits);
            comparison.p = Some(p);
            comparison.outcome = decision.outcome.into();
            comparison.would_decide = decision.would_decide;
            let no_difference = comparison.outcome == Outcome::NoDifference;
            comparison.at_most = no_difference.then(|| decision.reach.exp_m1());
            comparison.method = format!(
                "{} pairs of {}: mean log ratio, Student's paired t-test{}",
                test.paired.pairs,
                match comparison.interval_from {
                    Some(Variation::Restarts) => "restarts",
                    _ => "runs of one start each, so the variation between starts is unknown",
                },
                match places.len() {
                    1 => String::new(),
                    count => format!(", Holm's correction over {count} comparisons"),
                }
            );
        }
    }
}

/// Pairs of cells that differ only in the axis and that are included in this form.
pub(super) fn pairs<'a>(
    lab: &Lab,
    compared: &Compared,
    written: &'a [CellResult],
) -> Vec<(&'a CellResult, &'a CellResult)> {
    let pairs = cells_of(lab, compared).into_iter();
    pairs
        .filter_map(|(base, other)| Some((written.get(base)?, written.get(other)?)))
        .collect()
}

pub(super) fn figures_of(
    compared: &Compared,
    base: &CellResult,
    other: &CellResult,
) -> Vec<String> {
    if !compared.figures.is_empty() {
        return compared.figures.clone();
    }
    let has = |cell: &CellResult, name: &str| cell.figures.iter().any(|figure| figure.name == name);
    let headlines = HEADLINES
        .iter()
        .filter(|name| has(base, name) || has(other, name));
    headlines.map(|name| (*name).to_owned()).collect()
}

/// The values of a figure in both cells, paired by restart. If a cell has only one restart, they
/// are paired by run.
pub(super) fn pairs_of(
    base: &CellResult,
    other: &CellResult,
    name: &str,
) -> (Variation, Vec<(f64, f64)>) {
    let of = |cell: &CellResult| {
        let figure = cell.figures.iter().find(|figure| figure.name == name)?;
        let (from, values) = figure.units();
        let mut numbers: Vec<u32> = match from {
            Variation::Restarts => cell.repeats.iter().map(|run| run.restart).collect(),
            _ => cell.repeats.iter().map(|run| run.number).collect(),
        };
        numbers.dedup();
        let values: BTreeMap<u32, f64> = numbers.into_iter().zip(values.iter().copied()).collect();
        Some((from, values))
    };
    let (Some((from, base)), Some((also, other))) = (of(base), of(other)) else {
        return (Variation::Restarts, Vec::new());
    };
    // A restart cannot be paired with a run.
    if from != also {
        return (Variation::Restarts, Vec::new());
    }
    let pairs = base
        .iter()
        .filter_map(|(number, base)| Some((*base, *other.get(number)?)));
    (from, pairs.collect())
}

fn comparison(
    axis: &str,
    name: &str,
    base: &CellResult,
    other: &CellResult,
) -> (Comparison, Option<Paired>) {
    let figure = |cell: &'_ CellResult| {
        cell.figures
            .iter()
            .find(|figure| figure.name == name)
            .cloned()
    };
    let (first, second) = (figure(base), figure(other));
    let mut comparison = Comparison {
        axis: axis.to_owned(),
        cells: (base.name.clone(), other.name.clone()),
        place: base
            .place
            .iter()
            .filter(|(known, _)| known != axis)
            .cloned()
            .collect(),
        figure: name.to_owned(),
        ..Comparison::default()
    };
    let (Some(first), Some(second)) = (first, second) else {
        comparison.method = "one of the cells does not have this figure".to_owned();
        return (comparison, None);
    };
    if FIGURES.iter().any(|(known, _)| *known == name) && first.value > 0.0 {
        comparison.ratio = Some(second.value / first.value);
    }
    let (from, pairs) = pairs_of(base, other, name);
    match Paired::ratios(&pairs) {
        Ok(paired) => {
            let (low, high) = paired.interval();
            comparison.ratio = Some(paired.estimate.exp());
            comparison.interval = Some((low.exp(), high.exp()));
            comparison.interval_from = Some(from);
            (comparison, Some(paired))
        }
        Err(why) => {
            let unit = match from {
                Variation::Restarts => "restart",
                Variation::Runs | Variation::OneRun => "run",
            };
            comparison.method = why.text(pairs.len(), unit);
            (comparison, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::{Figure, Repeat};

    use super::*;
    use crate::matrix::When;

    fn cell(name: &str, repeats: &[f64]) -> CellResult {
        CellResult {
            name: name.to_owned(),
            figures: vec![Figure {
                name: "latency_p95".to_owned(),
                value: 1.0,
                repeats: repeats.to_vec(),
                restarts: repeats.to_vec(),
                ..Figure::default()
            }],
            repeats: (1..)
                .take(repeats.len())
                .map(|number| Repeat {
                    number,
                    restart: number,
                    ..Repeat::default()
                })
                .collect(),
            ..CellResult::default()
        }
    }

    /// Compares figures. They are corrected together with this number of other figures that show no
    /// difference.
    fn compared(base: &[f64], other: &[f64], noise: Option<f64>, others: usize) -> Comparison {
        let of = |base: &[f64], other: &[f64]| {
            let (one, two) = (cell("a=1", base), cell("a=2", other));
            let (comparison, paired) = comparison("a", "latency_p95", &one, &two);
            let test = paired.map(|paired| Test {
                family: String::new(),
                paired,
                limits: Limits::of_ratio(noise),
            });
            (comparison, test)
        };
        let mut all = vec![of(base, other)];
        all.extend((0..others).map(|_| of(&[10.0, 11.0, 9.0], &[10.1, 10.9, 9.0])));
        conclude(&mut all);
        all.swap_remove(0).0
    }

    #[test]
    fn outcomes_follow_from_the_intervals() {
        let found = compared(&[10.0, 11.0, 9.0], &[20.0, 21.5, 18.4], None, 0);
        // Log ratios 0.6931, 0.6701, 0.7151: mean 0.69279, s 0.02248. With t(0.975, 2) = 4.3027, the result
        // is 0.69279 ± 0.05584, plus the width of a histogram's bucket.
        assert_eq!(found.outcome, Outcome::Larger);
        let (low, high) = found.interval.unwrap();
        assert!((found.ratio.unwrap() - 1.9993).abs() < 1e-3, "{found:?}");
        assert!((low - 1.8889).abs() < 2e-3, "{low}");
        assert!((high - 2.1162).abs() < 2e-3, "{high}");
        assert!(found.p.unwrap() < 0.001, "{found:?}");
        assert!(found.method.starts_with("3 pairs of restarts:"));

        // 170 times as much, from 80 to 390: not noise, even in a large number of comparisons.
        let found = compared(&[1.0, 1.0, 1.0], &[122.0, 170.0, 236.0], None, 0);
        assert_eq!(found.outcome, Outcome::Larger, "{found:?}");
        let found = compared(&[1.0, 1.0, 1.0], &[122.0, 170.0, 236.0], None, 60);
        assert_eq!(found.outcome, Outcome::Uncertain, "{found:?}");
        assert!(
            found.would_decide.is_some_and(|count| count > 3),
            "{found:?}"
        );
        assert!(found.text().ends_with("restarts would decide"), "{found:?}");

        let found = compared(&[10.0; 3], &[12.0, 9.0, 11.0], None, 0);
        assert_eq!(found.outcome, Outcome::Uncertain);
        let found = compared(&[10.0, 11.0, 9.0], &[10.1, 11.0, 9.0], None, 0);
        assert_eq!(found.outcome, Outcome::NoDifference);
        assert!(
            found.text().starts_with("no difference larger than 1.9 %"),
            "{found:?}"
        );
        let found = compared(&[10.0, 11.0, 9.0], &[12.0, 13.1, 10.9], Some(0.3), 0);
        assert_eq!(found.outcome, Outcome::NoDifference, "{found:?}");
    }

    #[test]
    fn too_few_restarts_are_reported_with_the_number_needed() {
        let found = compared(&[10.0, 10.0], &[20.0, 20.1], None, 0);
        assert_eq!(
            (found.outcome, found.interval),
            (Outcome::NotMeasured, None)
        );
        assert!(found.method.contains("use at least 3"), "{}", found.method);
        let found = compared(&[0.0; 3], &[1.0; 3], None, 0);
        assert_eq!(found.outcome, Outcome::NotMeasured);
    }

    #[test]
    fn an_objective_is_met_only_by_the_whole_interval() {
        assert_eq!(verdict(40.0, Some((30.0, 45.0)), 50.0, true), "kept");
        assert_eq!(verdict(49.0, Some((45.0, 55.0)), 50.0, true), "undecided");
        assert_eq!(
            verdict(100.762, Some((100.1, 101.0)), 100.0, true),
            "broken"
        );
        assert_eq!(verdict(300.0, Some((290.0, 310.0)), 200.0, false), "kept");
    }

    #[test]
    fn a_single_run_without_an_interval_is_judged_unless_it_is_close_to_the_limit() {
        assert_eq!(verdict(0.7, None, 50.0, true), "kept");
        assert_eq!(verdict(44.0, None, 50.0, true), "kept");
        assert_eq!(verdict(46.0, None, 50.0, true), "undecided");
        assert_eq!(verdict(54.0, None, 50.0, true), "undecided");
        assert_eq!(verdict(60.0, None, 50.0, true), "broken");
        assert_eq!(verdict(300.0, None, 200.0, false), "kept");
        assert_eq!(verdict(150.0, None, 200.0, false), "broken");
        assert_eq!(verdict(0.0, None, 0.0, true), "undecided");
    }

    #[test]
    fn a_percentile_of_too_few_requests_is_not_judged() {
        let objective = |figure: &str, at_most| Objective {
            figure: figure.to_owned(),
            text: "latency_p95 at most 100ms".to_owned(),
            limit: 100.0,
            at_most,
            when: When::default(),
        };
        let p95 = objective("latency_p95", true);
        let why = too_few(&p95, 60, 3.0).map(TooFew::text);
        assert_eq!(why.as_deref(), Some("60 values are too few, it needs 200"));
        assert_eq!(too_few(&p95, 200, 3.0), None);
        // All of them exceed the limit.
        assert_eq!(too_few(&p95, 60, 60.0), None);
        assert_eq!(too_few(&objective("latency_mean", true), 60, 3.0), None);
    }

    #[test]
    fn zero_failures_are_judged_by_the_count() {
        let none = |figure: &str, at_most| Objective {
            figure: figure.to_owned(),
            text: String::new(),
            limit: 0.0,
            at_most,
            when: When::default(),
        };
        let share = none("failed_share", true);
        assert_eq!(of_objective(&share, 0.0, Some((0.0, 0.01))), "kept");
        assert_eq!(of_objective(&share, 0.0, None), "kept");
        assert_eq!(of_objective(&share, 0.001, Some((0.0, 0.01))), "broken");
        let makespan = none("makespan", true);
        assert_eq!(of_objective(&makespan, 0.0, None), "undecided");
    }
}
