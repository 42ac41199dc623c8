//! "27 % faster (52 ms → 38 ms)", "from 12,000 to 9,500 req/s, 1.5x": two figures and a change that
//! does not match them.

use super::report_contradiction;
use crate::pattern::{Pattern, group, named, pattern};
use crate::records::{Figure, read};
use crate::report::Findings;
use crate::rules::change::{Change, is_change};

pub const UNIT: &str = r"(?:ns|us|µs|μs|ms|s|secs?|seconds|min|minutes|(?:(?:req|reqs|requests?|ops?|msgs?|messages|queries|tokens|rows|events)?/s(?:ec(?:ond)?)?)|rps|qps|tps|[KMG]i?B(?:/s)?)";
const BETWEEN: &str =
    r"\s*(?:→|->|-&gt;|=>|➜|⟶|to|vs\.?|versus|compared (?:to|with)|instead of|down to|up to)\s*";
const CHANGE: &str = r"(?<size>\d[\d,]*(?:\.\d+)?)\s?(?<of>%|x\b|×|times\b|-fold)";
const ABOUT: &str = r"(?:by |a |an |about |around |~|≈|-|−|\+|\*|↓|↑)*";

/// A figure. If it has no unit, it has the unit of the other figure.
fn figure_pattern(name: &str) -> String {
    format!(r"\**~?(?<{name}>\d[\d,]*(?:\.\d+)?\s?(?-i:[kKM]\b)?)\s?(?<{name}_unit>{UNIT})?\b\**")
}

/// A figure with its unit.
fn figure_with_unit_pattern(name: &str) -> String {
    format!(r"\**~?\b(?<{name}>\d[\d,]*(?:\.\d+)?)\s?(?<{name}_unit>{UNIT})\b\**")
}

static AHEAD: Pattern = pattern!(&format!(
    r"(?i)(?:^|[^\w.,–-]){CHANGE}\s*(?<words>(?:[\w/-]+\s+){{0,5}}?[\w/-]*)\W{{0,3}}?[\s(:,–—]+(?:from\s+)?{}{BETWEEN}{}",
    figure_pattern("a"),
    figure_pattern("b")
));
static BEHIND: Pattern = pattern!(&format!(
    r"(?i)(?:^|[^\w.,–-]){}{BETWEEN}{}\s*[\s(（:,=–—]+{ABOUT}{CHANGE}(?<words>[^.;,]{{0,30}})",
    figure_pattern("a"),
    figure_pattern("b")
));
static FROM: Pattern = pattern!(&format!(
    r"(?i)\bfrom\s+(?:about |around )?{}\s+(?:down |up )?to\s+(?:about |around )?{}[^.;\d]{{0,30}}?\(?{ABOUT}{CHANGE}",
    figure_pattern("a"),
    figure_pattern("b")
));
static TARGET: Pattern = pattern!(&format!(
    r"(?i){}\s+(?:vs\.?|versus|against)\s+(?:the |a |target |limit |of |[≤<≥>=]|\s)*{}\s*\(\W*(?<size>\d+(?:\.\d+)?)\s?(?<of>x\b|×|times\b)",
    figure_with_unit_pattern("a"),
    figure_with_unit_pattern("b")
));
static EXCEEDS: Pattern = pattern!(&format!(
    r"(?i){}[^.;]{{0,40}}\b(?:exceeds?|exceeded|is (?:above|over)|was (?:above|over))\b[^.;]{{0,40}}?{}\s+by\s+(?<size>\d+(?:\.\d+)?)\s?(?<of>%)",
    figure_with_unit_pattern("a"),
    figure_with_unit_pattern("b")
));

/// Words that make the percentage one of something else.
const OTHER: [&str; 8] = [
    "of ",
    "success",
    "cpu",
    "memory",
    "confidence",
    "error",
    "target",
    "point",
];

pub fn check_sentence(sentence: &str, line: usize, findings: &mut Findings) {
    const BETWEEN: [&str; 10] = [
        "→",
        "->",
        "=>",
        "➜",
        "⟶",
        " to ",
        " v",
        " compared",
        " instead",
        " by ",
    ];
    let possible = sentence.contains(['%', '×', 'x', 'X']) || sentence.contains("times");
    if sentence.len() > 500
        || !possible
        || !sentence.contains(|letter: char| letter.is_ascii_digit())
        || !BETWEEN.iter().any(|word| sentence.contains(word))
    {
        return;
    }
    // For each pattern: whether a word must call it a change, and whether brackets or an equals
    // sign suffice.
    for (pattern, worded, enclosed) in [
        (&AHEAD, true, false),
        (&BEHIND, true, true),
        (&FROM, false, false),
        (&TARGET, false, false),
        (&EXCEEDS, false, false),
    ] {
        for found in pattern.all(sentence).take(8) {
            let part = |name: &str| named(&found, name);
            let (unit, other_unit) = (part("a_unit"), part("b_unit"));
            let unit = if unit.is_empty() { other_unit } else { unit };
            let whole = group(&found, 0);
            // "From 5 to 8 (60 %)" may be a range.
            if unit.is_empty() && whole.contains(" to ") {
                continue;
            }
            let words = part("words").to_lowercase();
            let changed =
                !worded || is_change(&words) || enclosed && whole.contains(['(', '（', '=']);
            if !changed || OTHER.iter().any(|word| words.contains(word)) {
                continue;
            }
            let figure =
                |name, unit| read(&format!("{} {unit}", part(name).trim()).replace(" /", "/"));
            let one = figure("a", unit);
            let other = figure("b", other_unit);
            let change = Change::read(part("size"), part("of"), sentence);
            let (Some(one), Some(other), Some(change)) = (one, other, change) else {
                continue;
            };
            let change = if whole.contains(" by ") {
                change.into_difference()
            } else {
                change
            };
            if one.kind == other.kind
                && one.value > 0.0
                && other.value > 0.0
                && one.value != other.value
            {
                judge(sentence, line, (&one, &other), &change, findings);
            }
        }
    }
}

fn judge(
    sentence: &str,
    line: usize,
    (one, other): (&Figure, &Figure),
    change: &Change,
    findings: &mut Findings,
) {
    let arithmetic = change.describe_difference(one, other);
    let known = findings
        .found
        .iter()
        .any(|found| found.line == line && found.arithmetic == arithmetic);
    if known || change.is_between(one, other) && !change.is_slightly_off(one, other) {
        return;
    }
    report_contradiction(
        "ratio-misstated",
        sentence,
        line,
        [
            arithmetic,
            "Recalculate it from the two figures, and state the base of the percentage.".to_owned(),
        ],
        findings,
    );
}
