//! Stops a search whose requests always fail, for example because no server listens.

use std::collections::BTreeMap;

use plimsoll_results::record::End;

use crate::{LoadCommand, RunTrial, Settings, Trial, TrialCommand};

/// Runs a trial at one request per second, after a first trial whose requests all failed. The service may only have been
/// overloaded. If it fails at this rate as well, searching would spend minutes on a limit that does not exist.
///
/// # Errors
/// If every request failed, with the most frequent failure. If the trial cannot be run.
pub(crate) fn refuse_unusable(
    settings: &Settings,
    command: &LoadCommand,
    run: &mut RunTrial<'_>,
    report: &mut dyn FnMut(&Trial, &str),
) -> Result<(), String> {
    const RATE: u64 = 1;
    let words = command.at_rate(RATE, settings.trial, settings.warm_up, None);
    let record = run(&TrialCommand {
        name: "the trial at 1/s",
        words: &words,
        rate: RATE,
        duration: settings.warm_up + settings.trial,
    })?;
    let trial = Trial::of(settings, RATE, false, &record)?;
    report(&trial, &trial.line(settings));
    if trial.failed < 1.0 {
        return Ok(());
    }
    let why = record.end.as_ref().and_then(main_failure);
    let why = why.map_or(String::new(), |why| format!(" ({why})"));
    Err(format!(
        "every request failed, even at 1/s{why}, so there is no limit to find. \
         Run the command after -- alone until its requests succeed"
    ))
}

/// The most frequent failure of a run: an error without a response, a status that means failure, or a check.
fn main_failure(end: &End) -> Option<String> {
    if let Some((error, _)) = most_frequent(&end.errors) {
        return Some(error.to_owned());
    }
    // A status of gRPC has a name.
    let failed = end
        .statuses
        .iter()
        .filter(|(status, _)| match status.parse::<u16>() {
            Ok(status) => status >= 400,
            Err(_) => *status != "OK",
        });
    let failed = failed.map(|(status, count)| (status.clone(), *count));
    if let Some((status, _)) = most_frequent(&failed.collect()) {
        return Some(format!("status {status}"));
    }
    let checks = end
        .checks
        .iter()
        .map(|(name, (_, failed))| (name.clone(), *failed));
    let checks: BTreeMap<String, u64> = checks.collect();
    most_frequent(&checks).map(|(name, _)| format!("the check {name:?}"))
}

fn most_frequent(counts: &BTreeMap<String, u64>) -> Option<(&str, u64)> {
    let positive = counts.iter().filter(|(_, count)| **count > 0);
    positive
        .max_by_key(|(_, count)| **count)
        .map(|(name, count)| (name.as_str(), *count))
}

#[cfg(test)]
mod tests {
    use plimsoll_results::record::{Record, Second};

    use super::*;
    use crate::search;
    use crate::trial::tests::{record, settings};

    /// A run of one second with ten requests, of which `failed` failed for this reason.
    fn run(failed: u64, errors: &[(&str, u64)], statuses: &[(&str, u64)]) -> Record {
        let counts = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
            let pairs = pairs.iter();
            pairs
                .map(|(name, count)| ((*name).to_owned(), *count))
                .collect()
        };
        let counters = BTreeMap::from([("http_reqs".to_owned(), 10.0)]);
        let rates = BTreeMap::from([("http_req_failed".to_owned(), (failed, 10))]);
        let end = End {
            duration_seconds: 1.0,
            counters: counters.clone(),
            rates: rates.clone(),
            errors: counts(errors),
            statuses: counts(statuses),
            ..End::default()
        };
        let second = Second {
            counters,
            rates,
            ..Second::default()
        };
        record(second, end)
    }

    /// The rates of the trials, and the error if there is one.
    fn rates_of(of: impl Fn(u64) -> Record) -> (Vec<u64>, Option<String>) {
        let words = ["http", "http://127.0.0.1:1/"].map(str::to_owned);
        let command = LoadCommand::parse(&words).expect("a command");
        let settings = Settings {
            trials: 3,
            ..settings("p95<50ms", 0.001)
        };
        let mut rates = Vec::new();
        let found = search(
            settings,
            &command,
            &mut |trial| {
                rates.push(trial.rate);
                Ok(of(trial.rate))
            },
            &mut |_, _| {},
        );
        (rates, found.err())
    }

    #[test]
    fn a_server_that_does_not_listen_has_no_limit() {
        let refused = "dial: connection refused";
        let (rates, error) = rates_of(|_| run(10, &[(refused, 10)], &[]));
        assert_eq!(rates, [100, 1]);
        let error = error.expect("an error");
        assert!(
            error.starts_with("every request failed, even at 1/s (dial: connection refused), so"),
            "{error}"
        );
        let (_, error) = rates_of(|_| run(10, &[], &[("200", 1), ("404", 9)]));
        assert!(error.expect("an error").contains("(status 404)"));
        let (_, error) = rates_of(|_| run(10, &[], &[("OK", 9), ("UNAVAILABLE", 1)]));
        assert!(error.expect("an error").contains("(status UNAVAILABLE)"));
    }

    #[test]
    fn an_overloaded_server_has_a_limit() {
        let (rates, error) = rates_of(|rate| run(if rate > 1 { 10 } else { 0 }, &[], &[]));
        assert_eq!(error, None);
        assert_eq!(rates[..2], [100, 1]);
        assert!(rates.len() > 2, "{rates:?}");
        let (rates, error) = rates_of(|_| run(9, &[], &[]));
        assert_eq!(error, None);
        assert!(
            !rates.contains(&1),
            "only a trial without any success is checked: {rates:?}"
        );
    }
}
