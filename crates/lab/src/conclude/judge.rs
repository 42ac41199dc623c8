//! Objectives and comparisons.

use results::lab::{Cell as Written, Comparison, ObjectiveOutcome, Outcome};
use stats::comparison::{Conclusion, Incomparable, compare, holm};

use super::repeat::Measured;
use crate::resolve::conclusions::{Compared, FIGURES, Objective};
use crate::resolve::{Cell, Lab};

/// Which figures are compared where nobody says.
const HEADLINES: [&str; 6] = [
    "requests_per_second",
    "latency_p95",
    "cpu_seconds_per_thousand",
    "makespan",
    "throughput",
    "limit",
];

/// The level of every test.
pub(super) const LEVEL: f64 = 0.05;

/// What each objective came to in each of its cells that has figures.
pub fn objectives(
    lab: &Lab,
    written: &[Written],
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
    written: &Written,
    measured: &[Measured],
) -> Option<ObjectiveOutcome> {
    let figure = written
        .figures
        .iter()
        .find(|figure| figure.name == objective.figure)?;
    let within = objective.figure.starts_with("latency_p").then(|| {
        let (mut below, mut all) = (0.0, 0.0);
        for (edge, count) in measured.iter().flat_map(|one| &one.repeat.latency.buckets) {
            all += *count as f64;
            if *edge <= objective.limit {
                below += *count as f64;
            }
        }
        if all > 0.0 { below / all } else { 0.0 }
    });
    Some(ObjectiveOutcome {
        objective: objective.text.clone(),
        cell: cell.name.clone(),
        measured: figure.value,
        limit: objective.limit,
        unit: figure.unit.clone(),
        verdict: of_objective(objective, figure.value, figure.interval).to_owned(),
        within,
    })
}

/// That nothing fails at all can be asked of what was counted only: no finite number of
/// requests shows that the share of those to come is nothing.
fn of_objective(objective: &Objective, value: f64, interval: Option<(f64, f64)>) -> &'static str {
    let asks_for_none = objective.at_most && objective.limit == 0.0;
    match objective.figure.as_str() {
        "failed_share" if asks_for_none && value > 0.0 => "broken",
        "failed_share" if asks_for_none => "kept",
        _ => verdict(value, interval, objective.limit, objective.at_most),
    }
}

/// `kept`, `broken` or `undecided`. Without an interval only the figure itself can speak,
/// and it cannot decide.
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
        None if holds(value) => "undecided",
        None => "broken",
        Some((low, high)) => match (holds(low), holds(high)) {
            (true, true) => "kept",
            (false, false) => "broken",
            _ => "undecided",
        },
    }
}

/// Every comparison that the lab asks for, with p values after Holm over all of them.
pub fn comparisons(lab: &Lab, written: &[Written]) -> Vec<Comparison> {
    let mut all = Vec::new();
    for compared in &lab.compared {
        for (base, other) in pairs(lab, compared, written) {
            for figure in figures_of(compared, base, other) {
                all.extend(comparison(&compared.axis, &figure, base, other));
            }
        }
    }
    correct(&mut all);
    all
}

/// Cells that differ in the axis alone, where either is run.
pub(super) fn pairs<'a>(
    lab: &Lab,
    compared: &Compared,
    written: &'a [Written],
) -> Vec<(&'a Written, &'a Written)> {
    let cells = || {
        lab.cells
            .iter()
            .zip(written)
            .filter(|(cell, _)| cell.chosen)
    };
    let rest = |cell: &Cell| -> Vec<(String, String)> {
        let of = cell
            .coordinates
            .0
            .iter()
            .filter(|(axis, _)| *axis != compared.axis);
        of.cloned().collect()
    };
    let mut pairs = Vec::new();
    for (cell, base) in cells() {
        if cell.coordinates.get(&compared.axis) != Some(&compared.base)
            || !compared.when.holds(&cell.coordinates)
        {
            continue;
        }
        for value in &compared.against {
            let other = cells().find(|(other, _)| {
                other.coordinates.get(&compared.axis) == Some(value) && rest(other) == rest(cell)
            });
            pairs.extend(other.map(|(_, other)| (base, other)));
        }
    }
    pairs
}

