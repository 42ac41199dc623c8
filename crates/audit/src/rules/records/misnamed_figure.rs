//! A sentence that quotes a figure of the page under another name: as another percentile, or in
//! another unit.

use super::subject::is_uncertain;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{parse_number, parse_time_unit};
use crate::records::{Field, Grids, Kind, Meaning, Name};
use crate::report::{Findings, Report};

static QUOTED: Pattern = pattern!(
    r"(?i)(?:^|[^\w])(p\d\d(?:\.\d+)?|\d\d(?:\.\d+)?(?:th)?[ -]percentile|median|mean|average|avg|maximum|max|minimum|min)\b([^.;,\d|]{0,30}?)[ (:=~≈](\d[\d,]*(?:\.\d+)?)\s?(ns|µs|μs|us|ms|milliseconds|s|seconds|secs?)\b"
);

/// Minimum number of digits, so that no other figure is equal by chance.
const MIN_DIGITS: usize = 3;

/// Maximum number of figures to compare one figure with.
const MAX_FIELDS: usize = 10_000;

pub fn is_precise(digits: &str) -> bool {
    let plain: String = digits.chars().filter(char::is_ascii_digit).collect();
    plain.trim_matches('0').len() >= MIN_DIGITS
}

/// Every named figure of tables and outputs, except those in the line itself.
fn fields_outside_line(grids: &Grids, line: usize) -> impl Iterator<Item = &Field> {
    let records = grids
        .grids()
        .chain(&grids.rows)
        .flat_map(|grid| &grid.records);
    let lists = grids
        .lists
        .iter()
        .filter(move |list| list.line.abs_diff(line) > 20);
    let fields = records.chain(lists).flat_map(|record| &record.fields);
    fields.take(MAX_FIELDS)
}

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
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
    for found in QUOTED.all(&plain).take(8) {
        let group = |at: usize| group(&found, at);
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
        let (Some((value, step)), Some(scale)) = (
            parse_number(group(3)),
            parse_time_unit(&group(4).to_lowercase()),
        ) else {
            continue;
        };
        if statistic.is_statistic() && is_precise(group(3)) {
            let claimed = Statement {
                meaning: statistic.meaning,
                value: value * scale,
                step: step * scale,
                words: format!("{} {}", group(1), group(3)),
            };
            judge(report, grids, text, line, &claimed, findings);
        }
    }
}

struct Statement {
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
    claimed: &Statement,
    findings: &mut Findings,
) {
    let near =
        |value: f64| (value - claimed.value).abs() <= 0.501 * claimed.step + 1e-9 * claimed.value;
    let times = || {
        fields_outside_line(grids, line)
            .filter(|field| field.figure.kind == Kind::Time && field.figure.value > 0.0)
    };
    let same = |field: &&Field| field.name.meaning == claimed.meaning && field.name.is_latency();
    // The quoted figure may be one without a statistic or without a unit.
    let open = fields_outside_line(grids, line).any(|field| {
        let unnamed = !field.name.is_statistic() || field.figure.kind != Kind::Time;
        unnamed
            && [1.0, 1e3, 1e6]
                .iter()
                .any(|scale| near(field.figure.value / scale))
    });
    // The line may be one of a list of statistics, and two of them may be equal.
    let listed = grids.lists.iter().any(|list| {
        let statistics = list.fields.iter().filter(|field| field.name.is_statistic());
        statistics.clone().count() >= 3
            && statistics
                .into_iter()
                .any(|field| field.name.meaning == claimed.meaning && near(field.figure.value))
    });
    let outputs = report
        .blocks
        .iter()
        .flat_map(|block| &block.trends)
        .any(|trend| trend.figures().iter().any(|(_, figure)| near(figure.value)));
    if open || listed || outputs || times().filter(same).any(|field| near(field.figure.value)) {
        return;
    }
    let exact = |field: &&Field| {
        near(field.figure.value)
            && field.name.meaning != claimed.meaning
            && is_precise(&field.figure.text)
    };
    let slipped = |field: &&Field| {
        same(field)
            && is_precise(&field.figure.text)
            && [1e3, 1e6, 1e-3, 1e-6]
                .iter()
                .any(|scale| near(field.figure.value * scale))
    };
    let (rule, other, error, advice) = if let Some(other) = times().find(exact) {
        let error = format!(
            "{} is the figure of {}, not of the quoted column",
            claimed.words, other.name.text
        );
        let advice = "Name the column that was quoted.";
        ("percentile-misquoted", other, error, advice)
    } else if let Some(other) = times().find(slipped) {
        let error = format!(
            "{} has the digits of {} with another unit",
            claimed.words, other.figure.text
        );
        let advice = "Copy the unit together with the figure.";
        ("unit-mismatch", other, error, advice)
    } else {
        return;
    };
    let evidence = quote_with_field(text, other);
    warn(rule, line, [evidence, error, advice.to_owned()], findings);
}
