//! Lists of steps: stages whose durations do not add up to the stated duration, rates and durations
//! that do not match the requests of the output, and requests per user that do not match the
//! requests per iteration.

use super::duration::headings_above;
use crate::block::{Block, Tool};
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static TOTAL: Pattern = pattern!(
    r"(?i)^\W*(?:total |test )?(?:duration|time)\W{1,6}(\d+(?:\.\d+)?)\s?(m|mins?|minutes?|s|secs?|seconds?)\b(?:\s+(?:in )?total)?\W*$"
);
static ITEM: Pattern = pattern!(
    r"(?i)^\s*(?:[-*+]|\d+[.)])\s+[^()]*?(?:\(|:\s*|\bfor\s+|\bover\s+|–\s*|—\s*)(\d+(?:\.\d+)?)\s?(m|mins?|minutes?|s|secs?|seconds?)\b"
);
static ANY: Pattern = pattern!(r"(?i)\b\d+(?:\.\d+)?\s?(?:m|mins?|minutes?|s|secs?|seconds?)\b");

/// Maximum distance in lines of a list below the stated duration.
const BELOW: usize = 4;
const MAX_ITEMS: usize = 40;

fn parse_seconds(count: &str, unit: &str) -> Option<f64> {
    let (value, _) = parse_number(count)?;
    let minutes = unit.to_lowercase().starts_with('m');
    Some(if minutes { value * 60.0 } else { value })
}

pub fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with("+ ")
        || number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "))
}

/// Checks "Duration: 30 minutes" against a list of at least three stages that each have a duration.
pub fn check_stages(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let lines: Vec<&str> = report.text.lines().take(50_000).collect();
    for (at, line) in lines.iter().enumerate() {
        if line.len() > 100 || report.is_output(at + 1) {
            continue;
        }
        let Some(claimed) = TOTAL.first(line).and_then(|found| {
            let group = |at: usize| group(&found, at);
            parse_seconds(group(1), group(2))
        }) else {
            continue;
        };
        // The list must begin below the line, not contain it.
        let below = &lines[at + 1..lines.len().min(at + 1 + BELOW)];
        let start = below.iter().position(|line| is_item(line));
        let Some(start) = start.filter(|_| !is_item(line)) else {
            continue;
        };
        // The duration itself must introduce the list, or a short line such as "Stages:".
        if below[..start]
            .iter()
            .any(|line| line.trim_start().starts_with('#') || line.len() > 60)
        {
            continue;
        }
        let mut times = Vec::new();
        let mut complete = true;
        for line in lines[at + 1 + start..]
            .iter()
            .take(MAX_ITEMS)
            .take_while(|line| is_item(line))
        {
            let found = ITEM.first(line).filter(|_| ANY.only(line).is_some());
            let time = found.and_then(|found| {
                let group = |at: usize| group(&found, at);
                parse_seconds(group(1), group(2))
            });
            match time {
                Some(time) => times.push(time),
                None => complete = false,
            }
        }
        let sum: f64 = times.iter().sum();
        let about = ["~", "≈", "about", "around"]
            .iter()
            .any(|word| line.to_lowercase().contains(word));
        let slack = if about { 0.15 } else { 0.02 } * sum;
        if !complete || times.len() < 3 || (claimed - sum).abs() <= slack {
            continue;
        }
        let parts: Vec<String> = times
            .iter()
            .map(|time| format_number(time / 60.0))
            .collect();
        findings.page(
            "total-mismatch",
            Level::Warning,
            at + 1,
            [
                format!("\"{}\" above {} stages", shorten(line.trim()), times.len()),
                format!(
                    "{} minutes add up to {}, not {}",
                    parts.join(" + "),
                    format_number(sum / 60.0),
                    format_number(claimed / 60.0)
                ),
                "Correct the time or the stages.".to_owned(),
            ],
        );
    }
}

static PHASE: Pattern = pattern!(
    r"(?i)\b(\d+(?:\.\d+)?)\s?(?:req(?:uest)?s?\s?/\s?s(?:ec(?:ond)?)?|requests per second|rps|tps|qps)\b[^\d\n]{0,20}?\bfor\s+(\d+(?:\.\d+)?)\s?(m|mins?|minutes?|s|secs?|seconds?)\b"
);

/// Maximum distance in lines of the phases above their output.
const ABOVE: usize = 25;

