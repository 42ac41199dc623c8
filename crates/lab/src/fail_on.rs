//! Judges the result of a lab by the conditions of `--fail-on`.

use plimsoll_results::change_text::{changed, increase};
use plimsoll_results::fail_on::{Condition, Failures};
use plimsoll_results::lab::{CellState, Comparison, LabResult, Outcome};

/// Judges a result. If the lab declares primary comparisons, only those count.
pub fn failures(conditions: &[Condition], result: &LabResult) -> Failures {
    let mut failures = Failures::default();
    for condition in conditions {
        match condition {
            Condition::Invalid => cells(result, &["invalid"], &mut failures),
            Condition::Suspect => cells(result, &["invalid", "suspect"], &mut failures),
            Condition::Objective => objectives(result, &mut failures),
            Condition::Regression => regressions(result, &mut failures),
            Condition::Difference => {
                with(result, &[Outcome::Larger, Outcome::Smaller], &mut failures);
            }
            Condition::Uncertain => with(result, &[Outcome::Uncertain], &mut failures),
            // `Condition::parse_name` does not accept it for a lab.
            Condition::Beyond { text, .. } => failures
                .open
                .push(format!("{text}: a lab has no such condition")),
        }
    }
    failures
}

fn cells(result: &LabResult, verdicts: &[&str], failures: &mut Failures) {
    for cell in &result.cells {
        match &cell.state {
            CellState::LeftOut => {}
            CellState::Measured if verdicts.contains(&cell.verdict.as_str()) => {
                let why = cell.reasons.first().map_or("", String::as_str);
                failures
                    .found
                    .push(format!("{} is {}: {why}", cell.name, cell.verdict));
            }
            CellState::Measured => {}
            _ => failures
                .found
                .push(format!("{} was not measured", cell.name)),
        }
    }
}

fn objectives(result: &LabResult, failures: &mut Failures) {
    if result.objectives.is_empty() {
        failures.open.push(
            "no objective was judged: the lab has none, or no cell has the figure".to_owned(),
        );
    }
    for one in &result.objectives {
        let (objective, cell) = (&one.objective, &one.cell);
        let text = format!(
            "{cell}: {objective}: {} ({:.3} {})",
            one.text(),
            one.measured,
            one.unit
        );
        match one.verdict.as_str() {
            "kept" => {}
            "broken" => failures.found.push(text),
            _ => failures.open.push(text),
        }
    }
}

fn regressions(result: &LabResult, failures: &mut Failures) {
    if compared(result).next().is_none() {
        failures.open.push("the lab compares no cells".to_owned());
    }
    for one in compared(result) {
        let ratio = one.ratio.unwrap_or(1.0);
        match (one.outcome, is_larger_better(result, one)) {
            (Outcome::NotMeasured, _) => {
                let open = format!("{}: not measured: {}", comparison_name(one), one.method);
                failures.open.push(open);
            }
            (Outcome::Larger, Some(false)) | (Outcome::Smaller, Some(true)) => {
                let change = changed(&increase(ratio));
                failures
                    .found
                    .push(format!("{} {change}", comparison_name(one)));
            }
            _ => {}
        }
    }
}

/// Adds the comparisons with one of these outcomes.
fn with(result: &LabResult, outcomes: &[Outcome], failures: &mut Failures) {
    failures.found.extend(
        compared(result)
            .filter(|one| outcomes.contains(&one.outcome))
            .map(|one| format!("{}: {}", comparison_name(one), one.text())),
    );
}

/// The comparisons that count.
fn compared(result: &LabResult) -> impl Iterator<Item = &Comparison> {
    let has_primary = result.comparisons.iter().any(|one| one.primary);
    let all = result.comparisons.iter();
    all.filter(move |one| one.primary || !has_primary)
}

/// Whether a larger figure is better, if known.
fn is_larger_better(result: &LabResult, one: &Comparison) -> Option<bool> {
    let mut figures = result.cells.iter().flat_map(|cell| &cell.figures);
    let figure = figures.find(|figure| figure.name == one.figure)?;
    figure.better.as_deref().map(|better| better == "more")
}

