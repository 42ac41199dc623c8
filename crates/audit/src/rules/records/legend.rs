//! "🟢 < 50 ms, 🟡 50–200 ms, 🔴 > 200 ms": a row has a mark of the legend and a figure of another class.

use super::tiers::Limits;
use super::warn;
use crate::records::{Figure, Name, parse_field};
use crate::report::{Findings, Report};

/// A mark or a word, with the limits of its class.
struct Class {
    line: usize,
    name: String,
    limits: Limits,
}

/// Maximum distance of the lines of a legend.
const APART: usize = 2;

pub fn check(report: &Report, findings: &mut Findings) {
    for legend in find_legends(report) {
        for table in report.document.tables.iter().take(200) {
            let units: Vec<Name> = table.header.iter().map(|name| Name::read(name)).collect();
            for (line, row) in table.rows.iter().take(500) {
                let side = row.first().map(|name| Name::read(name));
                let figures: Vec<Figure> = row
                    .iter()
                    .zip(&units)
                    .skip(1)
                    .filter_map(|(cell, name)| {
                        let by_column = parse_field(name, cell)?.figure;
                        let by_row = side.as_ref().and_then(|side| parse_field(side, cell));
                        let kind = legend[0].limits.kind;
                        match by_column.kind == kind {
                            true => Some(by_column),
                            false => by_row.map(|field| field.figure),
                        }
                    })
                    .filter(|figure| figure.kind == legend[0].limits.kind && !figure.bound)
                    .collect();
                let mut marked = row.iter().filter_map(|cell| find_class(&legend, cell));
                let ([figure], Some(class), None) = (&figures[..], marked.next(), marked.next())
                else {
                    continue;
                };
                if class.limits.allows(figure.value) {
                    continue;
                }
                warn(
                    "label-mismatch",
                    *line,
                    [
                        format!("{}: {}, {}", row[0], figure.text, class.name),
                        format!(
                            "{} is {} (line {}), but {} is not",
                            class.name, class.limits.text, class.line, figure.text
                        ),
                        "Mark the row according to the legend.".to_owned(),
                    ],
                    findings,
                );
            }
        }
    }
}

/// The class named in a cell, either alone or after the figure.
fn find_class<'l>(legend: &'l [Class], cell: &str) -> Option<&'l Class> {
    let plain = cell.trim_matches(['*', '`', ' ']).to_lowercase();
    let has = |class: &&Class| match class.name.is_ascii() {
        true => plain == class.name,
        false => plain.contains(class.name.as_str()),
    };
    let mut found = legend.iter().filter(has);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Finds legends: at least two classes in neighboring lines that have the same unit and do not overlap.
fn find_legends(report: &Report) -> Vec<Vec<Class>> {
    let mut legends: Vec<Vec<Class>> = Vec::new();
    for prose in report.prose() {
        for (line, text) in prose.lines().filter(|(_, text)| text.len() < 300) {
            for part in text.split([',', ';', '|', '·']) {
                let Some(class) = read(line, part) else {
                    continue;
                };
                let fits = |legend: &&mut Vec<Class>| {
                    legend.last().is_some_and(|last| {
                        line.abs_diff(last.line) <= APART && last.limits.kind == class.limits.kind
                    })
                };
                match legends.last_mut().filter(fits) {
                    Some(legend) => legend.push(class),
                    None => legends.push(vec![class]),
                }
            }
        }
    }
    let apart = |one: &Class, other: &Class| {
        let (one, other) = (&one.limits, &other.limits);
        one.high <= other.low || other.high <= one.low
    };
    legends.retain(|legend| {
        let mut pairs = legend
            .iter()
            .enumerate()
            .flat_map(|(at, one)| legend[at + 1..].iter().map(move |other| (one, other)));
        legend.len() >= 2 && pairs.all(|(one, other)| one.name != other.name && apart(one, other))
    });
    legends
}

/// Parses "🟢 Good: < 50 ms": a mark or one word, then limits, then nothing else.
fn read(line: usize, text: &str) -> Option<Class> {
    let limits = Limits::parse_only(text)?;
    let after = text.get(limits.place.end..)?;
    if after.contains(char::is_alphanumeric) {
        return None;
    }
    let before = text.get(..limits.place.start)?;
    let is_mark =
        |letter: char| matches!(letter, '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}');
    let mark: String = before
        .chars()
        .filter(|letter| is_mark(*letter))
        .take(1)
        .collect();
    let mut words = before
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let name = match (mark.is_empty(), words.next(), words.next()) {
        (false, _, _) => mark,
        (true, Some(word), None) if word.len() >= 3 => word.to_lowercase(),
        _ => return None,
    };
    Some(Class { line, name, limits })
}
