//! "- **Average latency**: 12 ms", and tables with two columns, a name and a value, next to the
//! only output of the section, which prints a different value.

use std::collections::BTreeMap;

use super::duration::headings_above;
use super::repeated_output::Printed;
use super::total::has_count;
use super::words::{Metric, is_of_another_run, parse_metric};
use crate::block::{Block, Tool};
use crate::finding::Level;
use crate::quantity::{
    Quantity, Unit, format_number, format_value, parse_number, parse_time_unit, split_number,
};
use crate::report::{Findings, Report};
use crate::rules::failures::unsuccessful_responses;
use crate::rules::prose::shorten;

/// A value as a page states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// In seconds for a time, in percent for a share.
    pub value: f64,
    pub step: f64,
    pub unit: Option<Unit>,
    /// Whether it is marked as approximate, or rounded to thousands.
    pub about: bool,
    /// The digits as written.
    digits: String,
}

impl Value {
    /// An alternative reading of the value, in the unit of the figure to compare with.
    pub fn alternative(value: f64, step: f64) -> Value {
        Value {
            value,
            step,
            unit: None,
            about: false,
            digits: String::new(),
        }
    }

    pub fn scaled_by(mut self, scale: f64) -> Value {
        self.value *= scale;
        self.step *= scale;
        self
    }
}

/// A name, its value, and their position.
struct Claim {
    metric: Metric,
    value: Value,
    text: String,
    line: usize,
    /// The index of the table that contains it.
    table: Option<usize>,
}

pub fn check(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let claims = find_claims(report);
    if claims.is_empty() {
        return;
    }
    let numbers = Numbers::in_text(report.text);
    let printed = Printed::from_report(report);
    for claim in claims {
        let mut found = findings.found.iter();
        let known = found.any(|found| found.line == claim.line && found.level > Level::Note);
        // Nearly every page contains the number 100, so finding it elsewhere proves nothing.
        let whole = claim.metric == Metric::PassedShare && claim.value.value == 100.0;
        if known || !whole && numbers.is_on_another_line(&claim) {
            continue;
        }
        let block = only_block(report, claim.line)
            .or_else(|| find_repeated_block(report, &printed, &claim));
        if let Some(block) = block {
            judge(report, block, &claim, findings);
        }
    }
}

/// The output whose figures the table of the claim repeats.
fn find_repeated_block<'r>(
    report: &Report,
    printed: &Printed<'r>,
    claim: &Claim,
) -> Option<&'r Block> {
    let table = report.document.tables.get(claim.table?)?;
    let cells: Vec<&str> = table
        .rows
        .iter()
        .take(100)
        .flat_map(|(_, row)| row.iter().map(String::as_str))
        .collect();
    printed.find_by_figures(&cells, 2)
}

/// Maximum number of name-value pairs.
const MAX_VALUES: usize = 500;

/// The numbers on a page, each with the lines of its first and last occurrence.
struct Numbers(BTreeMap<String, (usize, usize)>);

impl Numbers {
    fn in_text(text: &str) -> Numbers {
        let mut lines = BTreeMap::new();
        for (at, line) in text.lines().enumerate().take(50_000) {
            for number in
                line.split(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | ',')))
            {
                let number = normalize_digits(number);
                if !number.is_empty() {
                    let known = lines.entry(number).or_insert((at + 1, at + 1));
                    known.1 = at + 1;
                }
            }
        }
        Numbers(lines)
    }

    /// Whether another line of the page has the same digits.
    fn is_on_another_line(&self, claim: &Claim) -> bool {
        self.0
            .get(&normalize_digits(&claim.value.digits))
            .is_some_and(|(first, last)| *first != claim.line || *last != claim.line)
    }
}

/// The digits without grouping characters and without punctuation at the end.
fn normalize_digits(number: &str) -> String {
    number.trim_matches(['.', ',']).replace(',', "")
}

