//! Judges a run by the conditions of `--fail-on`, both on its own and compared with another run.

use plimsoll_results::fail_on::{self, Condition, Failures};
use plimsoll_results::figures::{self, Figure};
use plimsoll_results::record::Record;

use crate::{Comparison, Settings, Skip, records};

/// The figures by which runs are compared.
const DEFAULT_FIGURES: [&str; 6] = ["rate", "failed", "mean", "p50", "p95", "p99"];

/// A record with its name in messages.
pub type Named<'a> = (&'a str, &'a Record);

/// Whether configurations and machines may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differences {
    /// Runs with different configurations or machines are not compared.
    Refused,
    /// The differences are listed.
    Listed,
}

/// Judges each condition, by the run itself or by its comparison with `baseline`. Without a baseline, conditions that
/// need one are not met.
pub fn judge(
    conditions: &[Condition],
    run: Named<'_>,
    baseline: Option<Named<'_>>,
    differences: Differences,
) -> Vec<(Condition, Failures)> {
    conditions
        .iter()
        .map(|condition| {
            let alone = std::slice::from_ref(condition);
            let failures = match baseline {
                Some(baseline) if condition.compares() => {
                    match two_runs(alone, baseline, run, differences) {
                        Ok(comparison) => comparison.failures,
                        Err(error) => Failures {
                            open: vec![format!("{}: {error}", condition.name())],
                            ..Failures::default()
                        },
                    }
                }
                _ => fail_on::judge(alone, run.0, run.1),
            };
            (condition.clone(), failures)
        })
        .collect()
}

/// Compares two runs by the default figures and those that conditions name.
///
/// # Errors
/// If they cannot be compared.
pub fn two_runs(
    conditions: &[Condition],
    a: Named<'_>,
    b: Named<'_>,
    differences: Differences,
) -> Result<Comparison, String> {
    let mut compared: Vec<&'static Figure> = DEFAULT_FIGURES
        .iter()
        .filter_map(|name| figures::find(name).ok())
        .collect();
    for condition in conditions {
        if let Condition::Beyond { figure, .. } = condition
            && !compared.iter().any(|known| known.name == figure.name)
        {
            compared.push(figure);
        }
    }
    let is_any = differences == Differences::Listed;
    let settings = Settings {
        pairs: 1,
        noise: None,
        figures: compared,
        fail_on: conditions.to_vec(),
        skip: Skip::WarmUp,
        any_configuration: is_any,
        any_environment: is_any,
        store: None,
    };
    records(&settings, (a.0, a.1.clone()), (b.0, b.1.clone()))
}
