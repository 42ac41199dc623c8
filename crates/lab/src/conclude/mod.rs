//! Builds a lab's result from the files of its runs. This module measures nothing.

mod disturbed;
pub mod figures;
pub mod findings;
mod first_look;
mod fixed_work;
mod hosts;
pub mod judge;
mod latency;
mod load;
mod per_second;
pub mod pooled;
mod refuted;
pub mod repeat;
pub mod same_cell;
pub mod stream;
pub mod until;

use plimsoll_results::lab::{
    Axis, Cell as CellResult, CellState, Finding, LabResult, LimitSearch, Placed, PublishedError,
    SCHEMA,
};

use crate::resolve::process::Process;
use crate::resolve::{Cell, Lab};
use crate::run::store::{Facts, RunFile, Store};
use repeat::Measured;

pub use first_look::first_look;

/// The current result of a run.
pub fn conclude(lab: &Lab, run: &RunFile, store: &Store) -> LabResult {
    let mut cells = Vec::new();
    let mut all = Vec::new();
    let mut topology: Vec<Placed> = Vec::new();
    for cell in &lab.cells {
        let (written, measured, placed) = cell_of(lab, cell, store);
        for one in placed {
            if !topology.contains(&one) {
                topology.push(one);
            }
        }
        cells.push(written);
        all.push(measured);
    }
    let missing = cells
        .iter()
        .any(|cell| matches!(cell.state, CellState::Missing | CellState::Partial(_)));
    let last = all
        .iter()
        .flatten()
        .map(|measured| measured.repeat.started.clone())
        .max();
    let same = same_cell::compare_copy(lab, &mut cells);
    // One command is enough for each program name.
    let mut seen: Vec<Placed> = Vec::new();
    topology.retain(|placed| {
        let what = Placed {
            command: String::new(),
            ..placed.clone()
        };
        let new = !seen.contains(&what);
        seen.push(what);
        new
    });
    let mut result = LabResult {
        schema: SCHEMA.to_owned(),
        plimsoll: run.plimsoll.clone(),
        title: lab.title.clone(),
        question: lab.question.clone(),
        form: run.form.clone(),
        started: run.started.clone(),
        ended: last.filter(|_| !missing),
        environment: run.environment.clone(),
        versions: versions(lab, &topology, &run.plimsoll),
        axes: lab
            .axes
            .iter()
            .map(|axis| Axis {
                name: axis.name.clone(),
                values: axis.values().map(str::to_owned).collect(),
                words: lab.words.get(&axis.name).cloned().unwrap_or_default(),
            })
            .collect(),
        file: run.text.clone(),
        file_name: lab
            .document
            .file
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        commit: run.commit.clone(),
        effective: crate::plan::json(lab),
        topology,
        comparisons: judge::comparisons(lab, &cells, same.as_ref()),
        pooled: pooled::pooled(lab, &cells, same.as_ref()),
        hosts: hosts::of(lab, store),
        seed: Some(run.seed),
        same_cell: same.map(Box::new),
        objectives: judge::objectives(lab, &cells, &all),
        cells,
        questions: lab
            .questions
            .iter()
            .map(|one| one.of_cells(lab.matrix()))
            .collect(),
        tables: lab
            .tables
            .iter()
            .map(|table| table.layout(lab.matrix()))
            .collect(),
        published_errors: lab
            .avoided
            .iter()
            .map(|one| PublishedError {
                wrong: one.wrong.clone(),
                avoided: one.avoided.clone(),
            })
            .collect(),
        findings: whole(lab),
    };
    crate::redact::redact(&mut result, &run.file, &store.directory);
    result
}

/// Judges the comparisons of a result again, with the rules of this version. The figures stay
/// unchanged.
pub fn compare_again(lab: &Lab, result: &mut LabResult) {
    let same = result.same_cell.as_deref();
    let comparisons = judge::comparisons(lab, &result.cells, same);
    result.pooled = pooled::pooled(lab, &result.cells, same);
    result.comparisons = comparisons;
}

