//! The parts of the report, in order.

use std::collections::BTreeMap;

use plimsoll_results::lab::{Cell, Figure, Finding, LabResult};

use crate::document::{Block, Detail, Document, Head, Table, Words, non_empty_sections};
use crate::matrix::is_shown;
use crate::naming::{cell_id, describe_cell, describe_state, figures, format_count};
use crate::{
    answer, cells, claims, comparisons, first_screen, groups, matrix, method, objectives, pivot,
    published, tails, terms,
};

/// The whole document.
pub fn document(result: &LabResult) -> Document {
    let answer::Conclusion {
        places,
        sentences,
        statements,
        details,
        tables,
    } = answer::page_conclusion(result);
    let stated: Vec<Words> = sentences.iter().chain(&details).cloned().collect();
    let more = further_comparisons(result, &stated);
    let plot = matrix::main_plot(result);
    let results = pivot::blocks(result);
    let mut first: Vec<Block> = places.map(Block::Prose).into_iter().collect();
    first.push(Block::Points(sentences));
    first.extend(statements);
    let count = details.len();
    let details = (count > 0).then(|| Block::Folded {
        summary: format_count(count, "finding in full", "findings in full"),
        blocks: vec![Block::Points(details)],
    });
    let uses = |blocks: &[Block]| blocks.iter().map(block_text).collect::<Vec<_>>().join("\n");
    let text = [
        uses(&first),
        uses(details.as_slice()),
        uses(&tables),
        uses(plot.as_slice()),
        uses(&results),
        uses(&more),
    ];
    let text = text.join("\n");
    first.extend(tables);
    first.extend(details);
    first.extend(terms::terms_paragraph(&text).map(Block::Prose));
    first.push(Block::Facts(first_screen::facts(result)));
    first.extend(plot);
    let sections = non_empty_sections([
        ("conclusion", "Conclusion", first),
        ("results", "Results", results),
        ("more", "Further comparisons", more),
        (
            "errors",
            "Errors in the published report",
            published::errors(result),
        ),
        ("audit", "Audit", audit_blocks(result)),
        ("cells", "Cells", cell_index(result)),
    ]);
    let mut evidence = non_empty_sections([
        (
            "plots",
            "More plots",
            vec![Block::Detail(Detail::Curves, matrix::other_plots(result))],
        ),
        ("comparisons", "Comparisons", comparisons::blocks(result)),
        ("objectives", "Objectives", objectives::blocks(result)),
        (
            "percentiles",
            "Percentile curves",
            vec![Block::Detail(Detail::Curves, tails::blocks(result))],
        ),
        ("cpu", "CPU time per request", matrix::cpu_blocks(result)),
        (
            "published",
            "Published and measured figures",
            published::blocks(result),
        ),
        ("findings", "Audit findings", finding_blocks(result)),
        (
            "environment",
            "Test environment",
            method::environment_blocks(result),
        ),
        (
            "topology",
            "Processes and links",
            method::topology_blocks(result),
        ),
        (
            "repeat",
            "Reproducing the results",
            method::repeat_blocks(result),
        ),
    ]);
    evidence.extend(cells::sections(result));
    Document {
        title: result.title.clone(),
        question: result.question.clone(),
        sections,
        evidence,
        filter: Some(("cells", "such as far or suspect")),
        footer: Words::plain(format!(
            "Written by plimsoll {} from result.json ({}).",
            result.plimsoll, result.schema
        )),
    }
}