pub(super) fn figures_of(compared: &Compared, base: &Written, other: &Written) -> Vec<String> {
    if !compared.figures.is_empty() {
        return compared.figures.clone();
    }
    let has = |cell: &Written, name: &str| cell.figures.iter().any(|figure| figure.name == name);
    let there = HEADLINES
        .iter()
        .filter(|name| has(base, name) || has(other, name));
    there.map(|name| (*name).to_owned()).collect()
}

fn comparison(axis: &str, name: &str, base: &Written, other: &Written) -> Option<Comparison> {
    let figure = |cell: &'_ Written| {
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
        ratio: None,
        interval: None,
        method: String::new(),
        p: None,
        outcome: Outcome::NotJudged,
    };
    let (Some(first), Some(second)) = (first, second) else {
        comparison.method = "one of the cells has no such figure".to_owned();
        return Some(comparison);
    };
    if FIGURES.iter().any(|(known, _)| *known == name) && first.value > 0.0 {
        comparison.ratio = Some(second.value / first.value);
    }
    // Repeats of one number were run in the same round.
    let pairs: Vec<(f64, f64)> = first
        .repeats
        .iter()
        .copied()
        .zip(second.repeats.iter().copied())
        .collect();
    match compare(&pairs, LEVEL, None) {
        Ok(found) => {
            comparison.ratio = Some(found.ratio);
            comparison.interval = Some((found.low, found.high));
            comparison.p = Some(found.p);
            comparison.method = format!(
                "{} pairs of one round each; Hodges–Lehmann estimate of log ratios, exact Wilcoxon signed-rank test, Holm's correction",
                found.pairs
            );
            comparison.outcome = match found.conclusion {
                Conclusion::Different if found.ratio > 1.0 => Outcome::Larger,
                Conclusion::Different => Outcome::Smaller,
                _ => Outcome::WithinNoise,
            };
        }
        Err(Incomparable::TooFewPairs) => few(&mut comparison, &pairs),
        Err(Incomparable::NotPositive) => {
            comparison.method = "a figure that is not above zero has no ratio".to_owned();
        }
    }
    Some(comparison)
}

/// Below this many pairs nothing is known of how far pairs stray.
const LEAST_FOR_STUDENT: usize = 3;

/// Of three to five pairs, which is what a standard form has: a rank test cannot reach 5 %
/// whatever they say, so what is left is Student's paired t-test on the log ratios. It
/// takes them to be normally distributed, which so few cannot show; the method says so.
/// Nothing is gained by cutting runs into more pairs: parts of one run share what made
/// that run fast or slow, and would count it several times.
fn few(comparison: &mut Comparison, pairs: &[(f64, f64)]) {
    let least = stats::comparison::LEAST_PAIRS;
    let count = pairs.len();
    let told = format!(
        "{count} {} of one round each, and the exact rank test needs {least}",
        if count == 1 { "pair" } else { "pairs" }
    );
    if count < LEAST_FOR_STUDENT {
        comparison.method = told;
        return;
    }
    let positive = |value: f64| value.is_finite() && value > 0.0;
    if pairs.iter().any(|(a, b)| !positive(*a) || !positive(*b)) {
        comparison.method = "a figure that is not above zero has no ratio".to_owned();
        return;
    }
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
    let n = count as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    let half = stats::student::quantile(1.0 - LEVEL, n - 1.0) * error;
    comparison.ratio = Some(mean.exp());
    if error == 0.0 && mean != 0.0 {
        comparison.method =
            format!("{told}; no pair differs from another, so nothing is known of the noise");
        return;
    }
    let p = match error > 0.0 {
        true => stats::student::two_sided(mean / error, n - 1.0),
        false => 1.0,
    };
    comparison.interval = Some(((mean - half).exp(), (mean + half).exp()));
    comparison.p = Some(p);
    comparison.method = format!(
        "{told}: mean of log ratios and Student's paired t-test, which takes them to be normal; Holm's correction"
    );
    comparison.outcome = match (p <= LEVEL, mean > 0.0) {
        (false, _) => Outcome::WithinNoise,
        (true, true) => Outcome::Larger,
        (true, false) => Outcome::Smaller,
    };
}

