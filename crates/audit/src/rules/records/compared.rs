//! "A is faster than B", "A has the lowest latency", "A is 30 % faster than B": two records of one grid,
//! of which no figure supports the sentence.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::subject::{Metric, is_uncertain, named, pairs};
use super::warn;
use crate::quantity::{digits, number};
use crate::records::{Field, Grid, Grids, Record};
use crate::report::Findings;
use crate::rules::prose::shortened;

const VERB: &str = r"(?:is|are|was|were|has|have|had|shows?|showed|runs?|ran|performs?|performed|offers?|offered|delivers?|delivered|achieves?|achieved|handles?|handled|responds?|responded|gives?|gave|provides?|provided|gets?|got|serves?|served|processes|processed|came out|comes out|proved|proves|turned out|remains?|remained)";
const METRIC: &str = r"(?:throughput|latency|latencies|rps|requests per second|requests/s(?:ec)?|req/s|qps|tps|response times?|performance|p\d\d\S*|requests|ops/s(?:ec)?)";

static THAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)^(.+?)\s+{VERB}\s+(.*?)\b(faster|quicker|slower|the (?:throughput|performance)|(?:better|worse|higher|lower|greater|more|less|fewer|shorter|longer)(?:\s+[\w/()]+){{0,2}}?\s+{METRIC}|better|worse)\s+(?:than|of|compared (?:to|with)|vs\.?|over)\s+(.+)$"
    ))
    .ok()
});
static BEATS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(.+?)\s+(?:clearly |consistently |slightly |significantly |easily |still |also |even )?(outperforms?|outperformed|beats?|trails?|trailed|lags behind)\s+(.+)$").ok()
});
static MOST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)^(.+?)\s+{VERB}\s+(?:clearly |by far |still |also |again |overall |with )*(?:the\s+)?(fastest|slowest|(?:best|worst|highest|lowest|shortest|longest)(?:\s+[\w/()]+){{0,2}}?\s+{METRIC})\b"
    ))
    .ok()
});
static TITLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)^\W*(fastest|slowest|(?:best|worst|highest|lowest)(?:\s+[\w/()]+){{0,2}}?\s+{METRIC}|winner)(?:\s+[\w/()]+){{0,2}}?\W{{0,3}}:\W*(.+)$"
    ))
    .ok()
});
static SIZE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b|-fold)").ok());

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
const EXTREMES: [&str; 9] = [
    "fastest", "slowest", "best", "worst", "highest", "lowest", "shortest", "longest", "winner",
];

pub fn sentence(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    if sentence.len() > 400 {
        return;
    }
    // The patterns are slow, so most sentences do not reach them.
    let lower = sentence.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let pair = has(&[" than ", " compared ", " vs", " over ", " of "]) && has(&COMPARED)
        || has(&["as fast as ", "double the ", "twice the ", "triple the "])
        || has(&["outperform", " beat", " trail", "lags behind"]);
    let extreme = has(&EXTREMES);
    if !(pair || extreme) || is_uncertain(sentence) {
        return;
    }
    let plain = sentence.replace(['*', '`', '"'], "");
    if pair {
        than(grids, sentence, &plain, line, findings);
    }
    if extreme {
        most(grids, sentence, &plain, line, findings);
    }
}

/// The last part of a text before a verb, or the first one behind a comparison.
fn subject(text: &str) -> &str {
    text.rsplit([',', ';', ':', '—', '('])
        .next()
        .unwrap_or(text)
}

fn object(text: &str) -> &str {
    const ENDS: [&str; 22] = [
        ",", ";", "(", "—", " by ", " in ", " at ", " for ", " on ", " with ", " under ",
        " because", " due ", " and ", " but ", " while ", " when ", " across ", " as ", " even ",
        " thanks ", ":",
    ];
    let end = ENDS.iter().filter_map(|end| text.find(end)).min();
    let text = end.map_or(text, |end| text.get(..end).unwrap_or(text));
    text.trim_end_matches(['.', '!', ' '])
}

/// What a comparison says of the first subject.
#[derive(Clone, Copy, PartialEq)]
enum Said {
    Better,
    Worse,
    More,
    Less,
}

