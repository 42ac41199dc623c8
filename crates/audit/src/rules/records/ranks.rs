//! Ranks in tables and sentences that the figures exclude: a column of places, "B is second",
//! "A > B > C", "1. A  2. B".

use std::sync::LazyLock;

use regex_lite::Regex;

use super::subject::{Metric, is_uncertain, named};
use super::warn;
use crate::document::Table;
use crate::records::{Field, Grid, Grids, Kind, Record, is_rank, rank};
use crate::report::{Findings, Report};
use crate::rules::prose::shortened;

/// Two figures are in order if they differ by less than this share the wrong way.
const TIE: f64 = 0.01;

pub fn tables(report: &Report, grids: &Grids, findings: &mut Findings) {
    for table in report.document.tables.iter().take(200) {
        let grid = grids.rows.iter().find(|grid| grid.line == table.line);
        if let Some(grid) = grid {
            places(table, grid, findings);
        }
    }
}

/// The place of each row of a table, by its line.
fn placed(table: &Table) -> Option<Vec<(usize, u32)>> {
    let column = table.header.iter().position(|name| is_rank(name));
    // An index is not a rank.
    let said = column.filter(|at| {
        let name = table.header[*at]
            .trim_matches(['*', ' ', '.'])
            .to_lowercase();
        !matches!(name.as_str(), "#" | "no")
    });
    let medal = |row: &[String]| {
        let cell = row
            .iter()
            .take(2)
            .find(|cell| cell.contains(['🥇', '🥈', '🥉']))?;
        rank(cell)
    };
    let medals = table.rows.iter().any(|(_, row)| medal(row).is_some());
    if said.is_none() && !medals {
        return None;
    }
    let places = table.rows.iter().take(100).filter_map(|(line, row)| {
        let own = column.and_then(|at| rank(row.get(at)?));
        Some((*line, own.or_else(|| medal(row))?))
    });
    let places: Vec<(usize, u32)> = places.collect();
    // Several rankings in one table.
    let rising = places.windows(2).all(|pair| pair[0].1 < pair[1].1);
    (places.len() >= 3 && rising).then_some(places)
}

/// A row that is above another one and worse in each of their figures.
fn places(table: &Table, grid: &Grid, findings: &mut Findings) {
    const SCORES: [&str; 6] = ["score", "points", "overall", "weighted", "total", "rating"];
    let scored = table.header.iter().any(|name| {
        let lower = name.to_lowercase();
        SCORES.iter().any(|word| lower.contains(word))
    });
    let Some(places) = placed(table).filter(|_| !scored) else {
        return;
    };
    let rows: Vec<(&Record, u32)> = places
        .iter()
        .filter_map(|(line, place)| {
            Some((grid.records.iter().find(|row| row.line == *line)?, *place))
        })
        .collect();
    let records: Vec<&Record> = rows.iter().map(|(row, _)| *row).collect();
    let ordered = |field: &Field| {
        let figures: Vec<f64> = records
            .iter()
            .filter_map(|row| Some(same(row, field)?.figure.value))
            .collect();
        figures.len() == records.len() && (is_falling(&figures) || is_falling(&negated(&figures)))
    };
    // The column by which it ranks, whatever it is.
    if records.len() < 3 || records[0].fields.iter().any(ordered) {
        return;
    }
    for (at, (above, place)) in rows.iter().enumerate() {
        for (below, next) in &rows[at + 1..] {
            if let Some((worse, better)) = beaten(above, below) {
                warn(
                    "comparison-reversed",
                    above.line,
                    [
                        format!(
                            "{} on place {place}, {}: {}; {} on place {next}: {}",
                            above.label,
                            worse.name.text,
                            worse.figure.text,
                            below.label,
                            better.figure.text
                        ),
                        format!(
                            "{} is better than {}, and no other figure of the table puts {} above {}",
                            better.figure.text, worse.figure.text, above.label, below.label
                        ),
                        "Rank by one figure, and name it.".to_owned(),
                    ],
                    findings,
                );
                return;
            }
        }
    }
}

