//! The check that must pass before a cell is measured.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::command;
use super::names::Names;
use super::process::{Finished, run};
use super::server::{ourselves, with_program};
use crate::problem::Problem;
use crate::resolve::Cell;
use crate::resolve::load::{SanityKind, Source};

/// Runs the check; returns the request and its result.
///
/// # Errors
/// The failure, with the location in the lab file and a fix.
pub fn check(cell: &Cell, names: &Names, directory: &Path) -> Result<String, Problem> {
    let sanity = &cell.sanity;
    let script = match (&sanity.how, &cell.load.source) {
        (SanityKind::Command(words), _) => {
            let words = names.fill_all(words, &sanity.place)?;
            let words = with_program(words).map_err(|why| sanity.place.problem(why))?;
            return command_holds(cell, &words, names);
        }
        (SanityKind::Script(script), _) | (SanityKind::TheLoad, Source::Script(script)) => script,
        (SanityKind::TheLoad, Source::Http(http)) => {
            let flags = command::http_flags(
                http,
                cell.load.protocol.as_deref(),
                names,
                &cell.load.place_of_source,
            )?;
            return request_holds(cell, flags);
        }
        (SanityKind::TheLoad, _) => {
            return Ok(
                "nothing was checked: this load has no request of its own; add one in [sanity]"
                    .to_owned(),
            );
        }
    };
    let summary = directory.join("sanity.json");
    let mut words = vec![ourselves().map_err(|why| sanity.place.problem(why))?];
    let record = directory.join("sanity.jsonl");
    words.extend(
        [
            "run",
            "--quiet",
            "--no-color",
            "--vus",
            "1",
            "--iterations",
            "1",
        ]
        .map(str::to_owned),
    );
    words.extend(["--record".to_owned(), record.display().to_string()]);
    let mut environment = command::script_environment(&cell.load, names, &sanity.place)?;
    environment.extend(names.fill_pairs(&sanity.environment, &sanity.place)?);
    for (name, value) in environment {
        words.extend(["-e".to_owned(), format!("{name}={value}")]);
    }
    // The load's own flags may affect the request, such as the version of HTTP.
    if matches!(sanity.how, SanityKind::TheLoad) {
        words.extend(names.fill_all(&cell.load.arguments, &sanity.place)?);
    }
    words.push(script.display().to_string());
    let _ = std::fs::remove_file(&summary);
    let finished = run_words(cell, &words, sanity.within)?;
    let insane = |what: String| {
        sanity.place.problem(format!(
            "the sanity request of {} failed: one iteration of {}: {what}; run it by hand: {}",
            cell.name,
            script.display(),
            words.join(" ")
        ))
    };
    let read = std::fs::File::open(&record)
        .map_err(|error| error.to_string())
        .and_then(|file| {
            plimsoll_results::record::read(std::io::BufReader::new(file))
                .map_err(|error| error.to_string())
        });
    let end = read.ok().and_then(|record| record.end).ok_or_else(|| {
        insane(format!(
            "it ended with {}: {}",
            finished.status,
            finished.last_words()
        ))
    })?;
    let failed: Vec<&str> = end
        .checks
        .iter()
        .filter(|(_, (_, failed))| *failed > 0)
        .map(|(name, _)| name.as_str())
        .collect();
    if !failed.is_empty() {
        let got: Vec<String> = end
            .statuses
            .keys()
            .chain(end.errors.keys())
            .cloned()
            .collect();
        return Err(insane(format!(
            "the check{} {} failed (responses: {})",
            if failed.len() == 1 { "" } else { "s" },
            failed.join(", "),
            if got.is_empty() {
                "none".to_owned()
            } else {
                got.join(", ")
            }
        )));
    }
    if finished.code != Some(0) && finished.code != Some(99) {
        return Err(insane(format!(
            "it ended with {}: {}",
            finished.status,
            finished.last_words()
        )));
    }
    if end.checks.is_empty() {
        return Err(insane(
            "it has no check, so errors would not be noticed: check the response in the script"
                .to_owned(),
        ));
    }
    let checks: Vec<&str> = end.checks.keys().map(String::as_str).collect();
    Ok(format!("one iteration; passed: {}", checks.join("; ")))
}

