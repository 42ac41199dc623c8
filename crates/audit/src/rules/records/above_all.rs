//! "Benchmarks show 69,000 req/s", next to a table in which no rate is as high.

use super::subject::is_uncertain;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_number;
use crate::records::{Field, Grids, Kind};
use crate::report::{Findings, Report};

static RATE: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,–-])(\d[\d,]*(?:\.\d+)?)\s?(?-i:(k)\b)?\s?(?:req/s(?:ec)?|reqs/s(?:ec)?|requests?/s(?:ec(?:ond)?)?|requests per second|rps|qps|tps|ops/s(?:ec)?)\b"
);
static SHOWN: Pattern = pattern!(
    r"(?i)\b(?:benchmarks?|tests?|results?|measurements?)\s+(?:\w+\s+)?(?:shows?|showed|reach(?:es|ed)?|demonstrates?|demonstrated|confirms?|confirmed|sustains?|sustained|peaks? at|peaked at)\b"
);
/// Words for a rate that is not a result of the page's tables.
const OTHER: [&str; 24] = [
    "target",
    "goal",
    "limit",
    "expect",
    "require",
    "project",
    "theoretical",
    "capacity",
    "estimate",
    "previous",
    "earlier",
    "before",
    "baseline",
    "another",
    "other",
    "separate",
    "combined",
    "total",
    "aggregate",
    "cluster",
    "up to",
    "per ",
    "each",
    "without",
];

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = text.to_lowercase();
    if text.len() > 250
        || !SHOWN.is_match(text)
        || OTHER.iter().any(|word| lower.contains(word))
        || is_uncertain(text)
    {
        return;
    }
    let plain = text.replace(['*', '`'], "");
    let Some(found) = RATE.only(&plain) else {
        return;
    };
    let scale = if group(&found, 2).is_empty() {
        1.0
    } else {
        1e3
    };
    let Some((value, step)) = parse_number(group(&found, 1)) else {
        return;
    };
    let (claimed, step) = (value * scale, step * scale);
    let all: Vec<&Field> = grids
        .tables
        .iter()
        .flat_map(|grid| &grid.records)
        .chain(&grids.lists)
        .flat_map(|record| &record.fields)
        .filter(|field| field.figure.kind == Kind::Rate)
        .take(2000)
        .collect();
    // A bound such as "> 50k" or an output may include it.
    let open = all.iter().any(|field| field.figure.bound) || !report.blocks.is_empty();
    let highest = all
        .iter()
        .max_by(|one, other| one.figure.value.total_cmp(&other.figure.value));
    let Some(highest) = highest.filter(|_| !open && all.len() >= 2) else {
        return;
    };
    let figure = &highest.figure;
    if claimed - step <= 1.02 * figure.value + figure.step || claimed > 20.0 * figure.value {
        return;
    }
    warn(
        "stale-prose",
        line,
        [
            quote_with_field(text, highest),
            format!(
                "the highest of the {} rates of the page is {}, not {}",
                all.len(),
                figure.text,
                group(&found, 1)
            ),
            "Copy the rate from the table, or show the run that it describes.".to_owned(),
        ],
        findings,
    );
}
