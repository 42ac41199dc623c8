//! "95 % of the requests took less than 50 ms": a percentile that leaves fewer or more requests on
//! that side of the limit.

use super::mentions::{mentioned_records, strip_markup};
use super::subject::is_uncertain;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{format_number, parse_number, parse_time_unit};
use crate::records::{Field, Grids, Kind, Meaning, Record};
use crate::report::{Findings, Report};

const WHOLE: &str = r"(\d+(?:\.\d+)?)\s?% of (?:all |the |our )*(?:\w+ )?(?:requests|responses|users|queries|calls|operations|messages|samples)\b";
const TIME: &str = r"~?(\d[\d,]*(?:\.\d+)?)\s?(ns|µs|μs|us|ms|milliseconds|s|seconds?)\b";

static BELOW: Pattern = pattern!(&format!(
    r"(?i)\b{WHOLE}[^.;,\d]{{0,50}}?(?:\s(?:below|under|within|in|less than|faster than|up to|at most)|\s?[<≤]=?)\s*{TIME}"
));
static ABOVE: Pattern = pattern!(&format!(
    r"(?i)\b{WHOLE}[^.;,\d]{{0,50}}?(?:\s(?:above|over|more than|longer than|slower than|exceed|exceeds|exceeded|exceeding)|\s?[>≥]=?)\s*{TIME}"
));
/// Words for a claim that is not about the results.
const OTHER: [&str; 12] = [
    "target",
    "goal",
    "slo",
    "sla",
    "must",
    "objective",
    "previous",
    "before",
    "earlier",
    "baseline",
    "require",
    "acceptable",
];

/// A share of requests on one side of a limit.
struct Claim {
    share: f64,
    limit: f64,
    below: bool,
}

impl Claim {
    fn read(text: &str) -> Option<Claim> {
        let (found, below) = match BELOW.only(text) {
            Some(found) => (found, true),
            None => (ABOVE.only(text)?, false),
        };
        let (percent, _) = parse_number(group(&found, 1))?;
        let (value, _) = parse_number(group(&found, 2))?;
        let scale = parse_time_unit(&group(&found, 3).to_lowercase())?;
        (percent > 0.0 && percent < 100.0 && value > 0.0).then_some(Claim {
            share: percent / 100.0,
            limit: value * scale,
            below,
        })
    }

    /// Whether a percentile excludes the claim.
    fn is_excluded_by(&self, field: &Field) -> bool {
        let Meaning::Quantile(quantile) = field.name.meaning else {
            return false;
        };
        let figure = &field.figure;
        let above = figure.value - figure.step > 1.02 * self.limit;
        let under = figure.value + figure.step < 0.98 * self.limit;
        match self.below {
            // More than 1 − q are above the limit.
            true => above && quantile <= self.share,
            false => {
                above && 1.0 - quantile >= 1.5 * self.share
                    || under && 1.0 - quantile <= 0.9 * self.share
            }
        }
    }
}

fn percentile_fields(record: &Record) -> Vec<&Field> {
    record
        .fields
        .iter()
        .filter(|field| {
            matches!(field.name.meaning, Meaning::Quantile(_))
                && field.figure.kind == Kind::Time
                && field.is_exact()
                && (field.name.is_latency() || field.name.quantity.is_empty())
        })
        .collect()
}

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = strip_markup(text);
    if !lower.contains("% of ")
        || text.len() > 300
        || OTHER.iter().any(|word| lower.contains(word))
        || is_uncertain(text)
    {
        return;
    }
    let Some(claim) = Claim::read(&lower) else {
        return;
    };
    let records = || {
        let tables = grids.grids().flat_map(|grid| &grid.records);
        tables
            .chain(&grids.lists)
            .filter(|record| !percentile_fields(record).is_empty())
    };
    let named: Vec<&Record> = grids
        .grids()
        .flat_map(|grid| mentioned_records(grid, &lower))
        .filter(|record| !percentile_fields(record).is_empty())
        .collect();
    let titles = report.document.titles(line);
    let near = records().filter(|record| report.document.titles(record.line) == titles);
    let near: Vec<&Record> = near.take(200).collect();
    let chosen = match (named.is_empty(), near.is_empty()) {
        (false, _) => named,
        (true, false) => near,
        (true, true) => records().take(200).collect(),
    };
    // Some record may explain the sentence.
    if chosen
        .iter()
        .any(|record| find_excluding(&claim, record).is_none())
    {
        return;
    }
    let Some(field) = chosen
        .first()
        .and_then(|record| find_excluding(&claim, record))
    else {
        return;
    };
    let Meaning::Quantile(quantile) = field.name.meaning else {
        return;
    };
    let side = if field.figure.value > claim.limit {
        "above"
    } else {
        "below"
    };
    let share = match side {
        "above" => 1.0 - quantile,
        _ => quantile,
    };
    warn(
        "stale-prose",
        line,
        [
            quote_with_field(text, field),
            format!(
                "with {} of {}, at least {} % are {side} the limit",
                field.name.text,
                field.figure.text,
                format_number(100.0 * share)
            ),
            "Count the requests within the limit, or quote the percentile.".to_owned(),
        ],
        findings,
    );
}

/// A percentile of the record that excludes the claim.
fn find_excluding<'r>(claim: &Claim, record: &'r Record) -> Option<&'r Field> {
    let percentiles = percentile_fields(record);
    percentiles
        .into_iter()
        .find(|field| claim.is_excluded_by(field))
}