fn comparison_name(one: &Comparison) -> String {
    format!("{} of {} against {}", one.figure, one.cells.1, one.cells.0)
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::{Cell, Figure, ObjectiveOutcome};

    use super::*;

    fn result(outcome: Outcome, ratio: f64) -> LabResult {
        let figure = |name: &str, better: &str| Figure {
            name: name.to_owned(),
            better: Some(better.to_owned()),
            ..Figure::default()
        };
        let compared = |figure: &str| Comparison {
            cells: ("main".to_owned(), "change".to_owned()),
            figure: figure.to_owned(),
            outcome,
            ratio: Some(ratio),
            method: "too few pairs".to_owned(),
            ..Comparison::default()
        };
        LabResult {
            cells: vec![Cell {
                name: "main".to_owned(),
                state: CellState::Measured,
                verdict: "suspect".to_owned(),
                reasons: vec!["the generator was at its limit".to_owned()],
                figures: vec![
                    figure("latency_p95", "less"),
                    figure("requests_per_second", "more"),
                ],
                ..Cell::default()
            }],
            comparisons: vec![compared("latency_p95"), compared("requests_per_second")],
            ..LabResult::default()
        }
    }

    #[test]
    fn only_a_worse_figure_is_a_regression() {
        let larger = failures(&[Condition::Regression], &result(Outcome::Larger, 1.3));
        assert_eq!(
            larger.found,
            ["latency_p95 of change against main changed by +30.0 %"]
        );
        let smaller = failures(&[Condition::Regression], &result(Outcome::Smaller, 0.5));
        assert_eq!(
            smaller.found,
            ["requests_per_second of change against main changed by -50.0 %"]
        );
        let equal = failures(
            &[Condition::Regression],
            &result(Outcome::NoDifference, 1.01),
        );
        assert_eq!(equal, Failures::default());
        let uncertain = result(Outcome::Uncertain, 1.2);
        assert_eq!(
            failures(&[Condition::Regression], &uncertain),
            Failures::default()
        );
        assert_eq!(failures(&[Condition::Uncertain], &uncertain).found.len(), 2);
    }

    #[test]
    fn unmeasured_conditions_are_not_judged() {
        let found = failures(&[Condition::Regression], &result(Outcome::NotMeasured, 1.0));
        assert!(found.found.is_empty());
        assert_eq!(
            found.open[0],
            "latency_p95 of change against main: not measured: too few pairs"
        );
    }

    #[test]
    fn only_primary_comparisons_count() {
        let mut result = result(Outcome::Larger, 1.3);
        result.comparisons[1].primary = true;
        assert_eq!(
            failures(&[Condition::Regression], &result),
            Failures::default()
        );
    }

    #[test]
    fn cells_fail_by_their_verdicts() {
        let mut result = result(Outcome::NoDifference, 1.0);
        assert_eq!(
            failures(&[Condition::Invalid], &result),
            Failures::default()
        );
        assert_eq!(
            failures(&[Condition::Suspect], &result).found,
            ["main is suspect: the generator was at its limit"]
        );
        result.cells[0].state = CellState::Failed("no port".to_owned());
        assert_eq!(
            failures(&[Condition::Invalid], &result).found,
            ["main was not measured"]
        );
    }

    #[test]
    fn objectives_are_met_missed_or_undecided() {
        let mut result = result(Outcome::NoDifference, 1.0);
        let none = failures(&[Condition::Objective], &result);
        assert_eq!((none.found.len(), none.open.len()), (0, 1));
        for verdict in ["kept", "broken", "undecided"] {
            result.objectives.push(ObjectiveOutcome {
                objective: "p95 at most 50ms".to_owned(),
                cell: "main".to_owned(),
                measured: 61.0,
                unit: "ms".to_owned(),
                verdict: verdict.to_owned(),
                ..ObjectiveOutcome::default()
            });
        }
        let judged = failures(&[Condition::Objective], &result);
        assert_eq!(judged.found, ["main: p95 at most 50ms: missed (61.000 ms)"]);
        assert_eq!(judged.open.len(), 1);
    }
}