fn whole(lab: &Lab) -> Vec<Finding> {
    let mut findings = Vec::new();
    if lab.form == crate::form::FormName::Quick {
        findings.push(Finding {
            rule: "quick-form".to_owned(),
            level: "note".to_owned(),
            text: "the quick form: short runs that only show that the lab works. Do not use its figures"
                .to_owned(),
        });
    }
    findings.extend(not_started(lab));
    findings.extend(lab.why_no_same_cell().map(|text| Finding {
        rule: "no-floor".to_owned(),
        level: "note".to_owned(),
        text,
    }));
    findings
}

/// The unknown facts about systems that were already running.
fn not_started(lab: &Lab) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for process in already_running(lab) {
        let url = process.url.as_deref().unwrap_or_default();
        let url = plimsoll_results::secrets::url_for_display(url);
        let text = format!(
            "the lab did not start {}: it was already running at {url}. Its version and settings are unknown, \
             it was not restarted between runs, and its processor time was not measured",
            process.name
        );
        if findings.iter().all(|known| known.text != text) {
            findings.push(Finding {
                rule: "not-started".to_owned(),
                level: "note".to_owned(),
                text,
            });
        }
    }
    findings
}

fn already_running(lab: &Lab) -> impl Iterator<Item = &Process> {
    let processes = lab.variants.iter().flat_map(|setup| &setup.processes);
    processes.filter(|process| process.measured && process.url.is_some())
}

/// The version of each program, without duplicates.
fn versions(lab: &Lab, topology: &[Placed], plimsoll: &str) -> Vec<(String, String)> {
    let mut versions = vec![("plimsoll".to_owned(), plimsoll.to_owned())];
    let mut add = |name: &str, text: String| {
        if versions.iter().all(|(_, known)| *known != text) {
            versions.push((name.to_owned(), text));
        }
    };
    let running: Vec<&str> = already_running(lab)
        .map(|process| process.name.as_str())
        .collect();
    let ours = format!("plimsoll {plimsoll}");
    for placed in topology {
        match &placed.version {
            Some(version) if *version == ours => {}
            Some(version) => add(&placed.name, version.clone()),
            // Added below.
            None if running.contains(&placed.name.as_str()) => {}
            None => add(&placed.name, format!("{}, version unknown", placed.name)),
        }
        for (name, version) in &placed.settings {
            if let Some(extension) = name.strip_prefix("extension ") {
                add(extension, format!("{extension} {version}"));
            }
        }
    }
    for name in running {
        let mut placed = topology.iter().filter(|placed| placed.name == name);
        if placed.all(|placed| placed.version.is_none()) {
            add(name, format!("{name} was already running, version unknown"));
        }
    }
    versions
}

