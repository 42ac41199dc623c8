//! "A mix of 70 % reads, 20 % writes and 20 % deletes": shares of a load that add up to more than 100 %.

use super::steps::is_item;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;
use crate::rules::records::{is_uncertain, warn};

static SHARE: Pattern = pattern!(r"(?:^|[^\w.,–-])(\d+(?:\.\d+)?)\s?%");

/// Words that introduce a load and its parts.
const MIXES: [&str; 6] = [
    "mix of",
    "traffic mix",
    "workload mix",
    "request mix",
    "traffic distribution",
    "request distribution",
];
/// Words that make the percentages shares of something else.
const OTHER: [&str; 10] = [
    "faster", "slower", "cpu", "memory", "error", "success", "hit", "p9", "each", "then",
];
/// Above this sum, the sentence lists the parts of several loads.
const MAX_SUM: f64 = 140.0;

pub fn check_sentence(sentence: &str, line: usize, findings: &mut Findings) {
    if sentence.len() < 400 && is_mix(sentence) && !is_uncertain(sentence) {
        judge(sentence, line, &parse_shares(sentence), findings);
    }
}

/// Checks a list below "Traffic mix:" in which each item has one share.
pub fn check_lists(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let lines: Vec<&str> = report.text.lines().take(20_000).collect();
    for (at, line) in lines.iter().enumerate() {
        if line.len() > 200 || !is_mix(line) || line.contains('%') || report.is_output(at + 1) {
            continue;
        }
        let below = lines[at + 1..]
            .iter()
            .skip_while(|line| line.trim().is_empty());
        let items: Vec<Vec<(f64, f64)>> = below
            .take_while(|line| is_item(line))
            .take(40)
            .map(|line| parse_shares(line))
            .collect();
        if items.iter().all(|shares| shares.len() == 1) {
            let shares: Vec<(f64, f64)> = items.into_iter().flatten().collect();
            judge(line.trim(), at + 1, &shares, findings);
        }
    }
}

fn is_mix(text: &str) -> bool {
    let lower = text.to_lowercase();
    MIXES.iter().any(|word| lower.contains(word)) && !OTHER.iter().any(|word| lower.contains(word))
}

/// The percentages, each with the step of its last digit.
fn parse_shares(text: &str) -> Vec<(f64, f64)> {
    let found = SHARE.all(text).take(20);
    found
        .filter_map(|found| parse_number(group(&found, 1)))
        .collect()
}

fn judge(text: &str, line: usize, shares: &[(f64, f64)], findings: &mut Findings) {
    let sum: f64 = shares.iter().map(|(share, _)| share).sum();
    let slack: f64 = shares.iter().map(|(_, step)| 0.5 * step).sum();
    if shares.len() < 2 || sum <= 100.0 + slack || sum > MAX_SUM {
        return;
    }
    let parts: Vec<String> = shares
        .iter()
        .map(|(share, _)| format_number(*share))
        .collect();
    warn(
        "total-mismatch",
        line,
        [
            format!("\"{}\"", shorten(text)),
            format!(
                "{} = {} %, more than 100 %",
                parts.join(" + "),
                format_number(sum)
            ),
            "State shares that add up to 100 %.".to_owned(),
        ],
        findings,
    );
}
