//! Reads the records of a page into grids: tables in either orientation, lists of `name: value`,
//! and the outputs of tools with their titles.

use super::cell::{self, Figure, Kind};
use super::name::{Meaning, Name};
use super::{Field, Record};
use crate::block::Block;
use crate::document::Table;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Quantity, Unit};
use crate::report::Report;

/// Records that can be compared with each other.
#[derive(Clone, Debug)]
pub struct Grid {
    pub line: usize,
    pub records: Vec<Record>,
}

/// All records that were read from a page.
pub struct Grids {
    pub tables: Vec<Grid>,
    /// The same tables with one record per row, whatever their orientation.
    pub rows: Vec<Grid>,
    /// Lists and lines of `name: value`.
    pub lists: Vec<Record>,
    /// The outputs of tools.
    pub outputs: Option<Grid>,
}

const MAX_TABLES: usize = 200;
const MAX_ROWS: usize = 300;
const MAX_COLUMNS: usize = 40;
const MAX_LISTS: usize = 300;

impl Grids {
    pub fn from_report(report: &Report) -> Grids {
        let drawn = super::drawn::find_tables(report);
        let all = || {
            let tables = report.document.tables.iter().chain(&drawn);
            tables
                .filter(|table| !report.is_output(table.line))
                .take(MAX_TABLES)
        };
        let tables = all()
            .filter_map(|one| table_to_grid(report, one, false))
            .collect();
        let rows = all()
            .filter_map(|one| table_to_grid(report, one, true))
            .collect();
        Grids {
            tables,
            rows,
            lists: find_lists(report),
            outputs: outputs_to_grid(report),
        }
    }

    /// Whether any table or list has load-test results.
    pub fn has_results(&self) -> bool {
        let listed = self.lists.iter().any(|list| {
            let timed = list.fields.iter().filter(|field| {
                field.name.is_statistic() && field.figure.kind == Kind::Time
                    || field.figure.kind == Kind::Rate
            });
            let counted = list.only_field(Meaning::Requests).is_some();
            let least = if counted { 1 } else { 2 };
            list.fields.len() >= 3 && timed.count() >= least
        });
        // Columns of times with their units are results, whatever their names.
        let of_times = self.rows.iter().any(|grid| {
            let with_times = grid.records.iter().filter(|record| {
                let times = record
                    .fields
                    .iter()
                    .filter(|field| field.figure.kind == Kind::Time);
                times.count() >= 2
            });
            with_times.count() >= 3
        });
        if listed || of_times {
            return true;
        }
        let mut fields = self
            .tables
            .iter()
            .flat_map(|grid| &grid.records)
            .flat_map(|record| &record.fields);
        fields.any(|field| {
            let timed = matches!(field.name.unit, Some((_, Kind::Time)));
            field.name.is_statistic()
                || field.name.meaning == Meaning::Rate
                || field.figure.kind == Kind::Rate
                || timed
        })
    }

    /// Tables and outputs.
    pub fn grids(&self) -> impl Iterator<Item = &Grid> {
        self.tables.iter().chain(&self.outputs)
    }
}

/// Reads a cell. A figure without a unit has the unit of its name.
pub fn parse_field(name: &Name, cell: &str) -> Option<Field> {
    let mut figure = cell::read(cell)?;
    if figure.kind == Kind::Plain {
        if let Some((scale, kind)) = name.unit {
            figure.value *= scale;
            figure.step *= scale;
            figure.coarse *= scale;
            figure.kind = kind;
        } else if name.meaning == Meaning::Rate {
            figure.kind = Kind::Rate;
        } else if name.is_share() {
            figure.kind = Kind::Percent;
        }
    }
    Some(Field {
        name: name.clone(),
        figure,
    })
}

/// Whether a table has figures such as `503,5ms`. Then the dot in `3.203ms` groups thousands.
fn has_decimal_commas(table: &Table) -> bool {
    let mut cells = table.rows.iter().take(MAX_ROWS).flat_map(|(_, row)| row);
    cells.any(|cell| {
        cell.match_indices(',').any(|(at, _)| {
            let digits = |letter: &char| letter.is_ascii_digit();
            let before = cell[..at].chars().rev().take_while(digits).count();
            let after = cell[at + 1..].chars().take_while(digits).count();
            before > 0 && matches!(after, 1 | 2)
        })
    })
}

/// Reads a cell whose table may have decimal commas.
fn cell_field(name: &Name, cell: &str, commas: bool) -> Option<Field> {
    let digits = |letter: &char| letter.is_ascii_digit();
    let grouped = |at: usize| {
        let before = cell[..at].chars().rev().take_while(digits).count();
        (1..=3).contains(&before) && cell[at + 1..].chars().take_while(digits).count() == 3
    };
    let Some((at, _)) = cell
        .match_indices('.')
        .find(|(at, _)| commas && grouped(*at))
    else {
        return parse_field(name, cell);
    };
    let mut field = parse_field(name, &format!("{}{}", &cell[..at], &cell[at + 1..]))?;
    cell.trim_matches(['*', '`', ' '])
        .clone_into(&mut field.figure.text);
    Some(field)
}