impl Said {
    fn of(word: &str) -> Said {
        let lower = word.to_lowercase();
        let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
        if starts(&[
            "faster",
            "quicker",
            "better",
            "outperform",
            "beat",
            "fastest",
            "best",
            "winner",
        ]) {
            Said::Better
        } else if starts(&["slower", "worse", "trail", "lag", "slowest", "worst"]) {
            Said::Worse
        } else if starts(&[
            "higher", "greater", "more", "longer", "highest", "longest", "the ",
        ]) {
            Said::More
        } else {
            Said::Less
        }
    }

    /// Whether the first figure is said to be the larger one; `None` if that is uncertain.
    fn is_larger(self, field: &Field) -> Option<bool> {
        match self {
            Said::More => Some(true),
            Said::Less => Some(false),
            Said::Better => field.more_is_better(),
            Said::Worse => Some(!field.more_is_better()?),
        }
    }
}

/// Factors in words as figures: "twice as fast as B" is "about 2.0x faster than B".
fn in_figures(text: &str) -> String {
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
        let (Some(before), Some(behind)) = (text.get(..at), text.get(at + word.len() + 2..)) else {
            continue;
        };
        let behind = match behind.strip_prefix("as fast as ") {
            Some(behind) => format!("faster than {behind}"),
            None => behind.to_owned(),
        };
        return format!("{before} about {factor}x {behind}");
    }
    text.replace("x as fast as ", "x faster than ")
}

fn than(grids: &Grids, sentence: &str, plain: &str, line: usize, findings: &mut Findings) {
    let plain = &in_figures(plain);
    let group = |found: &regex_lite::Captures, at: usize| {
        found.get(at).map_or("", |group| group.as_str()).to_owned()
    };
    let (one, size, word, other) =
        if let Some(found) = THAN.as_ref().and_then(|pattern| pattern.captures(plain)) {
            (
                group(&found, 1),
                group(&found, 2),
                group(&found, 3),
                group(&found, 4),
            )
        } else if let Some(found) = BEATS.as_ref().and_then(|pattern| pattern.captures(plain)) {
            (
                group(&found, 1),
                String::new(),
                group(&found, 2),
                group(&found, 3),
            )
        } else {
            return;
        };
    let Some(metric) = Metric::of(plain) else {
        return;
    };
    let said = Said::of(&word);
    // "Three times the throughput of B", but not "half the throughput of B".
    let times = stated(&size).is_some_and(|((factor, _), _)| factor > 1.0);
    if word.to_lowercase().starts_with("the ") && !times {
        return;
    }
    // "Better" of several metrics is Any; "higher" needs one.
    if metric == Metric::Any && matches!(said, Said::More | Said::Less) {
        return;
    }
    let mut found: Vec<(&Field, &Field)> = Vec::new();
    for grid in grids.grids() {
        let (Some(ones), Some(others)) = (named(grid, subject(&one)), named(grid, object(&other)))
        else {
            continue;
        };
        for one in &ones {
            for other in others.iter().filter(|other| !std::ptr::eq(**other, *one)) {
                found.extend(pairs(one, other, metric));
            }
        }
    }
    let judged: Vec<(f64, bool)> = found
        .iter()
        .filter_map(|(a, b)| Some((a.figure.value / b.figure.value, said.is_larger(a)?)))
        .collect();
    if judged.is_empty() {
        return;
    }
    let supported = judged.iter().any(|(ratio, larger)| match larger {
        true => *ratio > 0.99,
        false => *ratio < 1.01,
    });
    let (a, b) = found[0];
    let evidence = format!(
        "\"{}\"; {}: {} and {}",
        shortened(sentence),
        a.name.text,
        a.figure.text,
        b.figure.text
    );
    if !supported {
        warn(
            "comparison-reversed",
            line,
            [
                evidence,
                format!(
                    "{} ÷ {} = {}, and no figure of both supports the sentence",
                    a.figure.text,
                    b.figure.text,
                    digits(a.figure.value / b.figure.value)
                ),
                "Reverse the comparison, or name the figure that it describes.".to_owned(),
            ],
            findings,
        );
        return;
    }
    let all: Vec<f64> = found
        .iter()
        .map(|(a, b)| a.figure.value / b.figure.value)
        .collect();
    let Some((said, unit)) = stated(&size) else {
        return;
    };
    if all.iter().any(|ratio| explains(*ratio, said, unit, &size)) {
        return;
    }
    let ratio = all[0];
    warn(
        "ratio-misstated",
        line,
        [
            evidence,
            format!(
                "{} ÷ {} = {}, a difference of {} %, not {}{}",
                a.figure.text,
                b.figure.text,
                digits(ratio),
                digits((ratio - 1.0).abs() * 100.0),
                digits(said.0),
                unit
            ),
            "Compute it again from the two figures, and name them.".to_owned(),
        ],
        findings,
    );
}

