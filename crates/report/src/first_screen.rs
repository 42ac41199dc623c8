//! The facts of the first screen: what was measured, where, when, with which versions, and how many
//! cells are valid.

use plimsoll_plots::number;
use plimsoll_results::lab::{Cell, CellState, LabResult, LinkFigures};
use plimsoll_stats::comparison::MARGIN;
use sha2::{Digest, Sha256};

use crate::durability;
use crate::method::format_bytes;
use crate::naming::{describe_cell, format_count, join_list};

/// Digits of the hash of a lab file: enough to distinguish two files.
const HASH_DIGITS: usize = 12;

/// Name and value of each fact that is known.
pub fn facts(result: &LabResult) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("measured", measured_text(result)),
        ("when", date_text(result)),
        ("where", machine_text(result)),
        ("network", network_text(result)),
        ("versions", versions_text(result)),
        ("durability", durability::describe_stores(result)),
        ("not started", not_started_text(result)),
        ("lab file", lab_file_text(result)),
        ("valid", valid_cells_text(result)),
        ("objectives", crate::objectives::counts(result).join("; ")),
        ("failed requests", failed_requests_text(result)),
        ("noise floor", noise_floor_text(result)),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn is_measured(cell: &Cell) -> bool {
    matches!(cell.state, CellState::Measured | CellState::Partial(_))
}

/// `38 cells, 3 runs of 5 s each, standard form`.
fn measured_text(result: &LabResult) -> String {
    let cells: Vec<&Cell> = result
        .cells
        .iter()
        .filter(|cell| is_measured(cell))
        .collect();
    let form = format!("{} form", result.form);
    let reach = |values: &[f64], print: fn(f64) -> String| {
        let low = values.iter().copied().reduce(f64::min).map(print)?;
        let high = values.iter().copied().reduce(f64::max).map(print)?;
        Some(if low == high {
            low
        } else {
            format!("{low} to {high}")
        })
    };
    let runs: Vec<f64> = cells.iter().map(|cell| cell.repeats.len() as f64).collect();
    let lengths: Vec<f64> = cells
        .iter()
        .flat_map(|cell| &cell.repeats)
        .map(|run| run.duration_seconds)
        .collect();
    let (Some(runs), Some(lengths)) = (reach(&runs, number::tick), reach(&lengths, format_seconds))
    else {
        return format!("nothing yet, {form}");
    };
    let order = result.seed.map_or_else(String::new, |seed| {
        format!(", in random order (seed {seed})")
    });
    let note = match result.form.as_str() {
        "quick" => "; such short runs show the order of magnitude, not tails or drifts",
        _ => "",
    };
    format!(
        "{}, {runs} {} of {lengths} s each, {form}{order}{note}",
        format_count(cells.len(), "cell", "cells"),
        if runs == "1" { "run" } else { "runs" },
    )
}

/// Seconds without superfluous digits.
fn format_seconds(value: f64) -> String {
    let places = u8::from(value < 20.0 && (value - value.round()).abs() >= 0.05);
    number::Place::decimals(places).print(value)
}

fn date_text(result: &LabResult) -> String {
    match &result.ended {
        Some(ended) => format!("{} to {ended}", result.started),
        None => format!("{}, not finished: cells are missing", result.started),
    }
}

