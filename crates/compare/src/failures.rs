//! Judges a comparison by the conditions of `--fail-on`.

use plimsoll_results::change_text::changed;
use plimsoll_results::compare::Compared;
use plimsoll_results::fail_on::{Condition, Failures};
use plimsoll_stats::comparison::Outcome;

/// Judges the conditions that compare figures.
pub(crate) fn failures(conditions: &[Condition], compared: &[Compared]) -> Failures {
    let mut failures = Failures::default();
    for condition in conditions.iter().filter(|condition| condition.compares()) {
        let text = condition.name();
        let all = compared.iter();
        let of: Vec<&Compared> = match condition {
            Condition::Beyond { figure, .. } => {
                all.filter(|one| one.figure.name == figure.name).collect()
            }
            _ => all.collect(),
        };
        if of.is_empty() {
            failures
                .open
                .push(format!("{text}: the figure is not among --figures"));
        }
        for one in of {
            let name = one.figure.name;
            if one.outcome == Outcome::Uncertain && *condition == Condition::Uncertain {
                failures.found.push(format!("{text}: {name}"));
                continue;
            }
            if one.outcome == Outcome::NotMeasured {
                let why = one.why.as_deref().unwrap_or("it could not be compared");
                failures.open.push(format!("{text}: {name}: {why}"));
                continue;
            }
            let met = match condition {
                Condition::Regression => one.is_worse(),
                Condition::Difference => true,
                Condition::Uncertain
                | Condition::Invalid
                | Condition::Suspect
                | Condition::Objective => false,
                Condition::Beyond { bound, .. } => {
                    if *bound >= 0.0 {
                        one.effect() > *bound
                    } else {
                        one.effect() < *bound
                    }
                }
            };
            if met && one.is_different() {
                let (change, _) = one.change_texts().unwrap_or_default();
                failures
                    .found
                    .push(format!("{text}: {name} {}", changed(&change)));
            }
        }
    }
    failures
}