/// The records of a table: its columns if the row names look like figures, otherwise its rows.
/// `by_rows` forces rows.
fn table_to_grid(report: &Report, table: &Table, by_rows: bool) -> Option<Grid> {
    let names: Vec<Name> = table
        .header
        .iter()
        .take(MAX_COLUMNS)
        .map(|text| Name::read(text))
        .collect();
    if names.len() < 2 {
        return None;
    }
    let rows: Vec<&(usize, Vec<String>)> = table.rows.iter().take(MAX_ROWS).collect();
    let sides: Vec<Name> = rows
        .iter()
        .map(|(_, row)| Name::read(row.first().map_or("", String::as_str)))
        .collect();
    let known = |names: &[Name]| names.iter().filter(|name| name.is_known()).count();
    let across =
        !by_rows && known(&sides) > known(names.get(1..)?) && sides.iter().any(Name::is_known);
    let label_at = label_column(table);
    let commas = has_decimal_commas(table);
    // The heading states the subject of a table of names and values.
    let title = report.document.titles(table.line).pop();
    let label = |column: &str| match title.as_ref().filter(|_| is_general(column)) {
        Some(title) => title.clone(),
        None => column.to_owned(),
    };
    let records: Vec<Record> = if across {
        (1..names.len())
            .map(|at| {
                let fields = rows
                    .iter()
                    .zip(&sides)
                    .filter_map(|((_, row), name)| cell_field(name, row.get(at)?, commas))
                    .collect();
                Record::new(table.line, label(&names[at].text), fields)
            })
            .collect()
    } else {
        rows.iter()
            .map(|(line, row)| {
                let fields = names
                    .iter()
                    .zip(row)
                    .enumerate()
                    // The number of users may be the name of a row.
                    .filter(|(at, (name, _))| {
                        *at > label_at || *at == label_at && name.meaning == Meaning::Users
                    })
                    .filter_map(|(_, (name, cell))| cell_field(name, cell, commas))
                    .collect();
                Record::new(
                    *line,
                    row.get(label_at).cloned().unwrap_or_default(),
                    fields,
                )
            })
            .collect()
    };
    let records: Vec<Record> = records
        .into_iter()
        .filter(|record| !record.fields.is_empty())
        .collect();
    (!records.is_empty()).then_some(Grid {
        line: table.line,
        records,
    })
}

/// The column that names the rows: the first one, or the second one if the first contains ranks.
fn label_column(table: &Table) -> usize {
    let cell = |row: &[String], at: usize| row.get(at).map_or("", String::as_str).to_owned();
    let rows = || table.rows.iter().take(MAX_ROWS).map(|(_, row)| row);
    let ranked = rows().all(|row| parse_rank(&cell(row, 0)).is_some());
    let named = rows().all(|row| {
        let name = cell(row, 1);
        name.chars().any(char::is_alphabetic) && cell::read(&name).is_none()
    });
    let numbered = rows()
        .enumerate()
        .all(|(at, row)| parse_rank(&cell(row, 0)).is_some_and(|rank| rank as usize == at + 1));
    let is_rank_column = is_rank(table.header.first().map_or("", String::as_str));
    usize::from(table.header.len() > 2 && ranked && named && (is_rank_column || numbered))
}

/// Whether a column name means a rank.
pub fn is_rank(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "rank",
        "ranking",
        "place",
        "position",
        "pos",
        "#",
        "no",
        "rang",
        "排名",
        "순위",
        "место",
        "順位",
    ];
    let lower = name.trim_matches(['*', ' ', '.']).to_lowercase();
    NAMES.contains(&lower.as_str())
}

/// Parses a rank: `1`, `#2`, `3rd`, or a medal.
pub fn parse_rank(cell: &str) -> Option<u32> {
    for (at, medal) in ["🥇", "🥈", "🥉"].into_iter().enumerate() {
        if cell.contains(medal) {
            return u32::try_from(at + 1).ok();
        }
    }
    let plain = cell.trim_matches(['*', '#', ' ', '.', ')']).to_lowercase();
    let digits = plain.trim_end_matches(|letter: char| letter.is_alphabetic());
    let suffix = &plain[digits.len()..];
    let fits = matches!(suffix, "" | "st" | "nd" | "rd" | "th" | "위" | "位");
    digits
        .parse()
        .ok()
        .filter(|rank| fits && (1..=200).contains(rank))
}

/// Whether the name of a column tells nothing about the record.
fn is_general(column: &str) -> bool {
    const NAMES: [&str; 8] = [
        "value",
        "result",
        "results",
        "measured",
        "actual",
        "observed",
        "achieved",
        "measured result",
    ];
    let lower = column.trim_matches(['*', ' ']).to_lowercase();
    NAMES.contains(&lower.as_str())
}

