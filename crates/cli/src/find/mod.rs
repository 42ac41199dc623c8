//! `plimsoll find`: the Plimsoll line of a service. Each trial is a run of this very program at a rate, reached by its
//! command line and the record it leaves, so that a trial is what a user would have run by hand.

mod account;
mod answer;
mod curve;
mod subject;
mod trial;
mod users;

use std::time::Duration;

use plimsoll_stats::limit::{Limit, LimitSearch, LimitSettings, Step};

use crate::args::FindArgs;
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
    let bounds = args.objectives.iter().map(|objective| objective.bound);
    let bound = bounds.max().unwrap_or_default();
    let mut users = subject.users();
    let mut trials: Vec<Trial> = Vec::new();
    let limit = loop {
        let step = search.step();
        let (rate, soak) = match step {
            Step::Try(rate) => (rate, false),
            Step::Soak(rate) => (rate, true),
            Step::Done(limit) => break limit,
        };
        let length = if soak { args.soak } else { args.trial };
        let outcome = loop {
            let allowed = users.allowed(rate, bound);
            let record = subject.run(rate, length, args.warm_up, allowed)?;
            let trial = Trial::of(args, rate, soak, &record)?;
            say(&trial.line(args));
            let iteration = Duration::try_from_secs_f64(trial.iteration / 1e3).unwrap_or_default();
            let is_repeated = trial.short_of_users && users.raise(rate, bound, iteration);
            let outcome = trial.outcome();
            trials.push(trial);
            if !is_repeated {
                break outcome;
            }
        };
        search.record(step, outcome);
    };
    let answer = answer::sentence(args, &trials, &limit);
    Account {
        args,
        trials: &trials,
        limit,
        answer: &answer,
    }
    .put();
    Ok(match limit {
        Limit {
            confirmed: false, ..
        } => Exit::UNCERTAIN,
        Limit { kept: None, .. } => Exit::NOT_EVEN_THE_LEAST,
        _ => Exit::SUCCESS,
    })
}
