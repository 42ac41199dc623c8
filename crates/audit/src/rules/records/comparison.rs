//! "A is faster than B", "A is 30 % faster than B": two records of one grid whose figures do not
//! support the sentence.

use super::subject::{Metric, is_uncertain, matching_fields, named_records, text_before_verb};
use super::verdict::Verdict;
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::format_number;
use crate::records::{Field, Grids};
use crate::report::Findings;
use crate::rules::change::Change;
use crate::rules::prose::shorten;

pub const VERB: &str = r"(?:is|are|was|were|has|have|had|shows?|showed|runs?|ran|performs?|performed|offers?|offered|delivers?|delivered|achieves?|achieved|handles?|handled|responds?|responded|gives?|gave|provides?|provided|gets?|got|serves?|served|processes|processed|came out|comes out|proved|proves|turned out|remains?|remained)";
pub const METRIC: &str = r"(?:throughput|latency|latencies|rps|requests per second|requests/s(?:ec)?|req/s|qps|tps|response times?|performance|p\d\d\S*|requests|ops/s(?:ec)?)";

static THAN: Pattern = pattern!(&format!(
    r"(?i)^(.+?)\s+{VERB}\s+(.*?)\b(faster|quicker|slower|the (?:throughput|performance)|(?:better|worse|higher|lower|greater|more|less|fewer|shorter|longer)(?:\s+[\w/()]+){{0,2}}?\s+{METRIC}|better|worse)\s+(?:than|of|compared (?:to|with)|vs\.?|over)\s+(.+)$"
));
/// Matches "A: 30 % faster than B".
static LISTED: Pattern = pattern!(&format!(
    r"(?i)^\W*([^:]{{2,40}}?)\s*(?::|–|—)\s+(.*?)\b(faster|quicker|slower|(?:better|worse|higher|lower|more|less)(?:\s+[\w/()]+){{0,2}}?\s+{METRIC})\s+(?:than|compared (?:to|with)|vs\.?)\s+(.+)$"
));
static BEATS: Pattern = pattern!(
    r"(?i)^(.+?)\s+(?:clearly |consistently |slightly |significantly |easily |still |also |even )?(outperforms?|outperformed|beats?|trails?|trailed|lags behind)\s+(.+)$"
);
static SIZE: Pattern = pattern!(r"(?i)(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b|-fold)");

