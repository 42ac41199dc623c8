//! `plimsoll find`: the Plimsoll line of a service. Each trial is a run of this very program at a rate, reached by its
//! command line and the record it leaves, so that a trial is what a user would have run by hand.

mod account;
mod curve;
mod subject;
mod trial;

use std::collections::BTreeSet;

use stats::limit::{Limit, LimitSearch, LimitSettings, Step};

use crate::args::{FindArgs, Objective};
use crate::exit::Exit;
use crate::talk::{complain, say};
use account::Account;
use subject::Subject;
use trial::Trial;

/// Searches, and says what was found.
pub fn find(args: &FindArgs) -> Exit {
    match run(args) {
        Ok(exit) => exit,
        Err(text) => {
            complain(&text);
            Exit::GENERIC
        }
    }
}

fn run(args: &FindArgs) -> Result<Exit, String> {
    let subject = Subject::of(&args.command)?;
    let mut search = LimitSearch::new(LimitSettings {
        start: args.start,
        least: 1,
        most: args.most,
        precision: args.precision,
        repeats: args.repeats,
        trials: args.trials,
        seed: 1,
    });
    let mut trials: Vec<Trial> = Vec::new();
    // Rates that the generator could not make; above what it can, there is nothing to be known.
    let mut void: BTreeSet<u64> = BTreeSet::new();
    let limit = loop {
        let step = search.step();
        let (rate, soak) = match step {
            Step::Try(rate) => (rate, false),
            Step::Soak(rate) => (rate, true),
            Step::Done(limit) => break limit,
        };
        let length = if soak { args.soak } else { args.trial };
        let kept = loop {
            let record = subject.run(rate, length, args.warm_up)?;
            let trial = Trial::of(args, rate, soak, &record)?;
            say(&trial.line(args));
            trials.push(trial);
            match weigh(&trials, void.contains(&rate)) {
                Weight::Counts(kept) => break kept,
                Weight::Again => {}
                Weight::Void => {
                    void.insert(rate);
                    break false;
                }
            }
        };
        if kept {
            // It could make that rate, and so lower ones.
            void.retain(|above| *above > rate);
        }
        search.record(step, kept);
        let has_kept = trials.iter().any(|trial| trial.broken.is_empty());
        if !has_kept && void.len() >= HOPELESS {
            return Ok(bounded_by_generator(args, &trials, None, &void));
        }
    };
    let limit = with_known(limit, &trials);
    Ok(match limit.broken {
        Some(broken) if void.contains(&broken) => {
            bounded_by_generator(args, &trials, limit.kept, &void)
        }
        _ => conclude(args, &trials, limit),
    })
}

/// What the latest trial is worth.
#[derive(Debug, PartialEq, Eq)]
enum Weight {
    /// It kept the objective, or did not.
    Counts(bool),
    /// It did not, and the generator may be why.
    Again,
    /// The generator was why, each time.
    Void,
}

/// How often a rate is tried again at which the generator failed.
const PATIENCE: usize = 4;
/// After so many rates that the generator could not make, each lower than the last, with none
/// that was kept, it is not the rate that is too much for it.
const HOPELESS: usize = 3;

/// A rate that was not kept while the generator itself was in trouble is tried again: a
/// moment's trouble of the machine is no limit of the service. Trouble in the generator
/// alone says nothing of the service, and the search goes on below that rate, which was
/// `void` before if it comes back to it; where the figures can be trusted half, two failures
/// count.
fn weigh(trials: &[Trial], void: bool) -> Weight {
    let Some(last) = trials.last() else {
        return Weight::Again;
    };
    if last.broken.is_empty() {
        return Weight::Counts(true);
    }
    let same = |trial: &&Trial| (trial.rate, trial.soak) == (last.rate, last.soak);
    let failed: Vec<&Trial> = trials
        .iter()
        .rev()
        .take_while(same)
        .take_while(|trial| !trial.broken.is_empty())
        .collect();
    let doubted = |level: &str| {
        let by_client = last
            .reasons
            .iter()
            .any(|reason| reason.starts_with("client"));
        by_client && last.verdict == level
    };
    if doubted("invalid") {
        if failed.len() < PATIENCE && !void {
            Weight::Again
        } else {
            Weight::Void
        }
    } else if doubted("suspect") && failed.len() < 2 {
        Weight::Again
    } else {
        Weight::Counts(false)
    }
}

/// A search whose trials ran out may not have come to try its lower end again. What is known then
/// is the highest rate below the upper end that was kept each time it was tried.
fn with_known(limit: Limit, trials: &[Trial]) -> Limit {
    if limit.confirmed || limit.kept.is_some() {
        return limit;
    }
    let is_kept = |rate: u64| {
        let mut same = trials.iter().filter(|trial| trial.rate == rate);
        same.all(|trial| trial.broken.is_empty())
    };
    let rates = trials.iter().map(|trial| trial.rate);
    let kept = rates
        .filter(|rate| limit.broken.is_none_or(|broken| *rate < broken) && is_kept(*rate))
        .max();
    Limit { kept, ..limit }
}