fn find_claims(report: &Report) -> Vec<Claim> {
    let mut claims = Vec::new();
    for prose in report.prose() {
        for (line, text) in prose.lines() {
            if report.is_of_unprinted_run(line) {
                continue;
            }
            // Chinese and Japanese use a full-width colon.
            let pair = text.split_once(": ").or_else(|| text.split_once('：'));
            if let Some((label, value)) = pair {
                claims.extend(parse_claim(label, value, text, line, None));
            }
        }
    }
    for (at, table) in report.document.tables.iter().enumerate().take(200) {
        if table.header.iter().any(|name| is_of_another_run(name)) {
            continue;
        }
        for (line, row) in table.rows.iter().take(500) {
            // A row with a single value may end with empty cells.
            if let [label, value, rest @ ..] = &row[..]
                && rest.iter().all(|cell| is_empty(cell))
            {
                let text = format!("{label}: {value}");
                claims.extend(parse_claim(label, value, &text, *line, Some(at)));
            }
        }
    }
    claims.truncate(MAX_VALUES);
    claims
}

/// Whether a cell states no value.
fn is_empty(cell: &str) -> bool {
    matches!(
        cell.trim().to_lowercase().as_str(),
        "" | "-" | "–" | "—" | "n/a" | "na"
    )
}

fn parse_claim(
    label: &str,
    value: &str,
    text: &str,
    line: usize,
    table: Option<usize>,
) -> Option<Claim> {
    Some(Claim {
        metric: parse_metric(label)?,
        value: read(value)?,
        text: text.to_owned(),
        line,
        table,
    })
}

/// Parses one number with at most one unit. A range, a comparison or a change is not a value.
pub fn read(text: &str) -> Option<Value> {
    let text = text.trim().trim_start_matches(['*', '`', '_', ' ']);
    let (text, about) = ["~", "≈", "about ", "around ", "approx. ", "ca. "]
        .iter()
        .find_map(|word| Some((text.strip_prefix(word)?.trim_start(), true)))
        .unwrap_or((text, false));
    let (written, rest) = split_number(text)?;
    let written = written.trim_end_matches(['.', ',']);
    let (value, step) = parse_number(written)?;
    let rest = rest.trim_start();
    let end = rest
        .find(|letter: char| !(letter.is_alphabetic() || matches!(letter, '%' | '/')))
        .unwrap_or(rest.len());
    let (unit, after) = rest.split_at(end);
    // "600-800 ms", "5 → 3 ms", "12 ms to 40 ms".
    let other = ["-", "–", "→", "->", "±", "<", ">", "+"];
    let after = after.trim_start_matches(['*', '`', '_', ' ']);
    if value < 0.0
        || other.iter().any(|sign| after.starts_with(sign))
        || after.contains("→")
        || after.starts_with("to ")
        || after.starts_with("vs")
    {
        return None;
    }
    let lower = unit.to_lowercase();
    let (unit, scale) = match lower.as_str() {
        "" => (None, 1.0),
        "%" => (Some(Unit::Share), 1.0),
        "k" => (None, 1e3),
        name if parse_time_unit(name).is_some() => (Some(Unit::Time), parse_time_unit(name)?),
        "requests" | "reqs" => (Some(Unit::Count), 1.0),
        "rps" | "qps" | "tps" => (Some(Unit::Rate), 1.0),
        name if is_rate(name) => (Some(Unit::Rate), 1.0),
        _ => return None,
    };
    Some(Value {
        value: value * scale,
        step: step * scale,
        unit,
        about: about || lower == "k",
        digits: written.to_owned(),
    })
}

/// Whether this is a rate of requests, not of data.
fn is_rate(unit: &str) -> bool {
    let requests = ["req", "r/", "запр", "istek", "/s"];
    (unit.contains("/s") || unit.contains("/с"))
        && requests.iter().any(|word| unit.starts_with(word))
}