/// The words of a block that may use terms: sentences, captions and headings.
fn block_text(block: &Block) -> String {
    match block {
        Block::Points(points) => {
            let points = points.iter().map(Words::to_text);
            points.collect::<Vec<_>>().join("\n")
        }
        Block::Table(table) => {
            let heads = table.head.iter().map(|head| head.text.as_str());
            let parts = std::iter::once(table.caption.as_str()).chain(heads);
            parts.collect::<Vec<_>>().join("\n")
        }
        Block::Plot(plot) => plot.caption.clone(),
        Block::Folded { blocks, .. } => {
            let parts = blocks.iter().map(block_text);
            parts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The comparisons that do not fit into the conclusion: first those that answer a question of the lab. The others are
/// collapsed.
fn further_comparisons(result: &LabResult, stated: &[Words]) -> Vec<Block> {
    if result.comparisons.is_empty() {
        return Vec::new();
    }
    let groups = groups::groups(result);
    let (mut answers, mut others) = (Vec::new(), Vec::new());
    for theme in groups::themes(&groups) {
        let Some(sentence) = claims::theme_sentence(result, &theme) else {
            continue;
        };
        if stated.contains(&sentence) {
            continue;
        }
        let is_answer = claims::is_decided(result, &theme) && is_asked(result, &theme);
        match is_answer {
            true => answers.push(sentence),
            false => others.push(sentence),
        }
    }
    let mut blocks = Vec::new();
    if !answers.is_empty() {
        blocks.push(Block::Points(answers));
    }
    if !others.is_empty() {
        blocks.push(Block::Folded {
            summary: format_count(
                others.len(),
                "comparison that is uncertain or beyond the questions of this lab",
                "comparisons that are uncertain or beyond the questions of this lab",
            ),
            blocks: vec![Block::Points(others)],
        });
    }
    let excluded = claims::excluded_sentence(result).filter(|sentence| !stated.contains(sentence));
    let words = excluded.map_or_else(Words::new, |words| words.text(" "));
    blocks.push(Block::Prose(
        words
            .text("Every pair of cells is in the table of ")
            .link("comparisons", "comparisons")
            .text("."),
    ));
    blocks
}

/// Whether the lab asks about a theme: it is a primary comparison, or the figure and an axis of a declared table. A
/// lab without tables asks about all themes.
fn is_asked(result: &LabResult, theme: &groups::Theme) -> bool {
    let (axis, figure) = (theme.first.axis, theme.first.figure);
    let mut cells = theme
        .groups
        .iter()
        .flat_map(|group| &group.members)
        .map(|one| &one.cells.1);
    result.tables.is_empty()
        || theme.is_primary()
        || result.tables.iter().any(|table| {
            let mut axes = table.rows.iter().chain(&table.columns);
            table.figures.iter().any(|name| name == figure)
                && axes.any(|name| name == axis)
                && cells.any(|cell| table.cells.contains(cell))
        })
}

/// Each rule of the audit that found something, with the number of cells.
fn audit_blocks(result: &LabResult) -> Vec<Block> {
    let mut rules: BTreeMap<(u8, &str, &str), (usize, usize)> = BTreeMap::new();
    let key = |finding: &'_ Finding| level_rank(&finding.level);
    for finding in &result.findings {
        let counts = rules
            .entry((key(finding), &finding.level, &finding.rule))
            .or_default();
        counts.0 += 1;
    }
    for cell in result.cells.iter().filter(|cell| is_shown(cell)) {
        let mut seen: Vec<&str> = Vec::new();
        for finding in &cell.findings {
            let counts = rules
                .entry((key(finding), &finding.level, &finding.rule))
                .or_default();
            if !seen.contains(&finding.rule.as_str()) {
                seen.push(&finding.rule);
                counts.1 += 1;
            }
        }
    }
    if result.cells.is_empty() {
        return Vec::new();
    }
    if rules.is_empty() {
        return vec![Block::Prose(Words::plain(
            "The audit found no problem with these figures.",
        ))];
    }
    let rows = rules
        .iter()
        .map(|((_, level, rule), (whole, cells))| {
            vec![
                Words::new().strong(*level),
                Words::new().code(*rule),
                Words::plain(match (whole, cells) {
                    (_, 0) => "the lab as a whole".to_owned(),
                    (_, cells) => format_count(*cells, "cell", "cells"),
                }),
            ]
        })
        .collect();
    vec![
        Block::Table(Table {
            caption: "What the audit found".to_owned(),
            head: vec![Head::words("level"), Head::words("rule"), Head::words("in")],
            rows,
            names: 1,
        }),
        Block::Prose(
            Words::plain("The calculation of each is in the list of ")
                .link("audit findings", "findings")
                .text("."),
        ),
    ]
}

fn level_rank(level: &str) -> u8 {
    match level {
        "error" => 0,
        "warning" => 1,
        _ => 2,
    }
}

/// The first figure of the first table that contains the cell; otherwise its own first one.
fn main_figure<'a>(result: &LabResult, cell: &'a Cell) -> Option<&'a Figure> {
    let table = result
        .tables
        .iter()
        .filter(|table| table.cells.contains(&cell.name));
    table
        .flat_map(|table| &table.figures)
        .find_map(|name| figures(cell).iter().find(|figure| figure.name == *name))
        .or_else(|| figures(cell).first())
}

/// The share of one processor that the generator used.
fn generator_cpu(cell: &Cell) -> Option<&Figure> {
    figures(cell)
        .iter()
        .find(|figure| figure.name == "generator_cpu")
}

/// The list of cells with their verdicts and main figures.
fn cell_index(result: &LabResult) -> Vec<Block> {
    let rows: Vec<Vec<Words>> = result
        .cells
        .iter()
        .filter(|cell| is_shown(cell))
        .map(|cell| {
            vec![
                Words::new().link(describe_cell(result, cell), cell_id(result, cell)),
                Words::new().verdict(describe_state(cell).0),
                main_figure(result, cell).map_or_else(Words::new, |figure| {
                    Words::new().figure(figure.value, None, &figure.unit)
                }),
                generator_cpu(cell).map_or_else(Words::new, |figure| {
                    Words::new().figure(figure.value, None, &figure.unit)
                }),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Index(Table {
        caption: "Each cell with its runs, time series, conditions and output".to_owned(),
        head: vec![
            Head::words("cell"),
            Head::words("verdict"),
            Head::figures("main figure"),
            Head::figures("generator, of one processor"),
        ],
        rows,
        names: 1,
    })]
}

/// All audit findings, worst first, with links to the cells.
fn finding_blocks(result: &LabResult) -> Vec<Block> {
    let mut all: Vec<(u8, Words)> = Vec::new();
    let words = |finding: &Finding| {
        Words::new()
            .strong(finding.level.clone())
            .text(" ")
            .code(finding.rule.clone())
            .text(": ")
            .text(finding.text.clone())
    };
    for finding in &result.findings {
        all.push((level_rank(&finding.level), words(finding)));
    }
    for cell in result.cells.iter().filter(|cell| is_shown(cell)) {
        for finding in &cell.findings {
            all.push((
                level_rank(&finding.level),
                Words::new()
                    .link(describe_cell(result, cell), cell_id(result, cell))
                    .text(": ")
                    .append(words(finding)),
            ));
        }
    }
    if all.is_empty() {
        return Vec::new();
    }
    all.sort_by_key(|(rank, _)| *rank);
    vec![Block::Points(
        all.into_iter().map(|(_, words)| words).collect(),
    )]
}
