//! Checks a column of changes next to exactly two columns of figures.

use crate::document::Table;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::records::{Figure, Kind, Name, read};
use crate::report::Findings;
use crate::rules::change::Change;
use crate::rules::tables::cell_at;

static CHANGE: Pattern = pattern!(
    r"(?i)^\W*(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b)\s*(?:better|faster|slower|worse|less|more|lower|higher|reduction|improvement|increase|decrease|gain|[↑↓⬆⬇✅🚀]|\W)*$"
);

const NAMES: [&str; 9] = [
    "change",
    "improvement",
    "delta",
    "difference",
    "speedup",
    "speed-up",
    "gain",
    "reduction",
    "diff",
];

/// A row with two figures of the same kind and a change.
struct Row {
    line: usize,
    kind: Kind,
    one: Figure,
    other: Figure,
    /// The change as written.
    written: String,
    change: Change,
    /// The written sign of the change, if any.
    up: Option<bool>,
}

pub fn check_table(table: &Table, findings: &mut Findings) {
    let Some(column) = table.header.iter().position(|name| {
        let name = name.to_lowercase();
        NAMES.iter().any(|word| name.contains(word))
    }) else {
        return;
    };
    let rows: Vec<Row> = table
        .rows
        .iter()
        .take(500)
        .filter_map(|(line, cells)| parse_row(table, column, *line, cells))
        .collect();
    for row in rows
        .iter()
        .filter(|row| !row.change.is_between(&row.one, &row.other))
    {
        let arithmetic = row.change.describe_difference(&row.one, &row.other);
        report_row(row, arithmetic, "ratio-misstated", findings);
    }
    for kind in [Kind::Time, Kind::Rate] {
        let signed: Vec<(&Row, bool)> = rows
            .iter()
            .filter(|row| row.kind == kind && row.one.value != row.other.value)
            .filter_map(|row| Some((row, row.up? == (row.other.value > row.one.value))))
            .collect();
        // If lower is better, an improvement may be written as positive, but then in every row.
        for usual in [true, false] {
            let mut odd = signed.iter().filter(|(_, fits)| *fits != usual);
            let (Some((row, _)), None) = (odd.next(), odd.next()) else {
                continue;
            };
            if signed.len() < 4 {
                continue;
            }
            let arithmetic = format!(
                "from {} to {} the change has another sign than in the {} other rows",
                row.one.text,
                row.other.text,
                signed.len() - 1
            );
            report_row(row, arithmetic, "comparison-reversed", findings);
        }
    }
}

fn parse_row(table: &Table, column: usize, line: usize, cells: &[String]) -> Option<Row> {
    let figures: Vec<(usize, Figure)> = cells
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != column && *at > 0)
        .filter_map(|(at, cell)| Some((at, read(cell)?)))
        .collect();
    let [(first, one), (second, other)] = &figures[..] else {
        return None;
    };
    // A time and a rate cannot be compared.
    let first = Name::read(table.header.get(*first)?);
    let second = Name::read(table.header.get(*second)?);
    let unlike = first.meaning != second.meaning && (first.is_known() || second.is_known());
    let comparable = one.kind == other.kind
        && one.kind != Kind::Percent
        && one.value > 0.0
        && other.value > 0.0
        && !(unlike && first.quantity != second.quantity);
    let text = cell_at(cells, column).trim().trim_matches('*');
    let found = CHANGE.first(text).filter(|_| comparable)?;
    let up = match text.chars().next() {
        Some('+' | '↑' | '⬆') => Some(true),
        Some('-' | '−' | '↓' | '⬇') => Some(false),
        _ => None,
    };
    // The header may contain the unit.
    let kind = match (one.kind, first.unit) {
        (Kind::Plain, Some((_, kind))) => kind,
        (kind, _) => kind,
    };
    Some(Row {
        line,
        kind,
        one: one.clone(),
        other: other.clone(),
        written: group(&found, 0).to_owned(),
        change: Change::read(group(&found, 1), group(&found, 2), "")?,
        up,
    })
}

fn report_row(row: &Row, arithmetic: String, rule: &'static str, findings: &mut Findings) {
    findings.page(
        rule,
        Level::Warning,
        row.line,
        [
            format!("{}, {}: {}", row.one.text, row.other.text, row.written),
            arithmetic,
            "Recalculate it from the two cells, and state the base of the percentage.".to_owned(),
        ],
    );
}
