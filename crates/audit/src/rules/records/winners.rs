//! A column that names the winner of each row, "A wins 7 of 9", and "8 of 10 passed", counted in the table.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::subject::is_uncertain;
use super::warn;
use crate::document::Table;
use crate::records::{Figure, Kind, Name, field, is_rank, label_words as name};
use crate::report::{Findings, Report};
use crate::rules::prose::shortened;
use crate::rules::tables::cell;

/// A table whose rows compare the things that its columns name.
struct Contest<'t> {
    table: &'t Table,
    /// The column and the name of each rival.
    rivals: Vec<(usize, &'t str)>,
    /// The column that names the winner.
    winner: Option<usize>,
}

const TIE: f64 = 0.02;

/// Words of figures, which are not names of rivals.
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

pub fn tables(report: &Report, findings: &mut Findings) {
    for contest in contests(report, |_| true) {
        if let Some(column) = contest.winner {
            named(&contest, column, findings);
        }
    }
}

fn contests<'r>(
    report: &'r Report,
    fits: impl Fn(&Table) -> bool + 'r,
) -> impl Iterator<Item = Contest<'r>> {
    let tables = report.document.tables.iter().take(200);
    tables
        .filter(move |table| fits(table) && !report.is_output(table.line))
        .filter_map(contest)
}

fn contest(table: &Table) -> Option<Contest<'_>> {
    const WINNERS: [&str; 5] = ["winner", "fastest", "best", "faster", "winner?"];
    let plain = |at: usize| table.header[at].trim_matches(['*', ' ']).to_lowercase();
    let winner = (1..table.header.len()).find(|at| WINNERS.contains(&plain(*at).as_str()));
    // Rivals are not figures by their names, and not comparisons of others.
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
    /// The rivals' figures in a row, and whether more is better.
    fn figures(&self, row: &[String]) -> Option<(Vec<(&str, Figure)>, bool)> {
        let side = Name::read(cell(row, 0));
        let mut figures = Vec::new();
        for (at, rival) in &self.rivals {
            // The unit may be in the name of the row or of the column.
            let column = Name::read(&self.table.header[*at]);
            let by_row = field(&side, cell(row, *at));
            let read = match by_row {
                Some(read) if read.figure.kind == Kind::Plain && column.unit.is_some() => {
                    field(&column, cell(row, *at))
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

    /// The rivals with the best figure of a row, with ties.
    fn best<'f>(figures: &'f [(&'f str, Figure)], more: bool) -> Vec<&'f str> {
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

/// Whether a cell or a phrase names a rival, and no other one.
fn is_named(text: &str, rival: &str, rivals: &[(usize, &str)]) -> bool {
    let said = name(text);
    let has = |rival: &str| {
        let words = name(rival);
        let words: Vec<&String> = words
            .iter()
            .filter(|word| !METRICS.contains(&word.as_str()))
            .collect();
        !words.is_empty() && words.iter().all(|word| said.contains(word))
    };
    has(rival)
        && rivals
            .iter()
            .all(|(_, other)| *other == rival || !has(other))
}

/// The winner that a row names has not the best figure of the row.
fn named(contest: &Contest, column: usize, findings: &mut Findings) {
    for (line, row) in &contest.table.rows {
        let Some((figures, more)) = contest.figures(row) else {
            continue;
        };
        let said = cell(row, column);
        let Some((rival, mine)) = figures
            .iter()
            .find(|(rival, _)| is_named(said, rival, &contest.rivals))
        else {
            continue;
        };
        let best = Contest::best(&figures, more);
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
                    "{}: {rival} {}, {other} {}; {said}",
                    cell(row, 0),
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

static WINS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(.*?)\b(?:wins|won|leads|led|is (?:the )?(?:fastest|faster|best)|was (?:the )?(?:fastest|faster|best)|comes out ahead|outperforms [^,.;]*?|beats [^,.;]*?|takes)\s+(?:in\s+|on\s+|at\s+)?(?:all\s+)?(\d{1,3})\s*(?:/|of|out of)\s*(?:the\s+|all\s+)?(\d{1,3})\b").ok()
});
static WINS_BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*([^:]{2,40}?)\s*(?:wins)?\s*:\s*\W*(\d{1,3})\s*(?:/|of|out of)\s*(\d{1,3})\s*(?:wins|tests|benchmarks|categories|scenarios|workloads)\b").ok()
});
static PASSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(\d{1,3})\s*(?:/|of|out of)\s*(?:the\s+|all\s+)?(\d{1,3})\s+(?:[\w-]+\s+){0,3}?(?:(?:were|are|have|has|was)\s+)?(?:pass(?:ed|ing)?|met|succeeded|successful|achieved)\b").ok()
});
static ALL_PASSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:all|every)\s+(?:(\d{1,3})\s+)?(?:of the\s+|the\s+)?(?:[\w-]+\s+){0,3}?(?:tests?|scenarios?|checks?|criteria|targets?|slos?|objectives?|goals?|benchmarks?|thresholds?|endpoints?|requirements?|metrics?)\s+(?:(?:were|are|have|has|was|been)\s+){0,2}(?:pass(?:ed|ing|es)?|met|achieved|exceeded|✅)").ok()
});

