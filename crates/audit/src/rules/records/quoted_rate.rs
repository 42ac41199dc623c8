//! "A handles 12,345 requests per second" next to a table in which the row of A has another rate.

use super::subject::{Metric, is_uncertain, named_records};
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, pattern};
use crate::quantity::{format_number, parse_number};
use crate::records::{Field, Grids, Kind};
use crate::report::{Findings, Report};
use crate::rules::prose::is_conditional;

static RATE: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,-])(~|≈|about |around |over |nearly |almost |roughly |approximately |more than )?(\d[\d,]*(?:\.\d+)?)\s?(k\b)?\s?(?:req/s(?:ec)?|reqs/s(?:ec)?|requests?/s(?:ec(?:ond)?)?|requests per second|rps|qps|tps|ops/s(?:ec)?|transactions per second|queries per second)\b"
);
static VERB: Pattern = pattern!(
    r"(?i)^(.+?)\s+(?:only |then |clearly |can )?(?:reached|reaches|handles?|handled|achieves?|achieved|delivers?|delivered|serves?|served|gets?|got|had|has|hit|managed|sustained|sustains|does|did|processed|processes|came in|averaged|topped|peaked|scored|manages)\s"
);

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    sentence: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = sentence.to_lowercase();
    let of_rate = ["/s", "per second", "rps", "qps", "tps"];
    if sentence.len() > 400
        || !of_rate.iter().any(|unit| lower.contains(unit))
        || is_uncertain(sentence)
        || is_conditional(sentence)
    {
        return;
    }
    let plain = sentence.replace(['*', '`', '"'], "");
    let Some(subject) = VERB
        .first(&plain)
        .and_then(|found| Some(found.get(1)?.as_str().to_owned()))
    else {
        return;
    };
    let mut rates = RATE.all(&plain);
    let (Some(found), None) = (rates.next(), rates.next()) else {
        return;
    };
    let Some((value, step)) = found
        .get(2)
        .and_then(|digits| parse_number(digits.as_str()))
    else {
        return;
    };
    let scale = if found.get(3).is_some() { 1e3 } else { 1.0 };
    let about = found.get(1).is_some() || scale > 1.0;
    let (value, step) = (value * scale, step * scale);
    let near = |figure: f64| {
        (figure - value).abs() <= step + if about { 0.15 } else { 0.03 } * figure.abs()
    };
    let mut shown: Option<&Field> = None;
    for grid in grids.grids() {
        let Some(records) = named_records(
            grid,
            subject.rsplit([',', ':', ';']).next().unwrap_or(&subject),
        ) else {
            continue;
        };
        let of_rate = |field: &&Field| Metric::Rate.applies_to(field) && field.figure.value > 0.0;
        let fields = records.iter().flat_map(|record| &record.fields);
        shown = shown.or(fields.into_iter().find(of_rate));
    }
    let Some(shown) = shown else {
        return;
    };
    // The sentence may refer to any figure on the page.
    let known = grids
        .grids()
        .flat_map(|grid| &grid.records)
        .chain(&grids.lists)
        .flat_map(|record| &record.fields)
        .filter(|field| matches!(field.figure.kind, Kind::Rate | Kind::Plain))
        .any(|field| near(field.figure.value));
    let outputs = report.blocks.iter().any(|block| {
        let rates = [&block.rate, &block.iteration_rate, &block.requested_rate];
        rates.into_iter().flatten().any(|rate| near(rate.value))
    });
    let written = found.get(2).map_or("", |digits| digits.as_str());
    let elsewhere = report
        .text
        .lines()
        .filter(|text| text.contains(written))
        .nth(1)
        .is_some();
    if known || outputs || elsewhere {
        return;
    }
    warn(
        "stale-prose",
        line,
        [
            quote_with_field(sentence, shown),
            format!(
                "{} ÷ {} = {:.2}, and no figure on the page is {}",
                format_number(value),
                shown.figure.text,
                value / shown.figure.value,
                format_number(value)
            ),
            "Copy the figure from the table, or show the run that it is from.".to_owned(),
        ],
        findings,
    );
}
