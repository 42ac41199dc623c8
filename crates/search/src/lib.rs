//! Searches for the highest rate at which a service meets an objective.
//!
//! A trial is a run of a load command at one rate. The caller runs it, and the search reads the record that it writes.
//! So the search itself starts no process and prints nothing. The decisions (which rate to try next, when the interval
//! is narrow enough) are in `plimsoll_stats::limit`.

mod command;
mod curve;
pub mod fail_on;
mod found;
mod sentence;
mod settings;
mod trial;
mod unusable;
mod users;

use std::time::Duration;

use plimsoll_results::record::Record;
use plimsoll_stats::limit::{LimitSearch, LimitSettings, Step};

pub use command::LoadCommand;
pub use found::SearchResult;
pub use plimsoll_results::objective::Objective;
pub use settings::Settings;
pub use trial::Trial;

/// Runs a trial, and returns the record that it writes.
pub type RunTrial<'a> = dyn FnMut(&TrialCommand<'_>) -> Result<Record, String> + 'a;

/// A trial to run.
#[derive(Clone, Copy, Debug)]
pub struct TrialCommand<'a> {
    /// Its name for messages.
    pub name: &'a str,
    /// The arguments for this program.
    pub words: &'a [String],
    /// The rate in requests per second.
    pub rate: u64,
    /// Its duration, including the warm-up.
    pub duration: Duration,
}

/// Runs the search. `run` runs a trial. `report` receives each trial and a line about it.
///
/// # Errors
/// If a trial cannot be run or writes no usable record, or if every request fails at any rate.
pub fn search(
    settings: Settings,
    command: &LoadCommand,
    run: &mut RunTrial<'_>,
    report: &mut dyn FnMut(&Trial, &str),
) -> Result<SearchResult, String> {
    let mut search = LimitSearch::new(LimitSettings {
        start: settings.start,
        least: 1,
        most: settings.most,
        precision: settings.precision,
        repeats: settings.repeats,
        trials: settings.trials,
        seed: 1,
    });
    let bounds = settings.objectives.iter().map(|objective| objective.bound);
    let bound = bounds.max().unwrap_or_default();
    let mut users = command.users();
    let mut trials: Vec<Trial> = Vec::new();
    let limit = loop {
        let step = search.step();
        let (rate, soak) = match step {
            Step::Try(rate) => (rate, false),
            Step::Soak(rate) => (rate, true),
            Step::Done(limit) => break limit,
        };
        let length = match soak {
            true => settings.soak,
            false => settings.trial_at(rate),
        };
        let outcome = loop {
            let allowed = users.allowed(rate, bound);
            let words = command.at_rate(rate, length, settings.warm_up, allowed);
            let record = run(&TrialCommand {
                name: &format!("the trial at {rate}/s"),
                words: &words,
                rate,
                duration: settings.warm_up + length,
            })?;
            let trial = Trial::of(&settings, rate, soak, &record)?;
            report(&trial, &trial.line(&settings));
            if trials.is_empty() && trial.failed >= 1.0 {
                unusable::refuse_unusable(&settings, command, run, report)?;
            }
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
    let answer = sentence::sentence(&settings, &trials, &limit);
    Ok(SearchResult {
        settings,
        trials,
        limit,
        answer,
    })
}