/// Reads lists of `name: value` in prose, and lines of `name: value` or `name = value` in code that
/// is not the output of a known tool. A repeated name starts another record.
fn find_lists(report: &Report) -> Vec<Record> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for prose in report.prose() {
        lines.extend(prose.lines().map(|(line, text)| (line, text.to_owned())));
    }
    for code in report.document.codes.iter().take(MAX_TABLES) {
        for line in code.lines(report.text).into_iter().take(400) {
            if !report.is_output(line.number) && line.text.len() < 200 {
                lines.push((line.number, line.text.to_owned()));
            }
        }
    }
    lines.sort_by_key(|(line, _)| *line);
    let mut records: Vec<Record> = Vec::new();
    let mut last = 0;
    let mut open = false;
    for (line, text) in lines.iter().take(20_000) {
        let fields = parse_fields(text);
        let Some(first) = fields.first() else {
            continue;
        };
        let near = line.saturating_sub(last) <= 3;
        last = *line;
        let fits = open
            && near
            && records.last().is_some_and(|record| {
                !record
                    .fields
                    .iter()
                    .any(|known| known.name.text.eq_ignore_ascii_case(&first.name.text))
            });
        if let Some(record) = records.last_mut().filter(|_| fits) {
            record.fields.extend(fields);
            continue;
        }
        if records.len() >= MAX_LISTS {
            break;
        }
        open = true;
        records.push(Record::new(*line, String::new(), fields));
    }
    records.retain(|record| record.fields.len() >= 2);
    records
}

static COMPLETED: Pattern = pattern!(
    r"(?i)^\W*(\d[\d,]*)\s+(?:requests|transactions|operations|queries)\s+(?:completed|processed|served|sent)\s+in\s+(\d[\d.,]*\s?(?:ms|s|secs?|seconds|min|minutes))\b"
);
static ALONE: Pattern = pattern!(
    r"(?i)^\W*(min|max|avg|average|mean|median|p\d\d(?:\.\d+)?)\s+(\d[\d.,]*\s?[a-zµμ]{0,12})\W*$"
);

/// The named figures of a line: `name: value`, `Min 134 ms`, `1000 requests completed in 2 seconds`.
fn parse_fields(text: &str) -> Vec<Field> {
    if let Some(found) = COMPLETED.first(text) {
        let of = |name: &str, at: usize| parse_field(&Name::read(name), group(&found, at));
        return of("requests", 1)
            .into_iter()
            .chain(of("completed in", 2))
            .collect();
    }
    if let Some(found) = ALONE.first(text) {
        return parse_field(&Name::read(group(&found, 1)), group(&found, 2))
            .into_iter()
            .collect();
    }
    parse_pair(text).into_iter().collect()
}

/// Parses `name: value` or `name = value`.
fn parse_pair(text: &str) -> Option<Field> {
    let text = text.trim().trim_start_matches(['-', '*', '•', '│', ' ']);
    let (name, value) = text
        .split_once(": ")
        .or_else(|| text.split_once(":\t"))
        .or_else(|| text.split_once(" = "))
        .or_else(|| text.split_once('：'))?;
    let name = Name::read(name.trim_end_matches('.'));
    if name.text.len() > 60 || !name.is_known() {
        return None;
    }
    parse_field(&name, value.trim())
}

/// The outputs of the page as records. The innermost title of an output is its label.
fn outputs_to_grid(report: &Report) -> Option<Grid> {
    let records: Vec<Record> = report
        .blocks
        .iter()
        .take(100)
        .filter_map(block_to_record)
        .collect();
    let line = records.first()?.line;
    Some(Grid { line, records })
}

fn block_to_record(block: &Block) -> Option<Record> {
    let label = block.titles.last()?.clone();
    let mut fields = Vec::new();
    let mut push = |meaning: Meaning, name: &str, figure: Option<&Quantity>| {
        fields.extend(figure.and_then(|figure| quantity_to_field(meaning, name, figure)));
    };
    push(Meaning::Rate, "rate", block.rate.as_ref());
    push(Meaning::Duration, "duration", block.elapsed.as_ref());
    if let Some(latency) = block.latency() {
        push(Meaning::Mean, "mean", latency.mean.as_ref());
        push(Meaning::Max, "max", latency.max.as_ref());
        for (quantile, figure) in &latency.quantiles {
            let name = crate::block::quantile_name(*quantile);
            push(Meaning::Quantile(*quantile), &name, Some(figure));
        }
    }
    Some(Record::new(block.first_line, label, fields))
}

fn quantity_to_field(meaning: Meaning, name: &str, figure: &Quantity) -> Option<Field> {
    let kind = match figure.unit {
        Unit::Time => Kind::Time,
        Unit::Rate => Kind::Rate,
        Unit::Count => Kind::Plain,
        _ => return None,
    };
    Some(Field {
        name: Name {
            text: name.to_owned(),
            meaning,
            quantity: if meaning == Meaning::Rate {
                "rps"
            } else {
                "latency"
            }
            .to_owned(),
            unit: None,
        },
        figure: Figure {
            value: figure.value,
            step: figure.step,
            coarse: figure.step,
            kind,
            about: false,
            bound: false,
            text: figure.text.clone(),
        },
    })
}
