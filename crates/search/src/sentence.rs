//! Describes the result of a search in sentences.

use plimsoll_stats::limit::{Drift, Limit, Outcome};

use crate::settings::seconds_for;
use crate::trial::Trial;
use crate::{Objective, Settings};

/// The result, and whether it can be trusted.
pub fn sentence(settings: &Settings, trials: &[Trial], limit: &Limit) -> String {
    let texts: Vec<&str> = settings
        .objectives
        .iter()
        .map(|objective: &Objective| objective.text.as_str())
        .collect();
    let objective = texts.join(" and ");
    let mut text = match (limit.kept, limit.broken, limit.generator) {
        (kept, _, Some(beyond)) => by_generator(trials, &objective, kept, beyond),
        (Some(kept), Some(broken), _) => {
            format!("The service handles {kept}/s with {objective}, but not {broken}/s.")
        }
        (Some(kept), None, _) => format!(
            "The service handles {kept}/s with {objective}, and no higher rate was tried. Raise --most to search further."
        ),
        (None, ..) if limit.confirmed => {
            format!(
                "The service does not meet {objective} at any rate, not even at one request per second."
            )
        }
        (None, ..) => format!("No rate was found that meets {objective}."),
    };
    if let Some(drift) = &limit.drift {
        text = format!("{} In the last trials: {text}", drifted(drift, &objective));
    }
    if let Some(kept) = limit.kept {
        text += &held(settings, trials, kept);
    }
    text + &unconfirmed(settings, trials, limit)
}

/// The result if the generator could not load the service reliably above the highest good rate, which is then a lower
/// bound.
fn by_generator(trials: &[Trial], objective: &str, kept: Option<u64>, beyond: u64) -> String {
    let shortage = trials
        .iter()
        .rev()
        .filter(|trial| trial.rate == beyond && trial.outcome() == Outcome::GeneratorLimit)
        .map(Trial::shortage)
        .find(|shortage| !shortage.is_empty());
    let why = shortage.map_or(String::new(), |shortage| format!(" ({shortage})"));
    match kept {
        Some(kept) => format!(
            "The service handles at least {kept}/s with {objective}; the generator could not load it reliably at {beyond}/s{why}, so the service's limit is not known."
        ),
        None => format!(
            "The service's limit is not known: the generator could not load it reliably at {beyond}/s{why}, and no lower rate met {objective}."
        ),
    }
}

fn drifted(drift: &Drift, objective: &str) -> String {
    let how = if drift.slower { "slower" } else { "faster" };
    let high = drift.high;
    match drift.low {
        Some(low) => format!(
            "The service drifted: it became {how} during the search, and the highest rate with {objective} was between {low}/s and {high}/s."
        ),
        None => format!(
            "The service drifted: it became {how} during the search; it handled {high}/s with {objective} at one time, and none of the tried rates at another."
        ),
    }
}

/// Describes how long the soak held the lower end.
fn held(settings: &Settings, trials: &[Trial], kept: u64) -> String {
    let is_held = trials
        .iter()
        .any(|trial| trial.soak && trial.rate == kept && trial.broken.is_empty());
    if !is_held {
        return String::new();
    }
    format!(
        " {kept}/s was held for {soak}; {n} trials.",
        soak = plimsoll_units::duration::format(settings.soak),
        n = trials.len()
    )
}

/// Why the result is uncertain. Empty if it is certain.
fn unconfirmed(settings: &Settings, trials: &[Trial], limit: &Limit) -> String {
    if limit.confirmed || limit.drift.is_some() || limit.generator.is_some() {
        return String::new();
    }
    let decides = |trial: &&Trial| [limit.kept, limit.broken].contains(&Some(trial.rate));
    let deciding: Vec<&Trial> = trials.iter().filter(decides).collect();
    if let Some(why) = too_few_requests(settings, &deciding) {
        return format!(" This is not confirmed: {why}");
    }
    let doubtful = deciding
        .iter()
        .filter(|trial| trial.verdict != "valid")
        .count();
    if trials.len() >= settings.trials as usize || doubtful == 0 {
        return format!(
            " This is not certain: {} trials were too few; raise --trials or --trial.",
            trials.len()
        );
    }
    format!(
        " This is not confirmed: the generator's own figures are in doubt in {doubtful} of the {} trials at these rates.",
        deciding.len()
    )
}

/// Which percentile had too few requests, and the soak that would have been long enough. The soak also limits the
/// duration of the other trials.
fn too_few_requests(settings: &Settings, deciding: &[&Trial]) -> Option<String> {
    let short = deciding.iter().flat_map(|trial| {
        let needed = settings.objectives.iter().zip(&trial.needed);
        needed.filter_map(|(objective, needed)| Some((*trial, objective, (*needed)?)))
    });
    let with_seconds = short.map(|(trial, objective, needed)| {
        (seconds_for(needed, trial.rate), trial, objective, needed)
    });
    let (seconds, trial, objective, needed) = with_seconds.max_by_key(|(seconds, ..)| *seconds)?;
    Some(format!(
        "{} needs {needed} requests, and a trial at {}/s had {}. Use at least --soak {seconds}s.",
        objective.figure, trial.rate, trial.due,
    ))
}
