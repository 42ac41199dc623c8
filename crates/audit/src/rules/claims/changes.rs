//! "27 % faster (52 ms → 38 ms)", "12,000 vs 9,500 req/s: 1.5x": two figures, and another change than
//! theirs.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::finding::Level;
use crate::quantity::{digits, number};
use crate::records::{Figure, read};
use crate::report::Findings;
use crate::rules::prose::shortened;

const FIGURE: &str = r"\**~?(\d[\d,]*(?:\.\d+)?\s?(?-i:[kKM]\b)?)\s?(ns|us|µs|μs|ms|s|secs?|seconds|min|minutes|(?:req|reqs|requests?|ops?|msgs?|messages|queries|tokens|rows|events)/s(?:ec(?:ond)?)?|rps|qps|tps|[KMG]i?B(?:/s)?)?\b\**";
const BETWEEN: &str =
    r"\s*(?:→|->|=>|to|vs\.?|versus|compared (?:to|with)|instead of|down to|up to)\s*";
const CHANGE: &str = r"(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b|-fold)";

static AHEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)(?:^|[^\w.,–-]){CHANGE}\s*((?:[\w/-]+\s+){{0,5}}?[\w/-]*)\W{{0,3}}?[\s(:,–—]+(?:from\s+)?{FIGURE}{BETWEEN}{FIGURE}"
    ))
    .ok()
});
static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)(?:^|[^\w.,–-]){FIGURE}{BETWEEN}{FIGURE}\s*[\s(:,=–—]+(?:by |a |an |about |around |~|≈|-|−|\+|\*|↓|↑)*{CHANGE}([^.;,]{{0,30}})"
    ))
    .ok()
});

/// Words of a change.
const CHANGED: [&str; 17] = [
    "fast", "slow", "better", "worse", "less", "more", "lower", "higher", "improve", "reduc",
    "increas", "decreas", "gain", "speed", "drop", "boost", "cut",
];
/// The percentage is of something else.
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

pub fn sentence(sentence: &str, line: usize, findings: &mut Findings) {
    let possible = sentence.contains(['%', '×'])
        || sentence.contains(['x', 'X'])
        || sentence.contains("times");
    if sentence.len() > 500
        || !possible
        || !sentence.contains(|letter: char| letter.is_ascii_digit())
    {
        return;
    }
    let lower = sentence.to_lowercase();
    if ![
        "→", "->", "=>", " to ", "vs", "versus", "compared", "instead",
    ]
    .iter()
    .any(|word| lower.contains(word))
    {
        return;
    }
    for (pattern, said, first, words) in [(&AHEAD, 1, 4, 3), (&BEHIND, 5, 1, 7)] {
        let found = pattern
            .as_ref()
            .into_iter()
            .flat_map(|pattern| pattern.captures_iter(sentence));
        for found in found.take(8) {
            let group = |at: usize| found.get(at).map_or("", |group| group.as_str());
            let words = group(words).to_lowercase();
            let whole = group(0);
            let changed = CHANGED.iter().any(|word| words.contains(word));
            let enclosed = first == 1 && (whole.contains('(') || whole.contains('='));
            if !(changed || enclosed) || OTHER.iter().any(|word| words.contains(word)) {
                continue;
            }
            let (one, other) = (group(first), group(first + 2));
            let (mut unit, behind) = (group(first + 1), group(first + 3));
            if unit.is_empty() {
                unit = behind;
            }
            let ranged = whole.contains(" to ") && unit.is_empty();
            let figures = (
                read(&format!("{one} {unit}")),
                read(&format!("{other} {behind}")),
            );
            let (Some(a), Some(b), Some(size)) = (figures.0, figures.1, number(group(said))) else {
                continue;
            };
            let sensible = a.kind == b.kind && a.value > 0.0 && b.value > 0.0 && a.value != b.value;
            if sensible && !ranged {
                judge(
                    sentence,
                    line,
                    (&a, &b),
                    size,
                    group(said + 1) == "%",
                    findings,
                );
            }
        }
    }
}

fn judge(
    sentence: &str,
    line: usize,
    (a, b): (&Figure, &Figure),
    (said, step): (f64, f64),
    percent: bool,
    findings: &mut Findings,
) {
    let lower = sentence.to_lowercase();
    const ABOUT: [&str; 11] = [
        "about",
        "around",
        "~",
        "≈",
        "roughly",
        "nearly",
        "almost",
        "over ",
        "up to",
        "more than",
        "approx",
    ];
    let about = ABOUT.iter().any(|word| lower.contains(word));
    let ratio = b.value / a.value;
    let unsure = 0.5 * (a.step / a.value + b.step / b.value);
    let rights = match percent {
        true => vec![
            (ratio - 1.0).abs() * 100.0,
            (1.0 / ratio - 1.0).abs() * 100.0,
            ratio * 100.0,
            100.0 / ratio,
        ],
        false => vec![ratio.max(1.0 / ratio), ratio.max(1.0 / ratio) - 1.0],
    };
    let fits = rights.iter().any(|right| {
        let share = match (percent, about) {
            (_, true) => 0.2,
            (true, false) => 0.03,
            (false, false) => 0.1,
        };
        let least = if percent { 1.5 } else { 0.0 };
        let scale = if percent { 100.0 } else { 1.0 };
        (said - right).abs()
            <= step + (share * right).max(least) + unsure * ratio.max(1.0 / ratio) * scale
    });
    let known = findings
        .found
        .iter()
        .any(|found| found.line == line && found.rule == "ratio-misstated");
    if fits || known {
        return;
    }
    findings.page(
        "ratio-misstated",
        Level::Warning,
        line,
        [
            format!("\"{}\"", shortened(sentence)),
            format!(
                "{} and {} differ by {} % of the first, or by a factor of {}, not {}{}",
                a.text.trim(),
                b.text.trim(),
                digits((ratio - 1.0).abs() * 100.0),
                digits(ratio.max(1.0 / ratio)),
                digits(said),
                if percent { " %" } else { " times" }
            ),
            "Compute it again from the two figures, and name the base of a percentage.".to_owned(),
        ],
    );
}