/// The generator was the bottleneck above what was kept: that is a lower bound.
fn bounded_by_generator(
    args: &FindArgs,
    trials: &[Trial],
    kept: Option<u64>,
    void: &BTreeSet<u64>,
) -> Exit {
    let lowest = void.first().copied().unwrap_or(0);
    let last = trials.iter().rev().find(|trial| trial.rate == lowest);
    let why = last.map_or(String::new(), |trial| trial.reasons.join("; "));
    let known = match kept {
        None => "No rate was kept.".to_owned(),
        Some(kept) => {
            let soaked = trials
                .iter()
                .any(|trial| trial.soak && trial.rate == kept && trial.broken.is_empty());
            let how = match soaked {
                true => format!("was held for {}", units::duration::format(args.soak)),
                false => "was kept".to_owned(),
            };
            format!("It carries at least {kept}/s, which {how}.")
        }
    };
    let answer = format!(
        "The limit was not found: at {lowest}/s the generator was the bottleneck ({why}). {known}"
    );
    let limit = Limit {
        kept,
        broken: None,
        confirmed: false,
    };
    Account {
        args,
        trials,
        limit,
        answer: &answer,
    }
    .put();
    Exit::UNCERTAIN
}

fn conclude(args: &FindArgs, trials: &[Trial], limit: Limit) -> Exit {
    let objective: Vec<&str> = args
        .objectives
        .iter()
        .map(|objective: &Objective| objective.text.as_str())
        .collect();
    let objective = objective.join(" and ");
    let doubts = trials
        .iter()
        .filter(|trial| trial.verdict != "valid")
        .count();
    let mut text = match (limit.kept, limit.broken) {
        (Some(kept), Some(broken)) => {
            format!("It carries {kept}/s with {objective}, and no longer {broken}/s.")
        }
        (Some(kept), None) => format!(
            "It carries {kept}/s with {objective}, and no higher rate was tried; raise --most."
        ),
        (None, _) if limit.confirmed => {
            format!("It does not keep {objective} at any rate, not even at one request a second.")
        }
        (None, _) => format!("No rate is known that keeps {objective}."),
    };
    match (limit.kept, limit.confirmed) {
        (Some(kept), true) => {
            text += &format!(
                " {kept}/s was held for {soak}; {n} trials.",
                soak = units::duration::format(args.soak),
                n = trials.len()
            );
        }
        (None, true) => {}
        (_, false) => {
            text += &format!(
                " This is not certain: {} trials were too few; raise --trials or --trial.",
                trials.len()
            );
        }
    }
    if doubts > 0 {
        text += &format!(
            " In {doubts} of {} trials the generator's own figures were in doubt.",
            trials.len()
        );
    }
    Account {
        args,
        trials,
        limit,
        answer: &text,
    }
    .put();
    match limit {
        Limit {
            confirmed: false, ..
        } => Exit::UNCERTAIN,
        Limit { kept: None, .. } => Exit::NOT_EVEN_THE_LEAST,
        _ => Exit::SUCCESS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(rate: u64, verdict: &str, broken: bool) -> Trial {
        Trial {
            rate,
            soak: false,
            served: rate as f64,
            failed: 0.0,
            metric: "http_req_response_time",
            figures: vec![1.0],
            in_flight: 1.0,
            by_little: 1.0,
            verdict: verdict.to_owned(),
            reasons: match verdict {
                "valid" => Vec::new(),
                _ => vec!["client: it was slow".to_owned()],
            },
            broken: if broken {
                vec!["not p95<1ms".to_owned()]
            } else {
                Vec::new()
            },
        }
    }

    #[test]
    fn a_search_that_ran_out_knows_what_was_kept_each_time() {
        let limit = |kept, confirmed| Limit {
            kept,
            broken: Some(9),
            confirmed,
        };
        let trials: Vec<Trial> = [(4, false), (8, false), (8, true), (6, false), (9, true)]
            .map(|(rate, broken)| trial(rate, "valid", broken))
            .into();
        assert_eq!(with_known(limit(None, false), &trials).kept, Some(6));
        assert_eq!(with_known(limit(Some(5), false), &trials).kept, Some(5));
        assert_eq!(with_known(limit(None, true), &trials).kept, None);
        assert_eq!(with_known(limit(None, false), &trials[2..3]).kept, None);
    }

    #[test]
    fn a_failure_in_doubt_is_tried_again() {
        let of = |trials: &[(u64, &str, bool)]| {
            let trials: Vec<Trial> = trials.iter().map(|(r, v, b)| trial(*r, v, *b)).collect();
            weigh(&trials, false)
        };
        assert_eq!(of(&[(5, "valid", true)]), Weight::Counts(false));
        assert_eq!(of(&[(5, "invalid", false)]), Weight::Counts(true));
        assert_eq!(of(&[(5, "suspect", true)]), Weight::Again);
        assert_eq!(of(&[(5, "suspect", true); 2]), Weight::Counts(false));
        assert_eq!(
            of(&[(5, "suspect", true), (5, "suspect", false)]),
            Weight::Counts(true)
        );
        // What another rate came to is no failure of this one.
        assert_eq!(
            of(&[(4, "suspect", true), (5, "suspect", true)]),
            Weight::Again
        );
        assert_eq!(of(&[(5, "invalid", true); 3]), Weight::Again);
        assert_eq!(of(&[(5, "invalid", true); 4]), Weight::Void);
        let again = [trial(5, "invalid", true)];
        assert_eq!(weigh(&again, true), Weight::Void);
        let carried = [trial(5, "invalid", false)];
        assert_eq!(weigh(&carried, true), Weight::Counts(true));
    }
}
