//! The report of a search, and the earlier search to compare it with.

use std::time::SystemTime;

use plimsoll_output::wall_clock;
use plimsoll_report::search::SearchReport;
use plimsoll_results::environment::Environment;
use plimsoll_results::secrets;
use plimsoll_run::Refusal;
use plimsoll_search::Found;
use plimsoll_search::fail_on::Earlier;

use crate::args::ReportArgs;

/// The search of `--baseline`.
pub fn earlier(args: &ReportArgs) -> Result<Option<Earlier>, Refusal> {
    let Some(path) = &args.baseline else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    text.and_then(|text| Earlier::parse(&text))
        .map(Some)
        .map_err(|error| Refusal::config(format!("--baseline {path}: {error}")))
}

/// The report of a search that took `seconds`.
pub fn report(found: &Found, started: SystemTime, seconds: f64) -> SearchReport {
    let objectives = found.settings.objectives.iter();
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    SearchReport {
        plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
        started: wall_clock::rfc3339(started, 0),
        seconds,
        command: secrets::in_arguments(words),
        environment: Environment::here(),
        objectives: objectives.map(|objective| objective.text.clone()).collect(),
        answer: found.answer.clone(),
        is_confirmed: found.limit.confirmed,
        is_met: found.limit.kept.is_some(),
        further: if found.trials.len() > 1 {
            found.further()
        } else {
            Vec::new()
        },
        plot: found.plot().filter(|_| found.trials.len() > 1),
        trials: found.rows(),
        json: found.json(),
    }
}
