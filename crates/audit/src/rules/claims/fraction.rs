//! "n of m = x %".

use super::{BASE, report_contradiction};
use crate::pattern::{Pattern, named, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::Findings;
use crate::rules::change::is_about;

static SHARE: Pattern = pattern!(
    r"(?i)(?<share>\d+(?:\.\d+)?)\s?%\s*\(\s*(?<part>\d[\d,]*)\s*(?:/|of|out of)\s*(?<whole>\d[\d,]*)\b"
);
static PART: Pattern = pattern!(
    r"(?i)\b(?<part>\d[\d,]*)\s*(?:/|of|out of)\s*(?<whole>\d[\d,]*)(?:\s+[a-z]+){0,3}\s*(?:\(|=|,|or|is|are|i\.e\.)\s*(?:failed|succeeded)?\s*(?<share>\d+(?:\.\d+)?)\s?%"
);

pub fn check_sentence(sentence: &str, line: usize, findings: &mut Findings) {
    if !sentence.contains('%') {
        return;
    }
    for found in SHARE
        .all(sentence)
        .take(16)
        .chain(PART.all(sentence).take(16))
    {
        let read = |name| parse_number(named(&found, name));
        let (Some((part, _)), Some((whole, _)), Some((claimed, step))) =
            (read("part"), read("whole"), read("share"))
        else {
            continue;
        };
        let right = part / whole * 100.0;
        let share = if is_about(sentence) { 0.1 } else { 0.0 };
        let near = |right: f64| (claimed - right).abs() <= step.max(share * right) * 1.001 + 1e-9;
        // It may be the share of the remaining requests: "0.18 % failed (9982/10000)".
        if whole <= 0.0 || part > whole || near(right) || near(100.0 - right) {
            continue;
        }
        let arithmetic = format!(
            "{} ÷ {} = {} %, not {} %",
            format_number(part),
            format_number(whole),
            format_number(right),
            format_number(claimed)
        );
        report_contradiction(
            "ratio-misstated",
            sentence,
            line,
            [arithmetic, BASE.to_owned()],
            findings,
        );
    }
}