const COMPARED: [&str; 15] = [
    "faster",
    "quicker",
    "slower",
    "better",
    "worse",
    "higher",
    "lower",
    "greater",
    "more ",
    "less ",
    "fewer",
    "shorter",
    "longer",
    "times the ",
    "x the ",
];
pub fn check_sentence(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    // The patterns are slow, so rule out most sentences first.
    let lower = sentence.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let pair = has(&[" than ", " compared ", " vs", " over ", " of "]) && has(&COMPARED)
        || has(&["as fast as ", "double the ", "twice the ", "triple the "])
        || has(&["outperform", " beat", " trail", "lags behind"]);
    if !pair || sentence.len() > 400 || is_uncertain(sentence) {
        return;
    }
    let plain = replace_factor_words(&sentence.replace(['*', '`', '"'], ""));
    let compared = THAN.first(&plain).or_else(|| LISTED.first(&plain));
    let (one, size, word, other) = if let Some(found) = compared {
        let part = |at| group(&found, at);
        (part(1), part(2), part(3), part(4))
    } else if let Some(found) = BEATS.first(&plain) {
        (group(&found, 1), "", group(&found, 2), group(&found, 3))
    } else {
        return;
    };
    let Some(metric) = Metric::in_sentence(&plain) else {
        return;
    };
    let verdict = Verdict::from_word(word);
    let change = only_change(size);
    // Matches "three times the throughput of B", but not "half the throughput of B".
    let multiple = change.as_ref().is_some_and(Change::is_multiple);
    if word.to_lowercase().starts_with("the ") && !multiple {
        return;
    }
    // "Better" may refer to any of several metrics, but "higher" needs exactly one.
    if metric == Metric::Any && verdict.is_of_value() {
        return;
    }
    let mut found: Vec<(&Field, &Field)> = Vec::new();
    for grid in grids.grids() {
        let (Some(ones), Some(others)) = (
            named_records(grid, text_before_verb(one)),
            named_records(grid, compared_object(other)),
        ) else {
            continue;
        };
        for one in &ones {
            for other in others.iter().filter(|other| !std::ptr::eq(**other, *one)) {
                found.extend(matching_fields(one, other, metric));
            }
        }
    }
    let judged: Vec<(f64, bool)> = found
        .iter()
        .filter_map(|(a, b)| Some((a.figure.value / b.figure.value, verdict.is_larger(a)?)))
        .collect();
    if judged.is_empty() {
        return;
    }
    let supported = judged.iter().any(|(ratio, larger)| match larger {
        true => *ratio > 0.99,
        false => *ratio < 1.01,
    });
    let (a, b) = found[0];
    let (one, other) = (&a.figure, &b.figure);
    let evidence = format!(
        "\"{}\"; {}: {} and {}",
        shorten(sentence),
        a.name.text,
        one.text,
        other.text
    );
    if !supported {
        warn(
            "comparison-reversed",
            line,
            [
                evidence,
                format!(
                    "{} ÷ {} = {}, and no figure of both supports the sentence",
                    one.text,
                    other.text,
                    format_number(one.value / other.value)
                ),
                "Reverse the comparison, or name the figure that it describes.".to_owned(),
            ],
            findings,
        );
        return;
    }
    let wrong = change.filter(|change| {
        let mut pairs = found.iter();
        !pairs.any(|(a, b)| change.is_between(&a.figure, &b.figure))
    });
    if let Some(change) = wrong {
        warn(
            "ratio-misstated",
            line,
            [
                evidence,
                change.describe_difference(one, other),
                "Recalculate it from the two figures, and name them.".to_owned(),
            ],
            findings,
        );
    }
}

/// The first part of the text after a comparison.
pub fn compared_object(text: &str) -> &str {
    const ENDS: [&str; 22] = [
        ",", ";", "(", "—", " by ", " in ", " at ", " for ", " on ", " with ", " under ",
        " because", " due ", " and ", " but ", " while ", " when ", " across ", " as ", " even ",
        " thanks ", ":",
    ];
    let end = ENDS.iter().filter_map(|end| text.find(end)).min();
    let text = end.map_or(text, |end| text.get(..end).unwrap_or(text));
    text.trim_end_matches(['.', '!', ' '])
}

/// Replaces factors in words with numbers: "twice as fast as B" becomes "about 2.0x faster than B".
fn replace_factor_words(text: &str) -> String {
    const TIMES: [(&str, &str); 7] = [
        ("twice", "2.0"),
        ("double", "2.0"),
        ("three times", "3.0"),
        ("triple", "3.0"),
        ("four times", "4.0"),
        ("five times", "5.0"),
        ("ten times", "10.0"),
    ];
    let lower = text.to_lowercase();
    for (word, factor) in TIMES {
        let Some(at) = lower.find(&format!(" {word} ")) else {
            continue;
        };
        let (Some(before), Some(after)) = (text.get(..at), text.get(at + word.len() + 2..)) else {
            continue;
        };
        let after = match after.strip_prefix("as fast as ") {
            Some(after) => format!("faster than {after}"),
            None => after.to_owned(),
        };
        return format!("{before} about {factor}x {after}");
    }
    text.replace("x as fast as ", "x faster than ")
}

/// The only factor or percentage in a passage.
fn only_change(text: &str) -> Option<Change> {
    let found = SIZE.only(text)?;
    let range = text.contains(['-', '–']);
    Change::read(group(&found, 1), group(&found, 2), text).filter(|_| !range)
}
