//! The sections of the report, in order.

use plimsoll_results::lab::LabResult;

use crate::document::{Block, Document, Section, Words};
use crate::naming::{cell_id, is_believed, short_name};
use crate::{answer, cells, comparisons, matrix, method, objectives, published, tails};

/// The whole document.
pub fn document(result: &LabResult) -> Document {
    let mut sections = Vec::new();
    let mut add = |id: &str, title: &str, blocks: Vec<Block>| {
        if !blocks.is_empty() {
            sections.push(Section {
                id: id.to_owned(),
                level: 2,
                title: Words::plain(title),
                blocks,
            });
        }
    };
    add(
        "conclusion",
        "Conclusion",
        vec![Block::Points(answer::sentences(result))],
    );
    let mut blocks = vec![Block::Prose(method::axes(result))];
    if result.axes.is_empty() {
        blocks.clear();
    }
    blocks.extend(matrix::blocks(result));
    add("matrix", "Results", blocks);
    add("comparisons", "Comparisons", comparisons::blocks(result));
    add("objectives", "Objectives", objectives::blocks(result));
    add("percentiles", "Percentile curves", tails::blocks(result));
    add("cpu", "Cost per request", matrix::cpu_blocks(result));
    add(
        "published",
        "Published and measured figures",
        published::blocks(result),
    );
    add(
        "errors",
        "Errors in the published report",
        published::errors(result),
    );
    add("audit", "Audit findings", findings(result));
    add(
        "environment",
        "Test environment",
        method::environment(result),
    );
    add("topology", "Processes and links", method::topology(result));
    add(
        "repeat",
        "Reproducing the results",
        method::repeating(result),
    );
    let each = cells::sections(result);
    if !each.is_empty() {
        add(
            "cells",
            "Cells",
            vec![Block::Prose(Words::plain(
                "Each cell with its verdict, its figures, declared and measured values, \
                 its data by second, its runs and the output of the tool.",
            ))],
        );
        sections.extend(each);
    }
    Document {
        title: result.title.clone(),
        question: result.question.clone(),
        facts: facts(result),
        sections,
        footer: Words::plain(format!(
            "Written by plimsoll {} from result.json ({}). Nothing on this page was typed by hand.",
            result.plimsoll, result.schema
        )),
    }
}

fn facts(result: &LabResult) -> Vec<(&'static str, String)> {
    let believed = result.cells.iter().filter(|cell| is_believed(cell)).count();
    let machine = &result.environment;
    let mut facts = vec![
        ("form", result.form.clone()),
        ("started", result.started.clone()),
        (
            "cells with figures",
            format!("{believed} of {}", result.cells.len()),
        ),
        (
            "machine",
            format!("{}, {} processors", machine.cpu, machine.cpus),
        ),
    ];
    if result.ended.is_none() {
        facts.push(("state", "not finished: cells are missing".to_owned()));
    }
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// All audit findings, worst first, with links to the cells.
fn findings(result: &LabResult) -> Vec<Block> {
    let mut all: Vec<(u8, Words)> = Vec::new();
    let rank = |level: &str| match level {
        "error" => 0,
        "warning" => 1,
        _ => 2,
    };
    let words = |finding: &plimsoll_results::lab::Finding| {
        Words::new()
            .strong(finding.level.clone())
            .text(" ")
            .code(finding.rule.clone())
            .text(": ")
            .text(finding.text.clone())
    };
    for finding in &result.findings {
        all.push((rank(&finding.level), words(finding)));
    }
    for cell in &result.cells {
        for finding in &cell.findings {
            all.push((
                rank(&finding.level),
                Words::new()
                    .link(short_name(result, cell), cell_id(result, cell))
                    .text(": ")
                    .and(words(finding)),
            ));
        }
    }
    if all.is_empty() {
        return vec![Block::Prose(Words::plain(
            "The audit found no problem with these figures.",
        ))];
    }
    all.sort_by_key(|(rank, _)| *rank);
    vec![Block::Points(
        all.into_iter().map(|(_, words)| words).collect(),
    )]
}