fn same<'r>(row: &'r Record, field: &Field) -> Option<&'r Field> {
    row.fields
        .iter()
        .find(|known| known.name.text == field.name.text && known.figure.kind == field.figure.kind)
}

fn negated(figures: &[f64]) -> Vec<f64> {
    figures.iter().map(|figure| -figure).collect()
}

fn is_falling(figures: &[f64]) -> bool {
    figures
        .windows(2)
        .all(|pair| pair[1] <= pair[0] + TIE * pair[0].abs())
}

/// A figure in which the second record is better, if it is better in all of them that can be compared.
fn beaten<'r>(above: &'r Record, below: &'r Record) -> Option<(&'r Field, &'r Field)> {
    let mut first = None;
    for field in &above.fields {
        let Some(other) = same(below, field) else {
            continue;
        };
        let (mine, theirs) = (field.figure.value, other.figure.value);
        // Less memory may be what it ranks by.
        let more = match (field.more_is_better(), field.figure.kind) {
            (Some(more), _) => more,
            (None, Kind::Data | Kind::Percent) => false,
            (None, Kind::DataRate) => true,
            _ => continue,
        };
        let better = match more {
            true => theirs > (1.0 + TIE) * mine,
            false => theirs < (1.0 - TIE) * mine,
        };
        let exact = !field.figure.bound && !other.figure.bound && mine > 0.0 && theirs > 0.0;
        if !(better && exact) {
            return None;
        }
        if field.more_is_better().is_some() {
            first = first.or(Some((field, other)));
        }
    }
    first
}

static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(.+?)\s+(?:is|was|are|came|comes|ranks?|ranked|finish(?:es|ed)|takes?|took|places?|placed|sits|holds?)\s+(?:in\s+|at\s+|the\s+|a\s+|clear\s+|close\s+|solid\s+|still\s+|only\s+|number\s+|#)*(first|second|third|fourth|fifth|last|1st|2nd|3rd|4th|5th)\b\s*(?:(fastest|slowest|best|worst|highest|lowest|place|position|overall|in|with|by|for|on|behind|at|among|of|[.,;(:]|$))").ok()
});

/// "B is second", "C has the third place", "D is the second slowest".
pub fn sentence(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let lower = sentence.to_lowercase();
    const PLACES: [&str; 11] = [
        "first", "second", "third", "fourth", "fifth", "last", "1st", "2nd", "3rd", "4th", "5th",
    ];
    if sentence.len() > 300 || is_uncertain(sentence) {
        return;
    }
    if PLACES.iter().any(|word| lower.contains(word)) {
        place(grids, sentence, line, findings);
    }
    if sentence.contains(" > ") || sentence.contains(" ≫ ") || sentence.contains(" >> ") {
        chain(grids, sentence, line, findings);
    }
    if lower.contains("followed by") || lower.contains("fastest to slowest") {
        followed(grids, sentence, line, findings);
    }
}