pub fn sentence(report: &Report, text: &str, line: usize, findings: &mut Findings) {
    if text.len() > 300 || is_uncertain(text) {
        return;
    }
    let plain = numerals(&text.replace(['*', '`', '"'], ""));
    if plain.contains(|letter: char| letter.is_ascii_digit()) {
        for pattern in [&WINS, &WINS_BEHIND] {
            let found = pattern
                .as_ref()
                .and_then(|pattern| pattern.captures(&plain));
            if let Some(found) = found {
                let number = |at: usize| found.get(at)?.as_str().parse::<usize>().ok();
                if let (Some(who), Some(said), Some(all)) = (found.get(1), number(2), number(3)) {
                    wins(report, text, line, (who.as_str(), said, all), findings);
                }
            }
        }
    }
    passed(report, text, &plain, line, findings);
}

/// Numbers in words before "of": "seven of nine" is "7 of 9".
pub fn numerals(text: &str) -> String {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let lower = text.to_lowercase();
    if !(lower.contains(" of ") && WORDS.iter().any(|word| lower.contains(word))) {
        return text.to_owned();
    }
    let words: Vec<&str> = text.split(' ').collect();
    let value = |word: &str| {
        let plain = word
            .trim_matches(|letter: char| !letter.is_alphanumeric())
            .to_lowercase();
        WORDS.iter().position(|known| *known == plain)
    };
    let skips = |word: &&str| matches!(word.to_lowercase().as_str(), "of" | "the" | "all" | "out");
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before_of = words
            .get(at + 1)
            .is_some_and(|next| matches!(*next, "of" | "out"));
        let behind_of = words[..at]
            .iter()
            .rev()
            .take_while(|word| skips(word))
            .any(|word| *word == "of");
        match value(word).filter(|_| before_of || behind_of) {
            Some(value) => out.push(value.to_string()),
            None => out.push((*word).to_owned()),
        }
    }
    out.join(" ")
}

/// "A wins 7 of 9" next to the tables of the page whose rows are nine.
fn wins(
    report: &Report,
    text: &str,
    line: usize,
    (who, said, all): (&str, usize, usize),
    findings: &mut Findings,
) {
    let contests: Vec<Contest> = contests(report, |table| table.rows.len() == all)
        .filter(|contest| {
            contest
                .rivals
                .iter()
                .any(|(_, rival)| is_named(who, rival, &contest.rivals))
        })
        .collect();
    // The only table with this number of rows.
    let [contest] = &contests[..] else {
        return;
    };
    let mut sure = 0;
    let mut possible = 0;
    for (_, row) in &contest.table.rows {
        let Some((figures, more)) = contest.figures(row) else {
            // The winner of a row without comparable figures is unknown, unless a column names it.
            let named = contest.winner.is_some_and(|at| {
                contest.rivals.iter().any(|(_, rival)| {
                    is_named(who, rival, &contest.rivals)
                        && is_named(cell(row, at), rival, &contest.rivals)
                })
            });
            possible += usize::from(named || contest.winner.is_none());
            sure += usize::from(named);
            continue;
        };
        let best = Contest::best(&figures, more);
        let mine = best
            .iter()
            .any(|rival| is_named(who, rival, &contest.rivals));
        possible += usize::from(mine);
        sure += usize::from(mine && best.len() == 1);
    }
    if (sure..=possible).contains(&said) {
        return;
    }
    warn(
        "total-mismatch",
        line,
        [
            format!("\"{}\"; the table has {all} rows", shortened(text)),
            format!("it has the best figure in {possible} of them, not in {said}"),
            "Count the rows again.".to_owned(),
        ],
        findings,
    );
}

