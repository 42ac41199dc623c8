//! "A reached 12,345 requests per second", "A: 12.5 ms", "A's 452 RPS": the figure belongs to
//! another record.

use super::misnamed_figure::is_precise;
use super::subject::{Metric, is_uncertain, named_records, text_before_verb};
use super::swapped_figures::is_printed;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_number;
use crate::records::{Field, Grids, Kind, Record, label_words};
use crate::report::Findings;

const UNIT: &str = r"(?:(ns|µs|μs|us|ms|s|seconds)|req/s(?:ec)?|reqs/s(?:ec)?|requests?/s(?:ec(?:ond)?)?|requests per second|rps|qps|tps|ops/s(?:ec)?|transactions per second|queries per second)\b";

static FIGURE: Pattern = pattern!(&format!(r"(?i)(?:^|[^\w.,-])(\d[\d,]*(?:\.\d+)?)\s?{UNIT}"));
static VERB: Pattern = pattern!(
    r"(?i)^(.+?)\s+(?:only |then |clearly )?(?:reached|reaches|handles?|handled|achieves?|achieved|delivers?|delivered|serves?|served|gets?|got|had|has|hit|managed|sustained|sustains|does|did|processed|processes|came in|averaged|topped|peaked|scored|manages|leads|wins|takes|took|responds|responded|averages|is at|was at)\s"
);
static LISTED: Pattern = pattern!(r"^\W*([^:]{2,40}?)\W{0,3}:\s");
static POSSESSED: Pattern = pattern!(&format!(
    r"([A-Z][\w.+-]*)['’]s\s+(?:[\w/]+\s+){{0,3}}?(\d[\d,]*(?:\.\d+)?)\s?(?i:{UNIT})"
));

pub fn check_sentence(grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    let possible = text.contains(|letter: char| letter.is_ascii_digit());
    if !possible || text.len() > 500 {
        return;
    }
    let plain = text.replace(['*', '`', '"'], "");
    let mut claims = Vec::new();
    if text.len() <= 300
        && !is_uncertain(text)
        && let Some(figure) = FIGURE.only(&plain)
        && let Some(subject) = VERB.first(&plain).or_else(|| LISTED.first(&plain))
    {
        claims.push((text_before_verb(group(&subject, 1)), figure, false));
    }
    if text.contains(['\'', '’']) {
        let all = POSSESSED.all(&plain).take(8);
        claims.extend(all.filter_map(|found| Some((found.get(1)?.as_str(), found, true))));
    }
    let Some(metric) = Metric::in_sentence(&plain).filter(|_| !claims.is_empty()) else {
        return;
    };
    let words = label_words(&plain);
    for (subject, found, possessed) in claims {
        // The figure and its unit are the last two groups.
        let at = found.len() - 2;
        let written = group(&found, at);
        let kind = match group(&found, at + 1) {
            "" => Kind::Rate,
            _ => Kind::Time,
        };
        let Some((own, owner)) = find_other_owner(grids, subject, written, (kind, metric)) else {
            continue;
        };
        // The sentence may name both records.
        if !possessed && owner.words.iter().all(|word| words.contains(word)) {
            continue;
        }
        warn(
            "stale-prose",
            line,
            [
                quote_with_field(text, own),
                format!(
                    "{written} is the figure of {}, not {}",
                    owner.label, own.figure.text
                ),
                "Name the record whose figure it is.".to_owned(),
            ],
            findings,
        );
        return;
    }
}

/// A figure of a record, and the only other record of its grid that has the quoted figure in the
/// same column.
fn find_other_owner<'r>(
    grids: &'r Grids,
    subject: &str,
    written: &str,
    (kind, metric): (Kind, Metric),
) -> Option<(&'r Field, &'r Record)> {
    let (value, _) = parse_number(written).filter(|_| is_precise(written))?;
    let fits = |field: &&Field| {
        let known = field.figure.kind == kind;
        let plain = kind == Kind::Rate && field.figure.kind == Kind::Plain;
        (known && metric.applies_to(field) || plain) && is_printed(field, value)
    };
    let has = |record: &Record| record.fields.iter().any(|field| fits(&field));
    let mut found = None;
    for grid in grids.grids() {
        let owners: Vec<&Record> = grid.records.iter().filter(|record| has(record)).collect();
        if owners.is_empty() {
            continue;
        }
        let records = named_records(grid, subject)?;
        let [owner] = owners[..] else {
            return None;
        };
        if records.iter().any(|record| has(record)) {
            return None;
        }
        let column = owner.fields.iter().find(fits)?;
        let mut own = records
            .into_iter()
            .filter_map(|record| record.matching_field(column));
        found = found.or(own.find(|field| field.is_exact()).map(|own| (own, owner)));
    }
    found
}