fn place(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let plain = sentence.replace(['*', '`', '"'], "");
    let Some(found) = PLACE.as_ref().and_then(|pattern| pattern.captures(&plain)) else {
        return;
    };
    let group = |at: usize| {
        found
            .get(at)
            .map_or("", |group| group.as_str())
            .to_lowercase()
    };
    let subject = group(1);
    let subject = subject
        .rsplit([',', ':', ';', '('])
        .next()
        .unwrap_or(&subject);
    let place = match group(2).as_str() {
        "first" | "1st" => 1,
        "second" | "2nd" => 2,
        "third" | "3rd" => 3,
        "fourth" | "4th" => 4,
        "fifth" | "5th" => 5,
        _ => 0,
    };
    let from_worst = matches!(group(3).as_str(), "slowest" | "worst");
    let of_value = match group(3).as_str() {
        "highest" => Some(true),
        "lowest" => Some(false),
        _ => None,
    };
    let Some(metric) = Metric::of(&plain) else {
        return;
    };
    let mut against = None;
    for grid in grids.grids().filter(|grid| grid.records.len() >= 3) {
        let Some(records) = named(grid, subject) else {
            continue;
        };
        let [record] = &records[..] else {
            return;
        };
        for field in record.fields.iter().filter(|field| metric.has(field)) {
            let Some(more) = of_value.or(field.more_is_better()) else {
                continue;
            };
            let more = more != from_worst;
            let Some((best, worst, all)) = span(grid, record, field, more) else {
                continue;
            };
            let wanted = if place == 0 { all } else { place };
            if (best..=worst).contains(&wanted) {
                return;
            }
            against = against.or(Some((field.clone(), best, all)));
        }
    }
    let Some((field, best, all)) = against else {
        return;
    };
    warn(
        "comparison-reversed",
        line,
        [
            format!(
                "\"{}\"; {}: {}",
                shortened(sentence),
                field.name.text,
                field.figure.text
            ),
            format!(
                "{} is number {best} of {all} in its column, and no other figure of the record has the place",
                field.figure.text
            ),
            "Name the figure by which it has this place.".to_owned(),
        ],
        findings,
    );
}

/// The places that a record may have in a column with ties, and how many records the column has.
fn span(grid: &Grid, record: &Record, field: &Field, more: bool) -> Option<(usize, usize, usize)> {
    let mine = field.figure.value;
    let (mut best, mut worst, mut all) = (1, 1, 1);
    for other in grid
        .records
        .iter()
        .filter(|other| !std::ptr::eq(*other, record))
    {
        let Some(figure) = same(other, field).map(|field| field.figure.value) else {
            continue;
        };
        all += 1;
        let apart = (figure - mine).abs() > TIE * mine.abs();
        let ahead = if more { figure > mine } else { figure < mine };
        best += usize::from(apart && ahead);
        worst += usize::from(!apart || ahead);
    }
    (all >= 3 && mine > 0.0).then_some((best, worst, all))
}

/// "A > B > C": at least three records in an order that no figure has.
fn chain(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let plain = sentence
        .replace(['*', '`', '"'], "")
        .replace(['≫'], ">")
        .replace(">>", ">");
    let listed = plain.rsplit(':').next().unwrap_or(&plain);
    let names: Vec<&str> = listed.split(" > ").map(str::trim).collect();
    if names.len() >= 3 {
        ordered(grids, &names, sentence, line, true, findings);
    }
}

static FOLLOWED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(.+?)\s+(?:is|was|leads|led|wins|won|takes|comes|came|has|had|performs?|performed|achieves?|achieved|shows?|showed)\b[^,;]*,\s+(?:closely\s+)?followed by\s+(.+?)(?:,?\s+(?:and\s+)?(?:then\s+)?(?:by\s+)?(?:and|then)\s+(.+?))?(?:[.;(]|$)").ok()
});

/// "A is the fastest, followed by B and C".
fn followed(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let plain = sentence.replace(['*', '`', '"'], "");
    if let Some((_, listed)) = plain.split_once("fastest to slowest") {
        let names: Vec<&str> = listed
            .trim_start_matches([':', ' ', '(', ')'])
            .split([',', '→', '>'])
            .map(|name| name.trim().trim_start_matches("and ").trim_end_matches('.'))
            .collect();
        if names.len() >= 3 {
            ordered(grids, &names, sentence, line, false, findings);
        }
        return;
    }
    let lower = plain.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let praised = says(&[
        "fastest",
        "best",
        "leads",
        "led ",
        "wins",
        "won ",
        "highest throughput",
        "highest rps",
        "lowest latency",
    ]);
    if !praised || says(&["slowest", "worst", "lowest throughput", "highest latency"]) {
        return;
    }
    let Some(found) = FOLLOWED
        .as_ref()
        .and_then(|pattern| pattern.captures(&plain))
    else {
        return;
    };
    let group = |at: usize| found.get(at).map(|group| group.as_str().trim());
    let first = group(1).map(|text| text.rsplit([',', ':', ';']).next().unwrap_or(text));
    let mut names: Vec<&str> = first.into_iter().collect();
    for text in [group(2), group(3)].into_iter().flatten() {
        names.extend(
            text.split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty()),
        );
    }
    if names.len() >= 2 {
        ordered(grids, &names, sentence, line, false, findings);
    }
}