/// Whether a cell says that its row passed.
fn verdict(text: &str) -> Option<bool> {
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if text.len() > 60 {
        return None;
    }
    if has(&["❌", "✗", "✘", "fail", "missed", "not met"]) {
        return Some(false);
    }
    has(&["✅", "✓", "✔", "pass", "met"]).then_some(true)
}

/// The verdicts of a table, if it has a column of them.
fn verdicts(table: &Table) -> Option<Vec<(usize, &str, bool)>> {
    const NAMES: [&str; 8] = [
        "status",
        "result",
        "verdict",
        "pass",
        "pass?",
        "met?",
        "met",
        "pass/fail",
    ];
    let at = table.header.iter().rposition(|name| {
        let lower = name.trim_matches(['*', ' ']).to_lowercase();
        NAMES.contains(&lower.as_str())
    })?;
    let all = table
        .rows
        .iter()
        .take(200)
        .map(|(line, row)| Some((*line, cell(row, 0), verdict(cell(row, at))?)))
        .collect::<Option<Vec<_>>>()?;
    (all.len() >= 2).then_some(all)
}

/// "8 of 10 passed", "all tests passed" next to the only table with verdicts in the section.
fn passed(report: &Report, text: &str, plain: &str, line: usize, findings: &mut Findings) {
    let captures = |pattern: &'static LazyLock<Option<Regex>>| {
        pattern.as_ref().and_then(|one| one.captures(plain))
    };
    let number =
        |found: &regex_lite::Captures, at: usize| found.get(at)?.as_str().parse::<usize>().ok();
    let (said, all) = match (captures(&PASSED), captures(&ALL_PASSED)) {
        (Some(found), _) => (number(&found, 1), number(&found, 2)),
        (None, Some(found)) => (None, number(&found, 1)),
        _ => return,
    };
    let titles = report.document.titles(line);
    let near = |table: &&Table| {
        let own = report.document.titles(table.line);
        own.starts_with(&titles) || titles.starts_with(&own) && !own.is_empty()
    };
    let tables = report.document.tables.iter().take(200);
    let mut judged = tables.filter(near).filter_map(verdicts);
    let (Some(rows), None) = (judged.next(), judged.next()) else {
        return;
    };
    let good = rows.iter().filter(|(_, _, good)| *good).count();
    let same = all.is_none_or(|all| all == rows.len());
    let wrong = match said {
        Some(said) => said != good,
        None => good < rows.len(),
    };
    if !same || !wrong {
        return;
    }
    let missed: Vec<&str> = rows
        .iter()
        .filter(|(_, _, good)| !good)
        .map(|(_, label, _)| *label)
        .collect();
    warn(
        if said.is_some() {
            "total-mismatch"
        } else {
            "objective-contradicted"
        },
        line,
        [
            format!(
                "\"{}\"; missed in the table: {}",
                shortened(text),
                missed.join(", ")
            ),
            format!("{good} of {} rows passed", rows.len()),
            "Count the rows again, and name those that were missed.".to_owned(),
        ],
        findings,
    );
}

#[cfg(test)]
mod tests {
    use super::numerals;

    #[test]
    fn numbers_in_words_are_read_next_to_of() {
        for (text, wanted) in [
            ("It wins seven of nine tests.", "It wins 7 of 9 tests."),
            ("Two of the three were slow.", "2 of the 3 were slow."),
            ("One test of many was slow.", "One test of many was slow."),
            ("no one is first", "no one is first"),
        ] {
            assert_eq!(numerals(text), wanted);
        }
    }
}