fn run_words(cell: &Cell, words: &[String], within: Duration) -> Result<Finished, Problem> {
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(words.get(1..).unwrap_or_default());
    run(&mut command, &[], within).map_err(|why| cell.sanity.place.problem(why))
}

fn command_holds(cell: &Cell, words: &[String], names: &Names) -> Result<String, Problem> {
    let sanity = &cell.sanity;
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command
        .args(words.get(1..).unwrap_or_default())
        .envs(names.fill_pairs(&sanity.environment, &sanity.place)?);
    let finished =
        run(&mut command, &[], sanity.within).map_err(|why| sanity.place.problem(why))?;
    match finished.code {
        Some(0) => Ok(format!("{} ended with status 0", words.join(" "))),
        _ => Err(sanity.place.problem(format!(
            "the sanity request of {} failed: {} ended with {}: {}",
            cell.name,
            words.join(" "),
            finished.status,
            finished.last_words()
        ))),
    }
}

fn request_holds(cell: &Cell, flags: Vec<String>) -> Result<String, Problem> {
    let sanity = &cell.sanity;
    let mut words = vec![ourselves().map_err(|why| sanity.place.problem(why))?];
    words.extend(["http", "--quiet", "--json", "-n", "1", "-c", "1"].map(str::to_owned));
    words.extend(flags);
    let finished = run_words(cell, &words, sanity.within)?;
    let insane = |what: String| {
        sanity.place.problem(format!(
            "the sanity request of {} failed: {what}; run it by hand: {}",
            cell.name,
            words.join(" ")
        ))
    };
    let result: Value = serde_json::from_str(&finished.output).map_err(|_| {
        insane(format!(
            "it ended with {}: {}",
            finished.status,
            finished.last_words()
        ))
    })?;
    let wanted = sanity.expect.status.unwrap_or(200).to_string();
    let statuses = result["status_codes"].as_object();
    let got: Vec<String> = statuses
        .map(|all| all.keys().cloned().collect())
        .unwrap_or_default();
    if got != [wanted.clone()] {
        let errors = &result["errors"];
        return Err(insane(format!(
            "the status should be {wanted}, but the responses were {}{}",
            if got.is_empty() {
                "none".to_owned()
            } else {
                got.join(", ")
            },
            if errors.as_array().is_some_and(|errors| !errors.is_empty()) {
                format!(" ({errors})")
            } else {
                String::new()
            }
        )));
    }
    let protocol = result["protocol"].as_str().unwrap_or_default();
    if cell
        .load
        .protocol
        .as_deref()
        .is_some_and(|declared| !protocol.starts_with(declared))
    {
        return Err(insane(format!(
            "the protocol should be {}, but {protocol} was negotiated",
            cell.load.protocol.as_deref().unwrap_or_default()
        )));
    }
    let expect = &sanity.expect;
    if expect.contains.is_none() && expect.json.is_empty() {
        return Ok(format!("one request; status {wanted} over {protocol}"));
    }
    let url = words.last().cloned().unwrap_or_default();
    let (_, body) = super::http_get::get(&url, sanity.within).map_err(insane)?;
    if let Some(text) = &expect.contains
        && !body.contains(text)
    {
        return Err(insane(format!(
            "{text:?} is not in the response {:?}",
            short(&body)
        )));
    }
    let value: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
    for (pointer, wanted) in &expect.json {
        let found = value.pointer(pointer).map(|found| match found {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        if found.as_ref() != Some(wanted) {
            return Err(insane(format!(
                "{pointer} should be {wanted}, but is {} in the response {:?}",
                found.unwrap_or_else(|| "not there".to_owned()),
                short(&body)
            )));
        }
    }
    Ok(format!(
        "one request; status {wanted} over {protocol}, with the expected body"
    ))
}

fn short(text: &str) -> String {
    text.chars().take(200).collect()
}
