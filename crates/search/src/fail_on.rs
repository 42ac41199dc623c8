//! Judges the result of a search by the conditions of `--fail-on`.

use plimsoll_results::fail_on::{Condition, Failures};
use serde_json::Value;

use crate::SearchResult;

/// The rates of an earlier search, to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlierSearch {
    /// The highest rate that met the objective.
    kept: Option<u64>,
    /// The lowest rate that did not.
    broken: Option<u64>,
}

impl EarlierSearch {
    /// Reads the output of `find --json`.
    ///
    /// # Errors
    /// If the input is not an earlier search. The message describes what it is.
    pub fn parse(text: &str) -> Result<EarlierSearch, String> {
        const HOW_TO_WRITE_ONE: &str = "write one with plimsoll find --json > FILE";
        let value: Value = serde_json::from_str(text).map_err(|error| {
            format!("it is not the result of a search ({error}); {HOW_TO_WRITE_ONE}")
        })?;
        if value["schema"] != "plimsoll/find-result/1" {
            return Err(format!(
                "it is not the result of a search; {HOW_TO_WRITE_ONE}"
            ));
        }
        Ok(EarlierSearch {
            kept: value["kept"].as_u64(),
            broken: value["broken"].as_u64(),
        })
    }
}

/// The lower and the upper bound of the result.
struct Bounds {
    kept: u64,
    broken: u64,
}

impl Bounds {
    fn of(kept: Option<u64>, broken: Option<u64>) -> Bounds {
        Bounds {
            kept: kept.unwrap_or(0),
            broken: broken.unwrap_or(u64::MAX),
        }
    }
}

/// Judges one condition. `earlier` is the search to compare with.
pub fn judge(
    condition: &Condition,
    found: &SearchResult,
    earlier: Option<&EarlierSearch>,
) -> Failures {
    let mut failures = Failures::default();
    let limit = &found.limit;
    let name = condition.name();
    match condition {
        Condition::Invalid if limit.generator.is_some() => {
            failures.found.push(found.answer.clone())
        }
        Condition::Suspect if limit.generator.is_some() || !limit.confirmed => {
            failures.found.push(found.answer.clone());
        }
        Condition::Objective if limit.kept.is_none() => {
            let sentences = match limit.confirmed {
                true => &mut failures.found,
                false => &mut failures.open,
            };
            sentences.push(found.answer.clone());
        }
        _ => {}
    }
    let Some(earlier) = earlier.filter(|_| condition.compares()) else {
        return failures;
    };
    if !limit.confirmed {
        failures.open.push(format!("{name}: {}", found.answer));
        return failures;
    }
    let before = Bounds::of(earlier.kept, earlier.broken);
    let now = Bounds::of(limit.kept, limit.broken);
    let (lower, higher) = (now.broken <= before.kept, now.kept >= before.broken);
    let text = format!(
        "{name}: the highest rate was from {}/s to {}/s, and is from {}/s to {}/s",
        before.kept, before.broken, now.kept, now.broken
    );
    let is_met = match condition {
        Condition::Regression => lower,
        Condition::Difference => lower || higher,
        // The intervals overlap but differ, so the rate may be lower.
        Condition::Uncertain => {
            !lower && !higher && (now.kept, now.broken) != (before.kept, before.broken)
        }
        _ => false,
    };
    if is_met {
        failures.found.push(text);
    }
    failures
}

#[cfg(test)]
mod tests {
    use plimsoll_stats::limit::Limit;

    use super::*;
    use crate::trial::tests::settings;

    fn found(kept: Option<u64>, broken: Option<u64>, confirmed: bool) -> SearchResult {
        SearchResult {
            settings: settings("p95<50ms", 0.001),
            trials: Vec::new(),
            limit: Limit {
                kept,
                broken,
                confirmed,
                generator: None,
                drift: None,
            },
            answer: "the result".to_owned(),
        }
    }

    #[test]
    fn a_lower_limit_is_a_regression() {
        let text = r#"{"schema": "plimsoll/find-result/1", "kept": 1000, "broken": 1020}"#;
        let earlier = EarlierSearch::parse(text).expect("a result");
        let judge = |condition, kept, broken, confirmed| {
            super::judge(
                &condition,
                &found(Some(kept), Some(broken), confirmed),
                Some(&earlier),
            )
        };
        let lower = judge(Condition::Regression, 900, 920, true);
        assert_eq!(
            lower.found,
            ["regression: the highest rate was from 1000/s to 1020/s, and is from 900/s to 920/s"]
        );
        assert_eq!(
            judge(Condition::Regression, 990, 1010, true),
            Failures::default()
        );
        assert_eq!(judge(Condition::Uncertain, 990, 1010, true).found.len(), 1);
        assert_eq!(
            judge(Condition::Difference, 1020, 1040, true).found.len(),
            1
        );
        assert_eq!(judge(Condition::Regression, 900, 920, false).open.len(), 1);
        assert!(EarlierSearch::parse("{}").is_err() && EarlierSearch::parse("no").is_err());
    }

    #[test]
    fn an_objective_is_missed_or_not_judged() {
        let of =
            |kept, confirmed| judge(&Condition::Objective, &found(kept, None, confirmed), None);
        assert_eq!(of(Some(5), true), Failures::default());
        assert_eq!(of(None, true).found, ["the result"]);
        assert_eq!(of(None, false).open, ["the result"]);
        let suspect = judge(&Condition::Suspect, &found(Some(5), None, false), None);
        assert_eq!(suspect.found, ["the result"]);
    }
}