/// Checks phases such as "10 req/s for 5 s" and "20 req/s for 5 s" above an output: the products
/// must add up to its requests.
pub fn check_phases(report: &Report, findings: &mut Findings) {
    let lines: Vec<&str> = report.text.lines().take(50_000).collect();
    let mut after = 0;
    for block in report.blocks.iter().take(500) {
        let from = std::mem::replace(&mut after, block.last_line);
        let from = from.max(block.first_line.saturating_sub(ABOVE));
        let to = block.first_line.saturating_sub(1).min(lines.len());
        let (mut sum, mut count, mut first) = (0.0, 0, 0);
        for (at, line) in lines.iter().enumerate().take(to).skip(from) {
            let mut found = PHASE.all(line);
            let (Some(one), None) = (found.next(), found.next()) else {
                continue;
            };
            let group = |at: usize| one.get(at).map_or("", |group| group.as_str());
            let (Some((rate, _)), Some(time)) =
                (parse_number(group(1)), parse_seconds(group(2), group(3)))
            else {
                continue;
            };
            if count == 0 {
                first = at + 1;
            }
            sum += rate * time;
            count += 1;
        }
        let Some(requests) = block.requests.as_ref().filter(|n| n.value > 0.0) else {
            continue;
        };
        if count < 2 || sum <= 0.0 || (sum - requests.value).abs() <= 0.1 * sum {
            continue;
        }
        findings.block(
            "declared-vs-counted",
            Level::Warning,
            block,
            requests.line,
            [
                format!(
                    "{count} phases from line {first}, \"{}\"; {} requests",
                    shorten(lines.get(first - 1).map_or("", |line| line.trim())),
                    requests.text
                ),
                format!(
                    "the rates multiplied by their durations give {} requests, not {}",
                    format_number(sum),
                    requests.text
                ),
                "Show the phases that were actually run, or their output.".to_owned(),
            ],
        );
    }
}

static REQUEST: Pattern = pattern!(r"^\s*\d+[.)]\s+\W{0,4}(?:GET|POST|PUT|PATCH|DELETE)\b\W{1,3}/");

/// Checks a numbered list of the requests of each user against the only output of the page if that
/// has fewer requests per iteration. Additional requests may be redirects or setup.
pub fn check_requests(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let [block] = &report.blocks[..] else {
        return;
    };
    let Some(each) = block.mean_requests_per_turn() else {
        return;
    };
    if block.tool != Tool::K6 || block.interrupted.is_some_and(|count| count > 0.0) {
        return;
    }
    let lines: Vec<&str> = report.text.lines().take(block.first_line).collect();
    let Some(first) = lines.iter().position(|line| REQUEST.is_match(line)) else {
        return;
    };
    let listed: Vec<&&str> = lines[first..]
        .iter()
        .take_while(|line| is_item(line))
        .take(MAX_ITEMS)
        .collect();
    let all = listed.iter().all(|line| REQUEST.is_match(line));
    let lead = lines[..first]
        .iter()
        .rev()
        .find(|line| !line.trim().is_empty())
        .map_or("", |line| *line);
    let of_a_user = [
        "VU",
        "user",
        "iteration",
        "usuario",
        "usuário",
        "kullanıcı",
        "用户",
        "ユーザー",
    ]
    .iter()
    .any(|word| lead.contains(word));
    let count = listed.len() as f64;
    let whole = (each - each.round()).abs() < 0.02;
    if !all || listed.len() < 2 || !of_a_user || !whole || each.round() >= count {
        return;
    }
    // The same list may introduce several scripts.
    if headings_above(report, first + 1).is_empty() {
        return;
    }
    report_requests(block, lead, first + 1, (count, each), findings);
}

fn report_requests(
    block: &Block,
    lead: &str,
    line: usize,
    (count, each): (f64, f64),
    findings: &mut Findings,
) {
    let (Some(requests), Some(iterations)) = (&block.requests, &block.iterations) else {
        return;
    };
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        line,
        [
            format!(
                "\"{}\" and {} requests; {} requests in {} iterations (line {})",
                shorten(lead.trim()),
                format_number(count),
                requests.text,
                iterations.text,
                requests.line
            ),
            format!(
                "{} ÷ {} = {}, not {}",
                requests.text,
                iterations.text,
                format_number(each.round()),
                format_number(count)
            ),
            "List the requests that the script made, or state which steps were skipped.".to_owned(),
        ],
    );
}
