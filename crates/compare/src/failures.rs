//! Judges a comparison by the conditions of `--fail-on`.

use plimsoll_results::compare::Compared;
use plimsoll_stats::comparison::Outcome;

use crate::FailOn;

/// The results of `--fail-on`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Failures {
    /// Each a sentence.
    pub found: Vec<String>,
    /// The conditions that could not be judged.
    pub open: Vec<String>,
}

pub(crate) fn failures(conditions: &[FailOn], compared: &[Compared]) -> Failures {
    let mut failures = Failures::default();
    for condition in conditions {
        let (text, of): (&str, Vec<&Compared>) = match condition {
            FailOn::Regression => ("regression", compared.iter().collect()),
            FailOn::Difference => ("difference", compared.iter().collect()),
            FailOn::Uncertain => ("uncertain", compared.iter().collect()),
            FailOn::Beyond { text, figure, .. } => (
                text,
                compared
                    .iter()
                    .filter(|one| one.figure.name == figure.name)
                    .collect(),
            ),
        };
        if of.is_empty() {
            failures
                .open
                .push(format!("{text}: the figure is not among --figures"));
        }
        for one in of {
            let name = one.figure.name;
            if one.outcome == Outcome::Uncertain && *condition == FailOn::Uncertain {
                failures.found.push(format!("{text}: {name}"));
                continue;
            }
            if one.outcome == Outcome::NotMeasured {
                let why = one.why.as_deref().unwrap_or("it could not be compared");
                failures.open.push(format!("{text}: {name}: {why}"));
                continue;
            }
            let met = match condition {
                FailOn::Regression => one.is_worse(),
                FailOn::Difference => true,
                FailOn::Uncertain => false,
                FailOn::Beyond { bound, .. } => {
                    if *bound >= 0.0 {
                        one.effect() > *bound
                    } else {
                        one.effect() < *bound
                    }
                }
            };
            if met && one.is_different() {
                failures.found.push(format!(
                    "{text}: {name} changed by {:+.1} {}",
                    one.effect() * 100.0,
                    if one.is_difference() { "points" } else { "%" }
                ));
            }
        }
    }
    failures
}