/// Holm's correction over all tests; what does not stand it is within the noise.
fn correct(all: &mut [Comparison]) {
    let p: Vec<f64> = all.iter().filter_map(|one| one.p).collect();
    let tested = all.iter_mut().filter(|one| one.p.is_some());
    for (one, p) in tested.zip(holm(&p)) {
        one.p = Some(p);
        if p > LEVEL && one.outcome != Outcome::NotJudged {
            one.outcome = Outcome::WithinNoise;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::When;

    fn compared(pairs: &[(f64, f64)]) -> Comparison {
        let mut comparison = Comparison {
            axis: "a".to_owned(),
            cells: (String::new(), String::new()),
            place: Vec::new(),
            figure: "latency_p95".to_owned(),
            ratio: Some(2.0),
            interval: None,
            method: String::new(),
            p: None,
            outcome: Outcome::NotJudged,
        };
        few(&mut comparison, pairs);
        comparison
    }

    #[test]
    fn three_pairs_are_judged_by_students_test_and_fewer_are_not() {
        let found = compared(&[(10.0, 20.0), (11.0, 21.5), (9.0, 18.4)]);
        // Log ratios 0.6931, 0.6701, 0.7151: mean 0.69279, s 0.02248, so t = 53.4 with two
        // degrees of freedom; t(0.975, 2) = 4.3027 makes it 0.69279 ± 0.05584.
        assert_eq!(found.outcome, Outcome::Larger);
        let (low, high) = found.interval.unwrap();
        assert!((found.ratio.unwrap() - 1.9993).abs() < 1e-3, "{found:?}");
        assert!((low - 1.8907).abs() < 2e-3, "{low}");
        assert!((high - 2.1141).abs() < 2e-3, "{high}");
        assert!((found.p.unwrap() - 0.00035).abs() < 5e-5, "{found:?}");
        assert!(found.method.starts_with("3 pairs of one round each"));

        let found = compared(&[(10.0, 12.0), (10.0, 9.0), (10.0, 11.0)]);
        assert_eq!(found.outcome, Outcome::WithinNoise);
        let found = compared(&[(10.0, 20.0), (10.0, 20.1)]);
        assert_eq!((found.outcome, found.interval), (Outcome::NotJudged, None));
        assert!(found.method.contains("needs 6"), "{}", found.method);
        let found = compared(&[(10.0, 10.0); 3]);
        assert_eq!(found.outcome, Outcome::WithinNoise);
        let found = compared(&[(10.0, 20.0); 3]);
        assert_eq!((found.outcome, found.interval), (Outcome::NotJudged, None));
        assert_eq!(compared(&[(0.0, 1.0); 3]).outcome, Outcome::NotJudged);
    }

    #[test]
    fn an_objective_is_kept_only_by_its_whole_interval() {
        assert_eq!(verdict(40.0, Some((30.0, 45.0)), 50.0, true), "kept");
        assert_eq!(verdict(49.0, Some((45.0, 55.0)), 50.0, true), "undecided");
        assert_eq!(
            verdict(100.762, Some((100.1, 101.0)), 100.0, true),
            "broken"
        );
        assert_eq!(verdict(300.0, Some((290.0, 310.0)), 200.0, false), "kept");
        assert_eq!(verdict(40.0, None, 50.0, true), "undecided");
        assert_eq!(verdict(60.0, None, 50.0, true), "broken");
    }

    #[test]
    fn that_nothing_fails_is_asked_of_what_was_counted() {
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
