//! Tables whose columns are rivals: the winner named in a row does not have the best figure of that row.

use super::warn;
use crate::document::Table;
use crate::records::{Figure, Kind, Name, is_rank, label_words as name, parse_field};
use crate::report::{Findings, Report};
use crate::rules::tables::cell_at;

/// A table whose rows compare the rivals that its columns name.
pub struct Contest<'t> {
    pub table: &'t Table,
    /// The column index and the name of each rival.
    pub rivals: Vec<(usize, &'t str)>,
    /// The column that names the winner.
    pub winner: Option<usize>,
}

const TIE: f64 = 0.02;

/// Words that denote a figure and are not names of rivals.
const METRICS: [&str; 38] = [
    "req",
    "reqs",
    "requests",
    "s",
    "sec",
    "second",
    "per",
    "rps",
    "qps",
    "tps",
    "ops",
    "ms",
    "us",
    "µs",
    "μs",
    "ns",
    "op",
    "latency",
    "throughput",
    "time",
    "response",
    "avg",
    "average",
    "mean",
    "median",
    "min",
    "max",
    "p50",
    "p90",
    "p95",
    "p99",
    "error",
    "errors",
    "rate",
    "users",
    "duration",
    "total",
    "failed",
];

pub fn check_tables(report: &Report, findings: &mut Findings) {
    for contest in find_contests(report, |_| true) {
        if let Some(column) = contest.winner {
            check_named_winners(&contest, column, findings);
        }
    }
}

/// The tables that compare two to twelve rivals.
pub fn find_contests<'r>(
    report: &'r Report,
    fits: impl Fn(&Table) -> bool + 'r,
) -> impl Iterator<Item = Contest<'r>> {
    let tables = report.document.tables.iter().take(200);
    tables
        .filter(move |table| fits(table) && !report.is_output(table.line))
        .filter_map(parse_contest)
}

fn parse_contest(table: &Table) -> Option<Contest<'_>> {
    const WINNERS: [&str; 5] = ["winner", "fastest", "best", "faster", "winner?"];
    let plain = |at: usize| table.header[at].trim_matches(['*', ' ']).to_lowercase();
    let winner = (1..table.header.len()).find(|at| WINNERS.contains(&plain(*at).as_str()));
    // The names of rivals are neither figures nor comparisons of other columns.
    const OTHER: [&str; 16] = [
        "speedup",
        "ratio",
        "diff",
        "delta",
        "change",
        "vs",
        "improvement",
        "gain",
        "target",
        "limit",
        "note",
        "status",
        "n",
        "size",
        "advantage",
        "factor",
    ];
    let rivals: Vec<(usize, &str)> = (1..table.header.len())
        .filter(|at| Some(*at) != winner && !is_rank(&table.header[*at]))
        .filter(|at| {
            let mut words = name(&table.header[*at]);
            words.retain(|word| !METRICS.contains(&word.as_str()));
            !words.is_empty() && !words.iter().any(|word| OTHER.contains(&word.as_str()))
        })
        .map(|at| (at, table.header[at].as_str()))
        .collect();
    ((2..=12).contains(&rivals.len()) && table.rows.len() <= 200).then_some(Contest {
        table,
        rivals,
        winner,
    })
}

impl Contest<'_> {
    /// The figures of the rivals in a row, and whether more is better.
    pub fn figures(&self, row: &[String]) -> Option<(Vec<(&str, Figure)>, bool)> {
        let side = Name::read(cell_at(row, 0));
        let mut figures = Vec::new();
        for (at, rival) in &self.rivals {
            // The unit may be in the name of the row or of the column.
            let column = Name::read(&self.table.header[*at]);
            let by_row = parse_field(&side, cell_at(row, *at));
            let read = match by_row {
                Some(read) if read.figure.kind == Kind::Plain && column.unit.is_some() => {
                    parse_field(&column, cell_at(row, *at))
                }
                other => other,
            };
            figures.push((*rival, read?));
        }
        let (_, first) = figures.first()?;
        let kind = first.figure.kind;
        let more = first.more_is_better()?;
        let alike = figures.iter().all(|(_, field)| {
            field.figure.kind == kind && field.figure.value > 0.0 && !field.figure.bound
        });
        let all = figures
            .into_iter()
            .map(|(rival, field)| (rival, field.figure))
            .collect();
        alike.then_some((all, more))
    }

    /// The rivals with the best figure of a row, including ties.
    pub fn best_rivals<'f>(figures: &'f [(&'f str, Figure)], more: bool) -> Vec<&'f str> {
        let values = figures.iter().map(|(_, figure)| figure.value);
        let best = match more {
            true => values.fold(f64::MIN, f64::max),
            false => values.fold(f64::MAX, f64::min),
        };
        figures
            .iter()
            .filter(|(_, figure)| (figure.value / best - 1.0).abs() <= TIE)
            .map(|(rival, _)| *rival)
            .collect()
    }
}

/// Whether a cell or a phrase names this rival and no other one.
pub fn is_named(text: &str, rival: &str, rivals: &[(usize, &str)]) -> bool {
    let claimed = name(text);
    let has = |rival: &str| {
        let words = name(rival);
        let words: Vec<&String> = words
            .iter()
            .filter(|word| !METRICS.contains(&word.as_str()))
            .collect();
        !words.is_empty() && words.iter().all(|word| claimed.contains(word))
    };
    has(rival)
        && rivals
            .iter()
            .all(|(_, other)| *other == rival || !has(other))
}

/// Reports a row whose named winner does not have the best figure.
fn check_named_winners(contest: &Contest, column: usize, findings: &mut Findings) {
    for (line, row) in &contest.table.rows {
        let Some((figures, more)) = contest.figures(row) else {
            continue;
        };
        let claimed = cell_at(row, column);
        let Some((rival, mine)) = figures
            .iter()
            .find(|(rival, _)| is_named(claimed, rival, &contest.rivals))
        else {
            continue;
        };
        let best = Contest::best_rivals(&figures, more);
        if best.contains(rival) {
            continue;
        }
        let Some((other, theirs)) = figures.iter().find(|(rival, _)| best.contains(rival)) else {
            continue;
        };
        warn(
            "comparison-reversed",
            *line,
            [
                format!(
                    "{}: {rival} {}, {other} {}; {claimed}",
                    cell_at(row, 0),
                    mine.text,
                    theirs.text
                ),
                format!(
                    "{} is better than {}, so {rival} is not first",
                    theirs.text, mine.text
                ),
                "Name the record with the best figure of the row.".to_owned(),
            ],
            findings,
        );
    }
}
