//! A figure of the page under another name in a sentence: of another percentile, another unit, or another
//! record.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::subject::{is_uncertain, named};
use super::warn;
use crate::quantity::{number, time_unit};
use crate::records::{Field, Grids, Kind, Meaning, Name, Record, label_words};
use crate::report::{Findings, Report};
use crate::rules::prose::shortened;

static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^\w])(p\d\d(?:\.\d+)?|\d\d(?:\.\d+)?(?:th)?[ -]percentile|median|mean|average|avg|maximum|max|minimum|min)\b([^.;,\d|]{0,30}?)[ (:=~≈](\d[\d,]*(?:\.\d+)?)\s?(ns|µs|μs|us|ms|milliseconds|s|seconds|secs?)\b").ok()
});

/// At least this many digits, so that no other figure is equal by chance.
const LEAST: usize = 3;

/// Maximum number of figures with which one is compared.
const MOST_FIELDS: usize = 10_000;

fn precise(digits: &str) -> bool {
    let plain: String = digits.chars().filter(char::is_ascii_digit).collect();
    plain.trim_matches('0').len() >= LEAST
}

/// Every named figure of tables and outputs, except in the line itself.
fn fields(grids: &Grids, line: usize) -> impl Iterator<Item = &Field> {
    let records = grids
        .grids()
        .chain(&grids.rows)
        .flat_map(|grid| &grid.records);
    let lists = grids
        .lists
        .iter()
        .filter(move |list| list.line.abs_diff(line) > 20);
    let fields = records.chain(lists).flat_map(|record| &record.fields);
    fields.take(MOST_FIELDS)
}

pub fn sentence(report: &Report, grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    if text.len() > 500 || !text.contains(|letter: char| letter.is_ascii_digit()) {
        return;
    }
    let lower = text.to_lowercase();
    let targets = [
        "target",
        "limit",
        "slo",
        "sla",
        "threshold",
        "goal",
        "budget",
        "<",
        ">",
        "≤",
        "≥",
        "timeout",
        "previous",
        "was ",
    ];
    if is_uncertain(text) || targets.iter().any(|word| lower.contains(word)) {
        return;
    }
    let plain = text.replace(['*', '`'], "");
    let Some(pattern) = QUOTED.as_ref() else {
        return;
    };
    for found in pattern.captures_iter(&plain).take(8) {
        let group = |at: usize| found.get(at).map_or("", |group| group.as_str());
        let between = group(2).to_lowercase();
        if [
            "to ", "by", "under", "below", "over", "within", "and", "/", "p9", "than",
        ]
        .iter()
        .any(|word| between.contains(word))
        {
            continue;
        }
        let statistic = Name::read(
            &group(1)
                .to_lowercase()
                .replace("-percentile", " percentile"),
        );
        let (Some((value, step)), Some(scale)) =
            (number(group(3)), time_unit(&group(4).to_lowercase()))
        else {
            continue;
        };
        if statistic.is_statistic() && precise(group(3)) {
            let said = Said {
                meaning: statistic.meaning,
                value: value * scale,
                step: step * scale,
                words: format!("{} {}", group(1), group(3)),
            };
            judge(report, grids, text, line, &said, findings);
        }
    }
}

struct Said {
    meaning: Meaning,
    value: f64,
    step: f64,
    words: String,
}

fn judge(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    said: &Said,
    findings: &mut Findings,
) {
    let near = |value: f64| (value - said.value).abs() <= 0.501 * said.step + 1e-9 * said.value;
    let times = || {
        fields(grids, line)
            .filter(|field| field.figure.kind == Kind::Time && field.figure.value > 0.0)
    };
    let same = |field: &&Field| field.name.meaning == said.meaning && field.name.is_latency();
    // A figure without a statistic, or without a unit, may be the one.
    let open = fields(grids, line).any(|field| {
        let unnamed = !field.name.is_statistic() || field.figure.kind != Kind::Time;
        unnamed
            && [1.0, 1e3, 1e6]
                .iter()
                .any(|scale| near(field.figure.value / scale))
    });
    let outputs = report
        .blocks
        .iter()
        .flat_map(|block| &block.trends)
        .any(|trend| trend.figures().iter().any(|(_, figure)| near(figure.value)));
    if open || outputs || times().filter(same).any(|field| near(field.figure.value)) {
        return;
    }
    let exact = |field: &&Field| {
        near(field.figure.value)
            && field.name.meaning != said.meaning
            && precise(&field.figure.text)
    };
    if let Some(other) = times().find(exact) {
        warn(
            "percentile-misquoted",
            line,
            [
                format!(
                    "\"{}\"; {}: {}",
                    shortened(text),
                    other.name.text,
                    other.figure.text
                ),
                format!(
                    "{} is the figure of {}, and not of another column",
                    said.words, other.name.text
                ),
                "Name the column that was quoted.".to_owned(),
            ],
            findings,
        );
        return;
    }
    let slipped = |field: &&Field| {
        [1e3, 1e6, 1e-3, 1e-6]
            .iter()
            .any(|scale| near(field.figure.value * scale))
    };
    if let Some(other) = times()
        .filter(same)
        .filter(|field| precise(&field.figure.text))
        .find(slipped)
    {
        warn(
            "unit-mismatch",
            line,
            [
                format!(
                    "\"{}\"; {}: {}",
                    shortened(text),
                    other.name.text,
                    other.figure.text
                ),
                format!(
                    "{} has the digits of {} and another unit",
                    said.words, other.figure.text
                ),
                "Copy the unit with the figure.".to_owned(),
            ],
            findings,
        );
    }
}

static RATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^\w.,-])(\d[\d,]*(?:\.\d+)?)\s?(?:req/s(?:ec)?|reqs/s(?:ec)?|requests?/s(?:ec(?:ond)?)?|requests per second|rps|qps|tps|ops/s(?:ec)?|transactions per second|queries per second)\b").ok()
});
static VERB: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(.+?)\s+(?:only |then |clearly )?(?:reached|reaches|handles?|handled|achieves?|achieved|delivers?|delivered|serves?|served|gets?|got|had|has|hit|managed|sustained|sustains|does|did|processed|processes|came in|averaged|topped|peaked|scored|manages|leads|wins)\s").ok()
});

/// "A reached 12,345 requests per second", which is the rate of B.
pub fn rate(grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    let lower = text.to_lowercase();
    if text.len() > 300
        || !["/s", "per second", "rps", "qps", "tps"]
            .iter()
            .any(|unit| lower.contains(unit))
        || is_uncertain(text)
    {
        return;
    }
    let plain = text.replace(['*', '`', '"'], "");
    let mut rates = RATE
        .iter()
        .flat_map(|pattern| pattern.captures_iter(&plain));
    let (Some(found), None) = (rates.next(), rates.next()) else {
        return;
    };
    let Some(subject) = VERB
        .as_ref()
        .and_then(|pattern| Some(pattern.captures(&plain)?.get(1)?.as_str().to_owned()))
    else {
        return;
    };
    let Some(written) = found.get(1).map(|digits| digits.as_str()) else {
        return;
    };
    let Some((value, _)) = number(written).filter(|_| precise(written)) else {
        return;
    };
    let is = |field: &&Field| {
        field.figure.value == value && matches!(field.figure.kind, Kind::Rate | Kind::Plain)
    };
    let subject = subject.rsplit([',', ':', ';']).next().unwrap_or(&subject);
    let mut wrong: Option<(&Field, &str)> = None;
    for grid in grids.grids() {
        let owners = grid
            .records
            .iter()
            .filter(|record| record.fields.iter().any(|field| is(&field)));
        let owners: Vec<_> = owners.collect();
        if owners.is_empty() {
            continue;
        }
        let (Some(records), [owner]) = (named(grid, subject), &owners[..]) else {
            return;
        };
        if records.iter().any(|record| std::ptr::eq(*record, *owner)) {
            return;
        }
        let own = records.iter().flat_map(|record| &record.fields);
        let mut own =
            own.filter(|field| field.figure.kind == Kind::Rate && field.figure.value > 0.0);
        wrong = wrong.or(own.next().map(|field| (field, owner.label.as_str())));
    }
    // The sentence may name both.
    let Some((own, owner)) = wrong.filter(|(_, owner)| {
        !label_words(owner)
            .iter()
            .all(|word| label_words(&plain).contains(word))
    }) else {
        return;
    };
    warn(
        "stale-prose",
        line,
        [
            format!(
                "\"{}\"; {}: {}",
                shortened(text),
                own.name.text,
                own.figure.text
            ),
            format!(
                "{written} is the figure of {owner}, not {}",
                own.figure.text
            ),
            "Name the record whose figure it is.".to_owned(),
        ],
        findings,
    );
}

static POSSESSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"([A-Z][\w.+-]*)['’]s\s+(\d[\d,]*(?:\.\d+)?)\s?(?:(?i:req/s(?:ec)?|requests per second|rps|qps|tps|ops/s(?:ec)?))\b").ok()
});

/// "A's 452 RPS", which is the rate of B.
pub fn possessed(grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    if !text.contains(['\'', '’']) || text.len() > 500 {
        return;
    }
    let plain = text.replace(['*', '`'], "");
    let Some(pattern) = POSSESSED.as_ref() else {
        return;
    };
    for found in pattern.captures_iter(&plain).take(8) {
        let group = |at: usize| found.get(at).map_or("", |group| group.as_str());
        let Some((value, _)) = number(group(2)).filter(|_| precise(group(2))) else {
            continue;
        };
        let is = |field: &Field| {
            field.figure.value == value && matches!(field.figure.kind, Kind::Rate | Kind::Plain)
        };
        let mut wrong: Option<(&Field, &str)> = None;
        for grid in grids.grids() {
            let of = |record: &Record| record.fields.iter().any(is);
            let Some(own) = named(grid, group(1)) else {
                continue;
            };
            if own.iter().any(|record| of(record)) {
                wrong = None;
                break;
            }
            let mut owners = grid.records.iter().filter(|record| of(record));
            let rate = own.iter().flat_map(|record| &record.fields);
            let rate = rate
                .into_iter()
                .find(|field| field.figure.kind == Kind::Rate);
            if let (Some(owner), None, Some(rate)) = (owners.next(), owners.next(), rate) {
                wrong = Some((rate, &owner.label));
            }
        }
        let Some((own, owner)) = wrong else {
            continue;
        };
        warn(
            "stale-prose",
            line,
            [
                format!(
                    "\"{}\"; {}: {}",
                    shortened(text),
                    own.name.text,
                    own.figure.text
                ),
                format!(
                    "{} is the figure of {owner}, not {}",
                    group(2),
                    own.figure.text
                ),
                "Name the record whose figure it is.".to_owned(),
            ],
            findings,
        );
        return;
    }
}