/// The only block under the headings of the line, or of the section that contains it.
fn only_block<'r>(report: &'r Report, line: usize) -> Option<&'r Block> {
    let titles = headings_above(report, line);
    if titles.iter().any(|title| is_of_another_run(title)) {
        return None;
    }
    let mut own = report
        .blocks
        .iter()
        .filter(|block| headings_above(report, block.first_line).starts_with(&titles));
    if let Some(block) = own.next() {
        // For an introduction above several sections, it is uncertain which output it describes.
        let same = headings_above(report, block.first_line) == titles;
        return (same && own.next().is_none()).then_some(block);
    }
    // This is a list in a section below the output.
    let mut above = report.blocks.iter().filter(|block| {
        let own = headings_above(report, block.first_line);
        !own.is_empty() && block.first_line < line && titles.starts_with(&own)
    });
    let block = above.next()?;
    let own = headings_above(report, block.first_line);
    let outputs = report
        .blocks
        .iter()
        .filter(|other| headings_above(report, other.first_line).starts_with(&own));
    (above.next().is_none() && outputs.count() == 1).then_some(block)
}

fn judge(report: &Report, block: &Block, claim: &Claim, findings: &mut Findings) {
    let claimed = &claim.value;
    let shown = match claim.metric {
        Metric::FailedShare => percent_failed(block).filter(|_| claimed.unit == Some(Unit::Share)),
        Metric::PassedShare => percent_passed(block).filter(|_| claimed.unit == Some(Unit::Share)),
        Metric::Requests => {
            let plain = matches!(claimed.unit, None | Some(Unit::Count));
            block
                .requests
                .as_ref()
                .filter(|_| plain && claimed.value >= 10.0)
                .map(|count| (count.value, count.text.clone(), count.line))
        }
        Metric::Rate => block
            .rate
            .as_ref()
            .filter(|_| matches!(claimed.unit, None | Some(Unit::Rate)))
            .map(|rate| (rate.value, rate.text.clone(), rate.line)),
        _ => latency_figure(block, claim.metric).filter(|_| claimed.unit == Some(Unit::Time)),
    };
    let Some((right, text, at)) = shown else {
        return;
    };
    let share = if claimed.about { 0.15 } else { 0.05 };
    // In many languages, a dot separates thousands.
    let grouped = claimed
        .digits
        .split_once('.')
        .is_some_and(|(_, after)| after.len() == 3);
    let near = |right: f64| {
        if claim.metric == Metric::PassedShare {
            // Near 100 %, a small difference means a large difference in failures.
            return (claimed.value - right).abs() <= claimed.step + 0.3;
        }
        let apart = |value: f64| (value - right).abs() <= claimed.step + share * right;
        apart(claimed.value) || grouped && apart(claimed.value * 1e3)
    };
    if near(right) || is_another_figure(report, claim, &near) {
        return;
    }
    findings.block(
        "stale-prose",
        Level::Warning,
        block,
        claim.line,
        [
            format!(
                "\"{}\"; the output has {text} (line {at})",
                shorten(&claim.text)
            ),
            match claim.metric {
                Metric::FailedShare | Metric::PassedShare => format!(
                    "{} % is not {}, and the page contains no such share",
                    format_number(claimed.value),
                    text
                ),
                _ => format!(
                    "{} is not {text}, and the page contains no such figure",
                    match claimed.unit {
                        Some(Unit::Time) => format_value(claimed.value, Unit::Time),
                        _ => format_number(claimed.value),
                    }
                ),
            },
            "Copy the figure from the output, or show the output that it is from.".to_owned(),
        ],
    );
}

fn latency_figure(block: &Block, metric: Metric) -> Option<(f64, String, usize)> {
    let figure = find_figure(block, metric).filter(|figure| figure.unit == Unit::Time)?;
    Some((figure.value, figure.text, figure.line))
}

/// The figure of an output to which a name refers.
pub fn find_figure(block: &Block, metric: Metric) -> Option<Quantity> {
    let latency = block.latency();
    match metric {
        Metric::Mean => latency?.mean.clone(),
        Metric::Min => latency?.min.clone(),
        Metric::Max => latency?.max.clone(),
        Metric::Quantile(quantile) => latency?.at(quantile).cloned(),
        Metric::Rate => block.rate.clone(),
        Metric::Requests => block.requests.clone(),
        Metric::FailedShare | Metric::PassedShare => None,
    }
}

