//! The first screen: what was run, the result, and whether to trust it.

use plimsoll_plots::number;
use plimsoll_results::fail_on::unit_of_threshold;
use plimsoll_stats::tail::reliable_quantile;

use super::view::RunView;
use crate::document::Words;
use crate::method::format_bytes;
use crate::naming::{capitalize, format_count, join_list};

/// Maximum number of errors, checks and thresholds that a sentence names.
const NAMED: usize = 3;

/// The result in sentences: verdict, load, latency, failures, thresholds, checks.
pub fn points(run: &RunView<'_>) -> Vec<Words> {
    let mut points = vec![verdict_words(run)];
    points.extend(aborted_words(run));
    points.push(load_words(run));
    points.extend(latency_words(run));
    points.extend(failure_words(run));
    points.extend(dropped_words(run));
    points.extend(threshold_words(run));
    let open = run.end.objectives_not_judged.iter();
    points.extend(open.map(|text| {
        Words::new()
            .strong("Not judged")
            .text(format!(": {}.", shorten(text)))
    }));
    points.extend(check_words(run));
    points
}

/// Name and value of each fact that is known.
pub fn fact_list(run: &RunView<'_>) -> Vec<(&'static str, String)> {
    let header = run.header;
    let machine = &header.environment;
    let mut place = vec![machine.cpu.clone()];
    if machine.cpus > 0 {
        place.push(format_count(
            machine.cpus as usize,
            "processor",
            "processors",
        ));
    }
    if machine.memory_bytes > 0 {
        place.push(format_bytes(machine.memory_bytes));
    }
    place.push(machine.os.clone());
    place.retain(|part| !part.is_empty());
    let model = match header.model.as_str() {
        "open" => "open: a schedule decides when requests start",
        "closed" => "closed: the previous response decides when a user's next request starts",
        "work" => "a fixed amount of work",
        other => other,
    };
    let mut facts = vec![
        ("load", header.load.join("; ")),
        ("model", model.to_owned()),
        ("command", header.command.join(" ")),
        (
            "when",
            format!(
                "{}, {}",
                header.started,
                format_length(run.end.duration_seconds)
            ),
        ),
        ("where", place.join(", ")),
        ("generator", generator_text(run)),
        ("versions", format!("plimsoll {}", header.plimsoll)),
        ("config", configuration_hash(run)),
    ];
    if header.warm_up_seconds > 0.0 {
        let warm_up = format!(
            "{} s, left out of the verdict and included in the figures",
            format_seconds(header.warm_up_seconds)
        );
        facts.insert(2, ("warm-up", warm_up));
    }
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// A length of time: `31 ms`, `2.5 s`.
pub fn format_length(seconds: f64) -> String {
    match seconds < 0.95 {
        true => format!("{} ms", number::short(seconds * 1e3)),
        false => format!("{} s", format_seconds(seconds)),
    }
}

/// Seconds without superfluous digits.
pub fn format_seconds(value: f64) -> String {
    let places = if value < 100.0 { 1 } else { 0 };
    let text = number::Place::decimals(places).print(value);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The hash of the configuration, so that two reports of one configuration are recognized.
fn configuration_hash(run: &RunView<'_>) -> String {
    match run.header.configuration_hash.as_str() {
        "" => String::new(),
        hash => format!("hash {hash}"),
    }
}

/// The generator's processor time and memory.
fn generator_text(run: &RunView<'_>) -> String {
    let generator = &run.end.generator;
    let mut text = format!(
        "{} s of processor time",
        number::short(generator.cpu_seconds)
    );
    let processors = f64::from(run.header.environment.cpus);
    let available = run.end.duration_seconds * processors;
    if available > 0.0 {
        let share = generator.cpu_seconds / available * 100.0;
        text += &format!(" ({} % of the machine)", number::short(share));
    }
    if generator.peak_rss_bytes > 0 {
        text += &format!(
            ", {} of memory at most",
            format_bytes(generator.peak_rss_bytes)
        );
    }
    text
}

fn verdict_words(run: &RunView<'_>) -> Words {
    let words = Words::new().verdict(run.verdict());
    if run.is_killed {
        return words.text(": the run was killed, and its record has no end. The figures are the sums of its seconds.");
    }
    let reasons: Vec<String> = run
        .end
        .generator
        .reasons
        .iter()
        .map(|(cause, text)| match run.verdict() {
            "valid" => text.clone(),
            _ => format!("{cause}: {text}"),
        })
        .collect();
    if reasons.is_empty() {
        return words;
    }
    words.text(format!(": {}", reasons.join("; ")))
}

fn aborted_words(run: &RunView<'_>) -> Option<Words> {
    let why = run.end.aborted.as_ref()?;
    Some(Words::new().strong("Aborted").text(format!(": {why}")))
}

fn load_words(run: &RunView<'_>) -> Words {
    let count = run.count();
    let noun = run.unit.noun(count);
    let (whole, load) = (run.end.duration_seconds, run.rate_seconds());
    let time = match (format_length(load), format_length(whole)) {
        (load, whole) if load == whole => load,
        (load, whole) => format!("{load} (ended after {whole})"),
    };
    let words = match run.successful_rate() {
        Some((rate, unit)) => Words::new().figure(rate, None, &unit),
        None => Words::new().strong("No request got a response"),
    };
    let users = run.record.seconds.iter().map(|second| second.users).max();
    // In an open model, only the users that were busy at the end of each second are known, not the maximum.
    let users = users
        .filter(|users| *users > 0 && run.header.model != "open")
        .map_or_else(String::new, |users| {
            format!(
                " by at most {}",
                format_count(users as usize, "user", "users")
            )
        });
    words.text(format!(
        ": {} {noun} in {time}{users}.",
        number::count(count)
    ))
}

fn latency_words(run: &RunView<'_>) -> Option<Words> {
    let (_, label) = run.times?;
    let times = run.latency()?;
    let (failed, _) = run.failed().unwrap_or_default();
    let successful = run.count().saturating_sub(failed);
    // Only open scenarios have response times. In a mixed run, they are those of a part.
    let part = match times.count() {
        count if run.header.kind == "run" && label == "response time" && count < successful => {
            format!(
                " of {} of {} successful requests, those of open scenarios",
                number::count(count),
                number::count(successful)
            )
        }
        _ => String::new(),
    };
    let mut words = Words::plain(format!("{}{part}: ", label_to_title(label)));
    let mut is_first = true;
    for (name, q) in [("median", 0.5), ("p95", 0.95), ("p99", 0.99)] {
        if let Some(value) = reliable_quantile(&times, q) {
            let comma = if is_first { "" } else { ", " };
            words = words
                .text(format!("{comma}{name} "))
                .figure(value, None, "ms");
            is_first = false;
        }
    }
    if is_first {
        words = words.text("mean ").figure(times.mean(), None, "ms");
    }
    Some(
        words
            .text(", longest ")
            .figure(times.max(), None, "ms")
            .text("."),
    )
}

/// A label of times as a title: `gRPC` has a small g.
pub fn label_to_title(label: &str) -> String {
    if label.starts_with("gRPC") {
        label.to_owned()
    } else {
        capitalize(label)
    }
}

fn failure_words(run: &RunView<'_>) -> Option<Words> {
    let errors: u64 = run.end.errors.values().sum();
    let (failed, all) = match run.failed() {
        Some(known) => known,
        None if errors > 0 => {
            let text = format!(": {}.", frequent_errors(run));
            let count = format_count(errors as usize, "error", "errors");
            return Some(Words::new().strong(count).text(text));
        }
        None => return None,
    };
    if failed == 0 {
        return Some(Words::plain("No request failed."));
    }
    let share = failed as f64 / all.max(1) as f64 * 100.0;
    let kinds = frequent_errors(run);
    let kinds = if kinds.is_empty() {
        kinds
    } else {
        format!(": {kinds}")
    };
    Some(
        Words::new()
            .strong(format!(
                "{} of {} requests failed",
                number::count(failed),
                number::count(all)
            ))
            .text(format!(" ({} %){kinds}.", number::short(share))),
    )
}

/// The most frequent errors and statuses of failed requests.
fn frequent_errors(run: &RunView<'_>) -> String {
    let mut errors: Vec<(String, u64)> = run
        .end
        .errors
        .iter()
        .map(|(text, count)| (shorten(text), *count))
        .collect();
    let is_bad = |status: &str| status.starts_with(['4', '5']);
    let statuses = run.end.statuses.iter().filter(|(status, _)| is_bad(status));
    errors.extend(statuses.map(|(status, count)| (format!("status {status}"), *count)));
    errors.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let more = errors.len().saturating_sub(NAMED);
    let mut names: Vec<String> = errors
        .into_iter()
        .take(NAMED)
        .map(|(text, count)| format!("{text} ({})", number::count(count)))
        .collect();
    if more > 0 {
        names.push(format_count(more, "other kind", "other kinds"));
    }
    join_list(&names)
}

/// The text, cut so that it fits into a sentence.
pub fn shorten(text: &str) -> String {
    const MAX_CHARACTERS: usize = 120;
    if text.chars().count() <= MAX_CHARACTERS {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(MAX_CHARACTERS - 1).collect();
    cut.push('…');
    cut
}

fn dropped_words(run: &RunView<'_>) -> Option<Words> {
    let dropped = *run.end.counters.get("dropped_iterations")?;
    (dropped > 0.0).then(|| {
        Words::new()
            .strong(format!(
                "{} iterations were dropped",
                number::count(dropped as u64)
            ))
            .text(": they were due while no user was free.")
    })
}

fn threshold_words(run: &RunView<'_>) -> Option<Words> {
    let all = &run.end.thresholds;
    if all.is_empty() {
        return None;
    }
    let missed: Vec<String> = all
        .iter()
        .enumerate()
        .filter(|(_, (.., met))| !met)
        .map(|(at, (metric, text, _))| {
            let measured = run.end.thresholds_measured.get(at).copied().flatten();
            let measured = measured.map_or_else(String::new, |value| {
                let unit = unit_of_threshold(metric);
                format!(" (measured {}{unit})", number::short(value))
            });
            format!("{} {}{measured}", shorten(metric), shorten(text))
        })
        .collect();
    let total = format_count(all.len(), "threshold", "thresholds");
    if missed.is_empty() {
        let text = match all.len() {
            1 => "The threshold was met.".to_owned(),
            _ => format!("All {total} were met."),
        };
        return Some(Words::plain(text));
    }
    let words = Words::new().strong(format!("{} of {total} missed", missed.len()));
    Some(words.text(format!(": {}.", list_first(missed))))
}

fn check_words(run: &RunView<'_>) -> Option<Words> {
    let all = &run.end.checks;
    if all.is_empty() {
        return None;
    }
    let mut failing: Vec<(&String, &(u64, u64))> =
        all.iter().filter(|(_, counts)| counts.1 > 0).collect();
    failing.sort_by(|a, b| b.1.1.cmp(&a.1.1).then_with(|| a.0.cmp(b.0)));
    let total = format_count(all.len(), "check", "checks");
    if failing.is_empty() {
        let text = match all.len() {
            1 => "The check always passed.".to_owned(),
            _ => format!("All {total} always passed."),
        };
        return Some(Words::plain(text));
    }
    let names: Vec<String> = failing
        .iter()
        .map(|(name, (passed, failed))| {
            format!(
                "{} ({} of {})",
                shorten(name),
                number::count(*failed),
                number::count(passed + failed)
            )
        })
        .collect();
    let words = Words::new().strong(format!("{} of {total} failed", failing.len()));
    Some(words.text(format!(": {}.", list_first(names))))
}

/// Lists the first items and the number of the others.
fn list_first(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    join_list(&names)
}
