//! "Sub-600 ms p95 with 100 users", "the median stays below 5 ms", "more than 1,000 requests per
//! second": a limit that every figure to which the sentence may refer misses.

use super::entities::named;
use super::mentions::strip_markup;
use super::subject::{Metric, is_uncertain};
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{parse_number, parse_time_unit};
use crate::records::{Field, Grids, Kind, Meaning, english};
use crate::report::{Findings, Report};

const METRIC: &str = r"\b(?:p\d\d(?:\.\d+)?|\d\dth percentile|median|mean|average|avg|max|maximum|latency|latencies|response times?)\b";
const TIME: &str = r"~?(\d[\d,]*(?:\.\d+)?)\s?(ns|µs|μs|us|ms|milliseconds|s|seconds)\b";
const RATE: &str = r"~?(\d[\d,]*(?:\.\d+)?)\s?(k?)\s?(?:req/s(?:ec)?|requests?/s(?:ec(?:ond)?)?|requests per second|rps|qps|tps|ops/s(?:ec)?)\b";
const BELOW: &str =
    r"(?:below|under|within|less than|lower than|at most|no more than|not more than)";
const ABOVE: &str =
    r"(?:above|over|more than|higher than|greater than|at least|exceed(?:s|ed|ing)?)";

static TIME_BELOW: Pattern = pattern!(&format!(r"{METRIC}[^.;,\d]{{0,40}}?\b{BELOW}\s+{TIME}"));
static TIME_SUB: Pattern = pattern!(&format!(r"\bsub[- ]{TIME}[^.;,\d]{{0,20}}?{METRIC}"));
static TIME_ABOVE: Pattern = pattern!(&format!(r"{METRIC}[^.;,\d]{{0,40}}?\b{ABOVE}\s+{TIME}"));
static RATE_BELOW: Pattern = pattern!(&format!(r"\b{BELOW}\s+{RATE}"));
static RATE_ABOVE: Pattern = pattern!(&format!(r"\b{ABOVE}\s+{RATE}"));

/// Words for a limit that is not a result, or for a figure of something else.
const OPEN: [&str; 45] = [
    "target",
    "goal",
    "should",
    "must",
    "limit",
    "slo",
    "sla",
    "requir",
    "objective",
    "criteri",
    "acceptable",
    "warn",
    "alert",
    "until",
    "previous",
    "earlier",
    "before",
    "baseline",
    "reduc",
    "improv",
    "increas",
    "decreas",
    "difference",
    "overhead",
    "added",
    "adds",
    "saves",
    "per user",
    "per connection",
    "per core",
    "each",
    "faster than",
    "slower than",
    "better than",
    "other than",
    "rather than",
    "spike",
    "outlier",
    "occasional",
    "sometimes",
    "most",
    "some",
    "burst",
    "peak",
    "budget",
];
/// Words of a heading above limits that are not results.
const PLANS: [&str; 14] = [
    "target",
    "goal",
    "criteri",
    "requirement",
    "threshold",
    "slo",
    "sla",
    "expect",
    "plan",
    "recommend",
    "objective",
    "todo",
    "next",
    "guide",
];

/// A limit of a sentence.
struct Limit {
    metric: Metric,
    kind: Kind,
    value: f64,
    /// Whether the figure is said to be below the limit.
    below: bool,
}

impl Limit {
    fn read(lower: &str) -> Option<Limit> {
        let times = [(&TIME_BELOW, true), (&TIME_SUB, true), (&TIME_ABOVE, false)];
        let mut found = times
            .iter()
            .filter_map(|(pattern, below)| Some((pattern.only(lower)?, *below, Kind::Time)));
        let rates = [(&RATE_BELOW, true), (&RATE_ABOVE, false)];
        let first = found.next().or_else(|| {
            let mut found = rates
                .iter()
                .filter_map(|(pattern, below)| Some((pattern.only(lower)?, *below, Kind::Rate)));
            found.next()
        });
        let (found, below, kind) = first?;
        let (value, _) = parse_number(group(&found, 1))?;
        let scale = match (kind, group(&found, 2)) {
            (Kind::Time, unit) => parse_time_unit(unit)?,
            (_, "k") => 1e3,
            _ => 1.0,
        };
        let metric = match (kind, Metric::in_sentence(lower)?) {
            (Kind::Time, Metric::Any | Metric::Rate) => return None,
            (Kind::Time, metric) => metric,
            (_, Metric::One(_)) => return None,
            _ => Metric::Rate,
        };
        Some(Limit {
            metric,
            kind,
            value: value * scale,
            below,
        })
    }

    fn is_of(&self, field: &Field) -> bool {
        let quantity = field.name.is_latency() || field.name.quantity.is_empty();
        self.metric.applies_to(field)
            && field.figure.kind == self.kind
            && field.figure.value > 0.0
            && (self.kind == Kind::Rate || quantity)
    }

    fn is_met(&self, field: &Field) -> bool {
        let figure = &field.figure;
        let slack = match self.metric {
            Metric::One(Meaning::Quantile(_)) => 1.001 * figure.step,
            _ => figure.coarse + 0.02 * self.value,
        };
        figure.bound
            || match self.below {
                true => figure.value - slack <= self.value,
                false => figure.value + slack >= self.value,
            }
    }
}

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    if text.len() > 300 || !text.contains(|letter: char| letter.is_ascii_digit()) {
        return;
    }
    let own = strip_markup(text);
    let translated = english(&own);
    let lower = translated.as_deref().unwrap_or(&own);
    if OPEN.iter().any(|word| lower.contains(word)) || is_uncertain(lower) {
        return;
    }
    let Some(limit) = Limit::read(lower) else {
        return;
    };
    // The sentence may be a heading itself.
    let titles = report.document.titles(line);
    let planned = titles.iter().filter(|title| *title != text).any(|title| {
        let title = title.to_lowercase();
        PLANS.iter().any(|word| title.contains(word))
    });
    if planned {
        return;
    }
    let scopes = named(grids, &own);
    let fields: Vec<&Field> = match scopes.is_empty() {
        true => {
            let records = grids.grids().flat_map(|grid| &grid.records);
            let fields = records
                .chain(&grids.lists)
                .flat_map(|record| &record.fields);
            fields.filter(|field| limit.is_of(field)).collect()
        }
        false => {
            let records = scopes.iter().flat_map(|scope| &scope.records);
            let fields = records.flat_map(|record| &record.fields);
            fields.filter(|field| limit.is_of(field)).collect()
        }
    };
    if fields.iter().any(|field| limit.is_met(field)) {
        return;
    }
    let nearest = |one: &&&Field, other: &&&Field| {
        let apart = |field: &Field| (field.figure.value - limit.value).abs();
        apart(one).total_cmp(&apart(other))
    };
    let Some(field) = fields.iter().min_by(nearest) else {
        return;
    };
    let is = if limit.below { "below" } else { "above" };
    warn(
        "objective-contradicted",
        line,
        [
            quote_with_field(text, field),
            format!(
                "{} is the nearest figure to which the sentence may refer, and it is not {is} the limit",
                field.figure.text
            ),
            "State by how much the limit is missed, or name the run that meets it.".to_owned(),
        ],
        findings,
    );
}