/// The percentage that passed, of the checks or of the requests.
fn percent_passed(block: &Block) -> Option<(f64, String, usize)> {
    if let Some(tally) = &block.checks {
        let sum = tally.passed + tally.failed;
        let text = format!(
            "{} of {} checks passed",
            format_number(tally.passed),
            format_number(sum)
        );
        return (sum > 0.0).then(|| (tally.passed / sum * 100.0, text, tally.line));
    }
    let (failed, text, line) = percent_failed(block)?;
    Some((100.0 - failed, format!("{text} requests failed"), line))
}

/// The percentage of failed requests, if the block counts failures in only one way.
fn percent_failed(block: &Block) -> Option<(f64, String, usize)> {
    let n = block.samples().filter(|n| *n > 0.0)?;
    let bad = unsuccessful_responses(block);
    let tally = block
        .failures
        .as_ref()
        .filter(|_| block.length_failures.is_none());
    let sockets = block.sockets.is_some() || block.lost.is_some();
    let (failed, line) = match (tally, block.statuses.first()) {
        (Some(tally), _) if bad == 0.0 || bad == tally.failed => (tally.failed, tally.line),
        (None, Some((_, first))) => (bad, first.line),
        _ => return None,
    };
    if sockets || block.tool == Tool::Wrk {
        return None;
    }
    Some((
        failed / n * 100.0,
        format!("{} of {}", format_number(failed), format_number(n)),
        line,
    ))
}

/// Whether another figure of the output has this value.
fn is_another_figure(report: &Report, claim: &Claim, near: &dyn Fn(f64) -> bool) -> bool {
    let claimed = &claim.value;
    report.blocks.iter().any(|block| match claim.metric {
        Metric::FailedShare | Metric::PassedShare => {
            let tallies = [&block.checks, &block.failures];
            let rates = block.rates.iter().map(|(_, tally)| tally);
            let mut shares = tallies
                .into_iter()
                .flatten()
                .chain(rates)
                .flat_map(|tally| {
                    let sum = (tally.passed + tally.failed).max(1.0);
                    [tally.passed / sum * 100.0, tally.failed / sum * 100.0]
                });
            let printed = block.failed_share.as_ref().map(|share| share.value * 100.0);
            let passed = printed.map(|failed| 100.0 - failed);
            shares.any(near) || printed.is_some_and(near) || passed.is_some_and(near)
        }
        Metric::Requests => has_count(block, claimed.value, claimed.step),
        Metric::Rate => {
            let checks = block.checks.as_ref().zip(block.divisor_time());
            let checked = checks
                .filter(|(_, time)| *time > 0.0)
                .map(|(tally, time)| (tally.passed + tally.failed) / time);
            let rates = [&block.rate, &block.iteration_rate, &block.requested_rate];
            let counted = block.requests.as_ref().zip(block.elapsed.as_ref());
            let counted = counted
                .filter(|(_, time)| time.value > 0.0)
                .map(|(count, time)| count.value / time.value);
            let printed = rates.into_iter().flatten().map(|rate| rate.value);
            printed.chain(checked).chain(counted).any(near)
        }
        _ => block.trends.iter().any(|trend| {
            let mut figures = trend.figures().into_iter();
            figures.any(|(_, figure)| figure.unit == Unit::Time && near(figure.value))
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::quantity::Unit;

    #[test]
    fn a_value_is_one_number_with_a_unit() {
        let read = |text| read(text).map(|value| (value.value, value.unit));
        for (text, expected) in [
            ("12 ms", Some((0.012, Some(Unit::Time)))),
            ("**1.5s** (good)", Some((1.5, Some(Unit::Time)))),
            ("1,795 (100%)", Some((1795.0, None))),
            ("~120 req/s", Some((120.0, Some(Unit::Rate)))),
            ("0.45%", Some((0.45, Some(Unit::Share)))),
            ("3,24 мс", Some((3.24e-3, Some(Unit::Time)))),
            ("600-800ms", None),
            ("5 ms → 3 ms", None),
            ("< 500ms", None),
            ("12 users", None),
            ("none", None),
        ] {
            let found = read(text);
            match (found, expected) {
                (Some((value, unit)), Some((right, kind))) => {
                    assert!(
                        (value - right).abs() < 1e-9 && unit == kind,
                        "{text}: {found:?}"
                    );
                }
                _ => assert_eq!(found, expected, "{text}"),
            }
        }
    }
}