fn machine_text(result: &LabResult) -> String {
    let machine = &result.environment;
    if machine.cpu.is_empty() {
        return String::new();
    }
    let mut parts = vec![format!(
        "{}, {}, {}",
        machine.cpu,
        format_count(machine.cpus as usize, "processor", "processors"),
        format_bytes(machine.memory_bytes)
    )];
    parts.push(machine.os.clone());
    if !machine.kernel.is_empty() {
        parts.push(format!("kernel {}", machine.kernel));
    }
    // Cells can have processes with the same name, in the same place.
    for one in result.topology.iter().filter(|one| !one.cpus.is_empty()) {
        let cpus: Vec<String> = one.cpus.iter().map(u32::to_string).collect();
        let placed = format!("{} on CPU {}", one.name, join_list(&cpus));
        if !parts.contains(&placed) {
            parts.push(placed);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// Each link as declared and as measured; the network to another host is only measured.
fn network_text(result: &LabResult) -> String {
    let mut links: Vec<(&str, Vec<&LinkFigures>)> = Vec::new();
    for link in result.cells.iter().filter_map(|cell| cell.link.as_ref()) {
        match links.iter_mut().find(|known| known.0 == link.name) {
            Some(known) => known.1.push(link),
            None => links.push((&link.name, vec![link])),
        }
    }
    let texts: Vec<String> = links
        .iter()
        .filter_map(|(name, links)| {
            let middle = |read: fn(&LinkFigures) -> Option<f64>| {
                let mut found: Vec<f64> = links.iter().filter_map(|link| read(link)).collect();
                found.sort_by(f64::total_cmp);
                found
                    .get(found.len() / 2)
                    .map(|value| number::short(*value))
            };
            let measured = middle(|link| link.measured_round_trip_ms);
            let Some(declared) = links.iter().find_map(|link| link.declared_round_trip_ms) else {
                // Loopback needs no line.
                let connecting = middle(|link| link.measured_connect_ms)?;
                let is_host =
                    !result.hosts.is_empty() && links.iter().all(|link| link.by != "loopback");
                return is_host.then(|| match measured {
                    Some(measured) => format!("{name}: another host, round trip {measured} ms"),
                    None => format!("{name}: another host, connecting {connecting} ms"),
                });
            };
            let measured = measured.map_or_else(String::new, |ms| {
                format!(" (a median of {ms} ms measured before the runs)")
            });
            let rate = links
                .iter()
                .find_map(|link| link.declared_megabits_per_second)
                .map_or_else(String::new, |rate| {
                    format!(", {} Mbit/s", number::tick(rate))
                });
            let jitter = links
                .iter()
                .find_map(|link| link.declared_jitter_ms)
                .map_or_else(String::new, |ms| format!(" ± {} ms", number::tick(ms)));
            Some(format!(
                "{name}: round trip {}{jitter}{}{measured}{rate}",
                number::tick(declared),
                if jitter.is_empty() { " ms" } else { "" }
            ))
        })
        .collect();
    texts.join("; ")
}

/// The systems that the lab measured but did not start.
fn not_started_text(result: &LabResult) -> String {
    let findings = result.findings.iter();
    let texts = findings.filter(|finding| finding.rule == "not-started");
    let texts: Vec<&str> = texts.map(|finding| finding.text.as_str()).collect();
    texts.join("; ")
}

/// Each program once, although several processes may run it.
fn versions_text(result: &LabResult) -> String {
    let ours = format!("plimsoll {}", result.plimsoll);
    let mut found = vec![ours.clone()];
    for (name, version) in &result.versions {
        let text = if name == "plimsoll" {
            continue;
        } else if version.chars().next().is_some_and(char::is_alphabetic) {
            version.clone()
        } else {
            format!("{name} {version}")
        };
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found.join("; ")
}

/// The file and a hash of its content, so that two reports of one configuration are recognized.
fn lab_file_text(result: &LabResult) -> String {
    if result.file.is_empty() {
        return String::new();
    }
    let hash: String = Sha256::digest(result.file.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let hash = hash.get(..HASH_DIGITS).unwrap_or_default();
    let name = if result.file_name.is_empty() {
        "lab file"
    } else {
        &result.file_name
    };
    let commit = result.commit.as_deref().map_or_else(String::new, |commit| {
        let (id, changed) = commit.split_once(' ').unwrap_or((commit, ""));
        let id = id.get(..HASH_DIGITS).unwrap_or(id);
        let changed = match changed.is_empty() {
            true => "",
            false => ", with uncommitted changes",
        };
        format!(", commit {id}…{changed}")
    });
    format!("{name}, SHA-256 {hash}…{commit}")
}

/// The fact that no request failed, if the lab allows none. If some failed, a sentence of the conclusion says so.
fn failed_requests_text(result: &LabResult) -> String {
    crate::objectives::without_failures(result).map_or_else(String::new, |cells| {
        format!(
            "none in the {} for which the lab allows none",
            format_count(cells, "valid cell", "valid cells")
        )
    })
}

/// The noise floor of the compared figures: the difference between two measurements of the same cell.
fn noise_floor_text(result: &LabResult) -> String {
    let Some(same) = &result.same_cell else {
        return String::new();
    };
    let label = |name: &str| {
        let figure = same.copy.figure(name);
        figure.map_or_else(|| name.to_owned(), |figure| figure.label.clone())
    };
    let floors: Vec<String> = same
        .floors
        .iter()
        .filter(|floor| {
            let mut comparisons = result.comparisons.iter();
            comparisons.any(|one| one.figure == floor.figure)
        })
        .map(|floor| {
            format!(
                "{} % in {}",
                number::short(floor.share * 100.0),
                label(&floor.figure)
            )
        })
        .collect();
    let cell = result.cells.iter().find(|cell| cell.name == same.cell);
    let cell = cell.map_or_else(|| same.cell.clone(), |cell| describe_cell(result, cell));
    if floors.is_empty() {
        return format!(
            "not known: one cell ({cell}) was measured twice, but {}",
            same.method
        );
    }
    format!(
        "{}: two measurements of one cell ({cell}) may differ by this much, so a smaller difference does not count{}",
        join_list(&floors),
        places_without_floor(result, &same.copy)
    )
}

/// The places without a noise floor, because the cell that was measured twice is in another place.
fn places_without_floor(result: &LabResult, copy: &Cell) -> String {
    let place = |cell: &Cell| cell.link.as_ref().map(|link| link.name.clone());
    let Some(measured) = place(copy) else {
        return String::new();
    };
    let mut others: Vec<String> = Vec::new();
    for name in result
        .cells
        .iter()
        .filter(|cell| is_measured(cell))
        .filter_map(place)
    {
        if name != measured && !others.contains(&name) {
            others.push(name);
        }
    }
    match others.is_empty() {
        true => String::new(),
        false => format!(
            "; it was measured {measured} only: {}, latencies must differ by the same time and by more than {} %, up to \
             which figures count as equal there",
            join_list(&others),
            number::tick(MARGIN * 100.0)
        ),
    }
}

/// `28 of 38 cells; 10 suspect: marked, and not used in conclusions`.
fn valid_cells_text(result: &LabResult) -> String {
    let count = |is: &dyn Fn(&Cell) -> bool| result.cells.iter().filter(|cell| is(cell)).count();
    let total = result.cells.len();
    let verdict =
        |name: &'static str| count(&move |cell: &Cell| is_measured(cell) && cell.verdict == name);
    let valid = verdict("valid");
    let mut text = if valid == total && total > 0 {
        format!("all {}", format_count(total, "cell", "cells"))
    } else {
        format!("{valid} of {}", format_count(total, "cell", "cells"))
    };
    let suspect = verdict("suspect");
    let invalid = count(&is_measured) - valid - suspect;
    for (number, what) in [
        (suspect, "suspect, marked and not used in conclusions"),
        (invalid, "invalid, without figures"),
        (
            count(&|cell| matches!(cell.state, CellState::Insane(_))),
            "not measured because the sanity request failed",
        ),
        (
            count(&|cell| matches!(cell.state, CellState::Failed(_))),
            "failed",
        ),
        (
            count(&|cell| cell.state == CellState::Missing),
            "not run yet",
        ),
        (
            count(&|cell| cell.state == CellState::LeftOut),
            "not part of this form",
        ),
        (
            count(&|cell| matches!(cell.state, CellState::Partial(_))),
            "with fewer runs than requested",
        ),
    ] {
        if number > 0 {
            text.push_str(&format!("; {number} {what}"));
        }
    }
    let runs = result.cells.iter().flat_map(|cell| &cell.repeats);
    match runs.filter(|run| !run.disturbed.is_empty()).count() {
        0 => {}
        1 => text.push_str("; 1 run was measured again, because other programs disturbed it"),
        again => text.push_str(&format!(
            "; {again} runs were measured again, because other programs disturbed them"
        )),
    }
    text
}