/// Reports an order of records that no column of a grid with all of them has.
pub fn ordered(
    grids: &Grids,
    names: &[&str],
    sentence: &str,
    line: usize,
    either_way: bool,
    findings: &mut Findings,
) {
    let Some(metric) = Metric::of(sentence) else {
        return;
    };
    let mut against: Option<(String, String)> = None;
    for grid in grids.grids() {
        let records: Vec<&Record> = names
            .iter()
            .filter_map(|name| match named(grid, name).as_deref() {
                Some([record]) => Some(*record),
                _ => None,
            })
            .collect();
        let distinct = records.iter().enumerate().all(|(at, one)| {
            records[at + 1..]
                .iter()
                .all(|other| !std::ptr::eq(*one, *other))
        });
        if records.len() != names.len() || !distinct {
            continue;
        }
        for field in &records[0].fields {
            let figures: Vec<f64> = records
                .iter()
                .filter_map(|row| Some(same(row, field)?.figure.value))
                .collect();
            if figures.len() != names.len() {
                continue;
            }
            let signed = match field.more_is_better() {
                Some(false) => negated(&figures),
                _ => figures.clone(),
            };
            let reversed = either_way || field.more_is_better().is_none();
            if is_falling(&signed) || reversed && is_falling(&negated(&signed)) {
                return;
            }
            if metric.has(field) && field.more_is_better().is_some() && against.is_none() {
                let shown: Vec<&str> = records
                    .iter()
                    .filter_map(|row| Some(same(row, field)?.figure.text.as_str()))
                    .collect();
                against = Some((field.name.text.clone(), shown.join(", ")));
            }
        }
    }
    let Some((column, shown)) = against else {
        return;
    };
    warn(
        "comparison-reversed",
        line,
        [
            format!("\"{}\"; {column}: {shown}", shortened(sentence)),
            format!("{shown} are not in this order, and no other figure of the records is"),
            "Order them by one figure, and name it.".to_owned(),
        ],
        findings,
    );
}

static ITEM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(\d{1,2})[.)]\s+\W{0,4}([^:(–—|-]{2,40}?)\W{0,3}\s*(?:[:(–—-]|$)").ok()
});

/// A numbered list of records under a heading or a line that calls it a ranking.
pub fn numbered(report: &Report, grids: &Grids, findings: &mut Findings) {
    const RANKING: [&str; 8] = [
        "rank",
        "fastest",
        "leaderboard",
        "from best",
        "podium",
        "order of performance",
        "by throughput",
        "by performance",
    ];
    let Some(pattern) = ITEM.as_ref() else {
        return;
    };
    let lines: Vec<&str> = report.text.lines().take(20_000).collect();
    let mut at = 0;
    while at < lines.len() {
        let items: Vec<(u32, String)> = lines[at..]
            .iter()
            .take(20)
            .map_while(|line| {
                let found = pattern.captures(line.get(..line.len().min(200))?)?;
                let number = found.get(1)?.as_str().parse().ok()?;
                Some((number, found.get(2)?.as_str().replace(['*', '`'], "")))
            })
            .collect();
        let rising = items
            .iter()
            .enumerate()
            .all(|(at, (number, _))| *number as usize == at + 1);
        if items.len() >= 3 && rising {
            let mut above = lines[..at].iter().rev().take(5);
            let lead = above.find(|line| !line.trim().is_empty());
            let lead = lead.map_or(String::new(), |line| line.to_lowercase());
            if RANKING.iter().any(|word| lead.contains(word)) {
                let names: Vec<&str> = items.iter().map(|(_, name)| name.trim()).collect();
                ordered(grids, &names, &lead, at + 1, false, findings);
            }
        }
        at += items.len().max(1);
    }
}