/// The only factor or percentage of a text, with its step.
fn stated(text: &str) -> Option<((f64, f64), &'static str)> {
    let mut found = SIZE.as_ref()?.captures_iter(text);
    let first = found.next()?;
    if found.next().is_some() || text.contains(['-', '–']) {
        return None;
    }
    let value = number(first.get(1)?.as_str())?;
    let unit = if first.get(2)?.as_str() == "%" {
        " %"
    } else {
        " times"
    };
    Some((value, unit))
}

/// Whether a ratio of two figures may be written like this, with either figure as the base.
fn explains(ratio: f64, (said, step): (f64, f64), unit: &str, text: &str) -> bool {
    let lower = text.to_lowercase();
    let about = [
        "about",
        "around",
        "~",
        "≈",
        "roughly",
        "nearly",
        "almost",
        "over",
        "up to",
        "more than",
        "approx",
        "at least",
        "some",
    ]
    .iter()
    .any(|word| lower.contains(word));
    [ratio, 1.0 / ratio].into_iter().any(|ratio| {
        let rights = match unit {
            " %" => [(ratio - 1.0).abs() * 100.0, ratio * 100.0],
            _ => [ratio, (ratio - 1.0).abs()],
        };
        rights.into_iter().any(|right| {
            let share = match (unit, about) {
                (_, true) => 0.2,
                (" %", false) => 0.03,
                _ => 0.1,
            };
            (said - right).abs() <= step * 1.001 + share * right
        })
    })
}

fn most(grids: &Grids, sentence: &str, plain: &str, line: usize, findings: &mut Findings) {
    let group = |found: &regex_lite::Captures, at: usize| {
        found.get(at).map_or("", |group| group.as_str()).to_owned()
    };
    let (name, word) =
        if let Some(found) = MOST.as_ref().and_then(|pattern| pattern.captures(plain)) {
            (subject(&group(&found, 1)).to_owned(), group(&found, 2))
        } else if let Some(found) = TITLE.as_ref().and_then(|pattern| pattern.captures(plain)) {
            (object(&group(&found, 2)).to_owned(), group(&found, 1))
        } else {
            return;
        };
    let Some(metric) = Metric::of(plain) else {
        return;
    };
    let said = Said::of(&word);
    let mut against: Option<(&Field, &Field, &Record)> = None;
    for grid in grids.grids() {
        let Some(records) = named(grid, &name) else {
            continue;
        };
        // With several rows of one name, each may be the extreme of its own load.
        let [record] = &records[..] else {
            return;
        };
        for field in record.fields.iter().filter(|field| metric.has(field)) {
            let Some(larger) = said.is_larger(field) else {
                continue;
            };
            match beyond(grid, record, field, larger) {
                Some((other, of)) => against = against.or(Some((field, other, of))),
                None => return,
            }
        }
    }
    let Some((field, other, of)) = against else {
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
                "{} of {} is beyond {}: {} ÷ {} = {}",
                other.figure.text,
                of.label,
                field.figure.text,
                other.figure.text,
                field.figure.text,
                digits(other.figure.value / field.figure.value)
            ),
            "Name the record with the extreme figure, or name the other figure.".to_owned(),
        ],
        findings,
    );
}

/// Another record whose figure of this name is more extreme by more than 1 %. `None` if there is
/// no other record with this figure.
fn beyond<'r>(
    grid: &'r Grid,
    record: &Record,
    field: &Field,
    larger: bool,
) -> Option<(&'r Field, &'r Record)> {
    let others = grid
        .records
        .iter()
        .filter(|other| !std::ptr::eq(*other, record));
    let mut figures = others.filter_map(|other| {
        let same = other.fields.iter().find(|known| {
            known.name.text == field.name.text && known.figure.kind == field.figure.kind
        })?;
        Some((same, other))
    });
    figures.find(|(other, _)| {
        let (mine, theirs) = (field.figure.value, other.figure.value);
        mine > 0.0
            && theirs > 0.0
            && !field.figure.bound
            && !other.figure.bound
            && match larger {
                true => theirs > 1.01 * mine,
                false => theirs < 0.99 * mine,
            }
    })
}
