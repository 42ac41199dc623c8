//! The check that must pass before a cell is measured.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::command;
use super::names::Names;
use super::process::{Finished, run};
use super::request_script;
use super::server::{program_path, with_program};
use crate::problem::Problem;
use crate::resolve::Cell;
use crate::resolve::load::{SanityKind, Source};

/// Runs the check. Returns the request and its result.
///
/// # Errors
/// A description of the failure, with the location in the lab file and a fix.
pub fn check(cell: &Cell, names: &Names, directory: &Path) -> Result<String, Problem> {
    let sanity = &cell.sanity;
    let place = &cell.load.place_of_source;
    // The load's own flags may affect the request, for example the HTTP version.
    let (script, flags) = match (&sanity.how, &cell.load.source) {
        (SanityKind::Command(words), _) => {
            let words = names.fill_all(words, &sanity.place)?;
            let words = with_program(words).map_err(|why| sanity.place.problem(why))?;
            return command_holds(cell, &words, names);
        }
        (SanityKind::Script(script), Source::Http(http)) => {
            let protocol = cell.load.protocol.as_deref();
            let flags = command::connection_flags(http, protocol, names, place)?;
            (script.clone(), flags)
        }
        (SanityKind::Script(script), _) => (script.clone(), Vec::new()),
        (SanityKind::TheLoad, Source::Script(script)) => {
            let flags = names.fill_all(&cell.load.arguments, &sanity.place)?;
            (script.clone(), flags)
        }
        (SanityKind::TheLoad, Source::Http(http)) => {
            let protocol = cell.load.protocol.as_deref();
            let script = directory.join("sanity.js");
            let text = request_script::text(http, &sanity.expect, protocol, names, place)?;
            std::fs::write(&script, text).map_err(|error| {
                let script = script.display();
                place.problem(format!("cannot write the sanity request {script}: {error}"))
            })?;
            (
                script,
                command::connection_flags(http, protocol, names, place)?,
            )
        }
        (SanityKind::TheLoad, _) => {
            return Ok(
                "nothing was checked: this load has no request; add one in [sanity]".to_owned(),
            );
        }
    };
    let what = match (&sanity.how, &cell.load.source) {
        (SanityKind::TheLoad, Source::Http(_)) => "request",
        _ => "iteration",
    };
    let mut words = vec![program_path().map_err(|why| sanity.place.problem(why))?];
    let record = directory.join("sanity.jsonl");
    words.extend(
        [
            "run",
            "--quiet",
            "--no-color",
            "--log-format",
            "raw",
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
    words.extend(flags);
    words.push(script.display().to_string());
    let finished = run_words(cell, &words, sanity.within)?;
    let insane = |why: String| {
        sanity.place.problem(format!(
            "the sanity request of {} failed: one {what} of {}: {why}; run it by hand: {}",
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
            "it exited with {}: {}",
            finished.status,
            finished.last_lines()
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
            "the check{} {} failed (responses: {}): {}",
            if failed.len() == 1 { "" } else { "s" },
            failed.join(", "),
            if got.is_empty() {
                "none".to_owned()
            } else {
                got.join(", ")
            },
            finished.last_lines()
        )));
    }
    if finished.code != Some(0) && finished.code != Some(99) {
        return Err(insane(format!(
            "it exited with {}: {}",
            finished.status,
            finished.last_lines()
        )));
    }
    if end.checks.is_empty() {
        return Err(insane(
            "it contains no check, so errors would not be noticed: check the response in the script"
                .to_owned(),
        ));
    }
    let checks: Vec<&str> = end.checks.keys().map(String::as_str).collect();
    Ok(format!("one {what}; passed: {}", checks.join("; ")))
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
        Some(0) => Ok(format!("{} exited with status 0", words.join(" "))),
        _ => Err(sanity.place.problem(format!(
            "the sanity request of {} failed: {} exited with {}: {}",
            cell.name,
            words.join(" "),
            finished.status,
            finished.last_lines()
        ))),
    }
}