fn cell_of(lab: &Lab, cell: &Cell, store: &Store) -> (CellResult, Vec<Measured>, Vec<Placed>) {
    let facts: Vec<(u32, Facts)> = (1..=cell.load.runs())
        .filter_map(|number| Some((number, store.facts(cell.number, number)?)))
        .collect();
    let topology = facts
        .first()
        .map(|(_, facts)| facts.topology.clone())
        .unwrap_or_default();
    let link = facts.last().and_then(|(_, facts)| facts.link.clone());
    let sanity = facts.last().and_then(|(_, facts)| facts.sanity.clone());
    let command = facts
        .first()
        .map(|(_, facts)| facts.command.join(" "))
        .unwrap_or_default();
    let lost: Vec<String> = facts
        .iter()
        .filter_map(|(number, facts)| Some(format!("repeat {number}: {}", facts.failed.as_ref()?)))
        .collect();
    let measured: Vec<Measured> = facts
        .into_iter()
        .map(|(number, facts)| {
            let relative = format!("cells/{}/{number}", cell.number);
            repeat::read(
                cell,
                number,
                facts,
                &store.repeat(cell.number, number),
                &relative,
            )
        })
        .collect();
    let mut findings = findings::of(cell, &measured, link.as_ref(), share_cpus(lab, cell));
    findings::lower_about_means(lab, &mut findings);
    let (verdict, reasons) = verdict(&measured, &findings, &lost);
    let invalid = verdict == "invalid" || measured.is_empty();
    let mut protocols = std::collections::BTreeMap::new();
    for (protocol, count) in measured.iter().flat_map(|one| &one.protocols) {
        *protocols.entry(protocol.clone()).or_insert(0) += count;
    }
    let searches: Vec<LimitSearch> = measured
        .iter()
        .filter_map(|one| one.search.clone())
        .collect();
    let written = CellResult {
        name: cell.name.clone(),
        place: cell.coordinates.0.clone(),
        state: state(lab, cell, &measured, store),
        command,
        link,
        protocol_declared: cell.load.protocol.clone(),
        protocols,
        sanity,
        figures: if invalid {
            Vec::new()
        } else {
            figures::of(cell, &measured)
        },
        repeats: measured.iter().map(|one| one.repeat.clone()).collect(),
        verdict,
        reasons,
        findings,
        published: lab
            .published
            .iter()
            .filter(|one| one.when.holds(&cell.coordinates))
            .map(|one| plimsoll_results::lab::Published {
                figure: one.figure.clone(),
                value: one.value,
                note: one.note.clone(),
            })
            .collect(),
        limit: crate::limit_search::together(&searches),
    };
    (written, measured, topology)
}

fn state(lab: &Lab, cell: &Cell, measured: &[Measured], store: &Store) -> CellState {
    if !cell.chosen {
        return CellState::LeftOut;
    }
    let restarts = until::enough_restarts(lab, cell, cell.load.restarts, store);
    let restarts = restarts.unwrap_or(cell.load.restarts);
    let wanted = restarts.saturating_mul(cell.load.repeats);
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    if measured.len() >= wanted {
        return CellState::Measured;
    }
    match store.fate(cell.number) {
        Some(state) if measured.is_empty() => state,
        Some(CellState::Insane(why) | CellState::Failed(why)) => CellState::Partial(why),
        _ if measured.is_empty() => CellState::Missing,
        _ => CellState::Partial(format!("{} of {wanted} runs are done", measured.len())),
    }
}

fn verdict(measured: &[Measured], findings: &[Finding], lost: &[String]) -> (String, Vec<String>) {
    if measured.is_empty() {
        return (String::new(), Vec::new());
    }
    let mut reasons = Vec::new();
    for one in measured {
        for (cause, why) in &one.repeat.generator.reasons {
            if one.repeat.generator.verdict != "valid" {
                reasons.push(format!("repeat {}: {cause}: {why}", one.repeat.number));
            }
        }
    }
    let contradicts = |finding: &&Finding| {
        finding.level == "error"
            && ["protocol-mismatch", "declared-vs-counted", "failed-checks"]
                .contains(&finding.rule.as_str())
    };
    reasons.extend(
        findings
            .iter()
            .filter(contradicts)
            .map(|finding| finding.text.clone()),
    );
    reasons.extend(lost.iter().cloned());
    let found = if findings.iter().any(|finding| contradicts(&finding)) || !lost.is_empty() {
        "invalid"
    } else if findings.iter().any(|finding| finding.level == "error") {
        "suspect"
    } else {
        "valid"
    };
    let verdicts = measured
        .iter()
        .map(|one| one.repeat.generator.verdict.as_str());
    let worst = crate::limit_search::worst(verdicts.chain([found]));
    (worst.to_owned(), reasons)
}

/// Whether the generator and a system may share processors.
fn share_cpus(lab: &Lab, cell: &Cell) -> bool {
    let Some(setup) = lab.variants.get(cell.variant) else {
        return false;
    };
    let load = &cell.load.cpus;
    setup
        .processes
        .iter()
        .filter(|process| process.url.is_none() && process.host.is_none())
        .any(|process| {
            load.is_empty()
                || process.cpus.is_empty()
                || process.cpus.iter().any(|cpu| load.contains(cpu))
        })
}
