//! "A reached 120,000 req/s and B 100,000 req/s, 30 % more", "doubled from 80 ms to 110 ms":
//! exactly two figures, and one change that does not match them.

use super::changes::UNIT;
use super::slight;
use crate::pattern::{Pattern, group, pattern};
use crate::records::{Figure, read, tokenize};
use crate::report::Findings;
use crate::rules::change::{Change, is_about, is_change};
use crate::rules::prose::shorten;
use crate::rules::records::{Metric, is_uncertain, warn};

static FIGURE: Pattern = pattern!(&format!(
    r"(?i)(?:^|[^\w.,/–-])(\d[\d,]*(?:\.\d+)?\s?(?-i:[kKM]\b)?)\+?\s?({UNIT})\b"
));
static SIZE: Pattern = pattern!(r"(?i)(?:^|[^\w.,–-])(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b|-fold)");
static WORD: Pattern = pattern!(
    r"\b(?:(doubl|halv|tripl|quadrupl)(?:ed|es|e|ing)\s*(?:(?:[\w/-]+\s+){0,4}?from|to\b|\(|:)|(?:twice|half) the (?:latency|throughput|response time|rate|rps)|twice as (?:fast|slow|high|long))"
);

/// Words that make the figures a range or a limit, or the change one of something else.
const OTHER: [&str; 22] = [
    "between",
    "range",
    "ranging",
    "within",
    "target",
    "limit",
    "slo",
    "sla",
    "budget",
    "goal",
    "threshold",
    "success",
    "confidence",
    "timeout",
    "utilization",
    "per core",
    "per user",
    "hit rate",
    "variation",
    "deviation",
    " each ",
    "up to",
];
/// Words that make it a change of the load, from which the figures follow.
const LOAD: [&str; 22] = [
    "users",
    "load",
    "connections",
    "threads",
    "clients",
    "concurrency",
    "vus",
    "traffic",
    "payload",
    "data",
    "rows",
    "size",
    "cores",
    "nodes",
    "workers",
    "instances",
    "replicas",
    "shards",
    "larger",
    "smaller",
    "bigger",
    "records",
];
/// The other side of a comparison. It must be one of the figures.
const AGAINST: [&str; 5] = [" than ", " compared ", " over ", " versus ", " vs"];

/// Words between two clauses, which may be about different figures.
const CLAUSES: [&str; 5] = ["; ", " while ", " whereas ", " but ", " though "];

/// Checks a sentence, and each of its clauses.
pub fn check_sentence(sentence: &str, line: usize, findings: &mut Findings) {
    check_clause(sentence, line, findings);
    let Some(word) = CLAUSES.iter().find(|word| sentence.contains(**word)) else {
        return;
    };
    for part in sentence.split(word) {
        check_clause(part, line, findings);
    }
}

fn check_clause(sentence: &str, line: usize, findings: &mut Findings) {
    let lower = sentence.to_lowercase();
    let sized = sentence.contains(['%', '×', 'x']) || lower.contains("times");
    let worded = ["doubl", "twice", "hal", "tripl", "quadrupl"]
        .iter()
        .any(|word| lower.contains(word));
    let slight = slight::is_slight(sentence);
    if sentence.len() > 400
        || !(sized || worded || slight)
        || !sentence.contains(|letter: char| letter.is_ascii_digit())
        || OTHER.iter().any(|word| lower.contains(word))
        || is_uncertain(sentence)
    {
        return;
    }
    let plain = sentence.replace(['*', '`'], "");
    let found: Vec<_> = FIGURE.all(&plain).take(3).collect();
    let [one, other] = &found[..] else {
        return;
    };
    let figure = |found: &regex_lite::Captures| {
        read(&format!("{} {}", group(found, 1).trim(), group(found, 2)))
    };
    let (Some(one), Some(other)) = (figure(one), figure(other)) else {
        return;
    };
    if slight && Metric::in_sentence(&plain).is_some() && is_pair(&one, &other) {
        slight::judge(sentence, line, (&one, &other), findings);
    }
    let Some(change) = only_change(&plain, is_smaller(&one, &other)) else {
        return;
    };
    let last = found[1].get(0).map_or(0, |group| group.start());
    let lower = plain.to_lowercase();
    let elsewhere = AGAINST
        .iter()
        .filter_map(|word| lower.rfind(word))
        .any(|at| last < at);
    // Two percentiles of one run do not differ because of the change.
    if elsewhere || Metric::in_sentence(&plain).is_none() || !is_pair(&one, &other) {
        return;
    }
    if change.is_between(&one, &other) {
        return;
    }
    warn(
        "ratio-misstated",
        line,
        [
            format!("\"{}\"", shorten(sentence)),
            change.describe_difference(&one, &other),
            "Recalculate it from the two figures, and state the base of the percentage.".to_owned(),
        ],
        findings,
    );
}

fn is_pair(one: &Figure, other: &Figure) -> bool {
    one.kind == other.kind && one.value > 0.0 && other.value > 0.0 && one.value != other.value
}

/// Whether two figures differ by less than a factor of 2.
fn is_smaller(one: &Figure, other: &Figure) -> bool {
    (one.value / other.value).max(other.value / one.value) < 2.0
}

/// The change that a word such as "doubled" states in a lower-case text.
pub fn parse_change_word(lower: &str) -> Option<Change> {
    let found = WORD.only(lower)?;
    let word = found.get(0)?;
    let factor = match group(&found, 1) {
        "tripl" => "3.0",
        "quadrupl" => "4.0",
        _ => "2.0",
    };
    Change::read(factor, "x", "about")
        .filter(|_| !SIZE.is_match(lower) && is_exact(lower, word.start()))
}

/// The only change of a sentence, as a number or as a word. "Doubled" may be said of a larger
/// factor, but without a word such as "nearly" it is not said of a much smaller one.
fn only_change(text: &str, is_smaller: bool) -> Option<Change> {
    let lower = text.to_lowercase();
    if WORD.only(&lower).is_some() {
        let doubled = lower.contains("doubl") && is_smaller && !is_about(&lower);
        return parse_change_word(&lower).and_then(|change| match doubled {
            true => Change::read("2.0", "x", ""),
            false => Some(change),
        });
    }
    let found = SIZE.only(&lower)?;
    let (size, whole) = (found.get(1)?, found.get(0)?);
    let after = lower.get(whole.end()..)?;
    let before = tokenize(lower.get(..size.start())?);
    let of_load = before
        .iter()
        .rev()
        .take(4)
        .chain(tokenize(after).iter().take(4))
        .any(|word| LOAD.contains(&word.as_str()));
    let is_share = after.trim_start().starts_with("of ");
    Change::read(group(&found, 1), group(&found, 2), text)
        .filter(|_| is_change(&lower) && !is_share && !of_load && is_exact(&lower, size.start()))
}

/// "More than doubled" is true for any larger factor.
fn is_exact(lower: &str, at: usize) -> bool {
    let before = lower.get(..at).unwrap_or("").trim_end();
    ![
        "more than",
        "over",
        "at least",
        "under",
        "less than",
        "not even",
    ]
    .iter()
    .any(|word| before.ends_with(word))
}
