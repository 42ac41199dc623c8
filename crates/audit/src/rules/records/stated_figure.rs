//! "At 100 users, p95 reached 650 ms", "checkout: 12.4 ms (p50), 31 ms (p99)": a figure whose words
//! name one record and one column, and that is not in that cell.

use super::entities::{Named, named};
use super::mentions::strip_markup;
use super::quoted_cell::OTHER;
use super::subject::is_uncertain;
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{parse_number, parse_time_unit};
use crate::records::{Field, Figure, Grids, Kind, Meaning, Name, Record, english, tokenize};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static FIGURE: Pattern = pattern!(
    r"(?:^|[^\w.,–-])(\d[\d,]*(?:\.\d+)?)\s?(?:(ns|µs|μs|us|ms|s|sec|seconds|毫秒|мс)|req/s(?:ec)?|reqs/s(?:ec)?|requests?/s(?:ec(?:ond)?)?|requests per second|rps|qps|tps|ops/s(?:ec)?)\b"
);
/// The name of a column after its figure: "3.1 ms (p50)".
static BEHIND: Pattern =
    pattern!(r"^\s?[\[(]?\s?(p\d\d(?:\.\d+)?|median|mean|avg|average|max|maximum|min|minimum)\b");

/// Words for a figure that is not itself a result, in addition to those of a quoted figure.
const INDIRECT: [&str; 17] = [
    "timed out",
    "expected",
    "instead",
    "from ",
    "between",
    "than",
    "within",
    "under",
    "below",
    "above",
    "exceed",
    "over ",
    "range",
    "interval",
    "delay",
    "sleep",
    "think",
];
/// Words that mark a figure as rounded.
const ABOUT: [&str; 8] = [
    "~", "≈", "about", "around", "roughly", "nearly", "almost", "circa",
];

const MAX_FIGURES: usize = 6;

/// A figure of a sentence and the column that its words name.
struct Claim<'t> {
    written: &'t str,
    value: f64,
    step: f64,
    kind: Kind,
    meaning: Meaning,
    about: bool,
}

impl Claim<'_> {
    fn is(&self, figure: &Figure) -> bool {
        let share = if self.about || figure.about {
            0.15
        } else {
            0.01
        };
        (figure.value - self.value).abs() <= 1.01 * figure.step.max(self.step) + share * self.value
    }

    fn names(&self, field: &Field) -> bool {
        let quantity = field.name.is_latency() || field.name.quantity.is_empty();
        field.name.meaning == self.meaning
            && field.figure.kind == self.kind
            && (self.kind == Kind::Rate || quantity)
    }
}

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    if text.len() > 400 || !text.contains(|letter: char| letter.is_ascii_digit()) {
        return;
    }
    let own = strip_markup(text);
    if !FIGURE.is_match(&own) {
        return;
    }
    let translated = english(&own);
    let lower = translated.as_deref().unwrap_or(&own);
    if OTHER
        .iter()
        .chain(&INDIRECT)
        .any(|word| lower.contains(word))
        || is_uncertain(lower)
    {
        return;
    }
    let claims = claims(&own);
    if claims.is_empty() {
        return;
    }
    let scopes = named(grids, &own);
    let single = |scope: &Named| scope.records.len() == 1 && scope.possible.len() <= 1;
    if scopes.is_empty() || !scopes.iter().all(single) {
        return;
    }
    for claim in claims {
        let Some((record, field)) = contradicted(&scopes, &claim) else {
            continue;
        };
        let times = occurrences(report.text, claim.written);
        let owner = owner(&scopes, record, field, &claim).filter(|_| times == 2);
        if times != 1 && owner.is_none() {
            continue;
        }
        let whose = match owner {
            Some(owner) => format!("{} is the figure of {}", claim.written, owner.label),
            None => format!("no result of the page has {}", claim.written),
        };
        warn(
            "stale-prose",
            line,
            [
                format!("\"{}\"", shorten(text)),
                format!(
                    "{whose}; {} of {} is {}",
                    field.name.text, record.label, field.figure.text
                ),
                "Copy the figure from the table.".to_owned(),
            ],
            findings,
        );
        return;
    }
}

/// The figures of a sentence whose column is certain.
fn claims(text: &str) -> Vec<Claim<'_>> {
    let found: Vec<_> = FIGURE.all(text).take(MAX_FIGURES + 1).collect();
    if found.len() > MAX_FIGURES {
        return Vec::new();
    }
    let span = |found: &regex_lite::Captures| {
        let number = found.get(1).map_or(0, |part| part.start());
        (number, found.get(0).map_or(0, |part| part.end()))
    };
    let rest = |end: usize| text.get(end..).unwrap_or("");
    let behind = found.iter().any(|one| BEHIND.is_match(rest(span(one).1)));
    let mut claims = Vec::new();
    let mut last = 0;
    for one in &found {
        let (start, end) = span(one);
        let before = text.get(last..start).unwrap_or("");
        last = end;
        let (written, unit) = (group(one, 1), group(one, 2));
        let Some((value, step)) = parse_number(written) else {
            continue;
        };
        let (scale, kind) = match unit {
            "" => (1.0, Kind::Rate),
            unit => match parse_time_unit(unit) {
                Some(scale) => (scale, Kind::Time),
                None => continue,
            },
        };
        let named = match (kind, BEHIND.first(rest(end))) {
            (Kind::Rate, _) => of_rate(before),
            (_, Some(name)) => Some(Name::read(group(&name, 1)).meaning),
            (_, None) if behind => None,
            (_, None) => statistic(before),
        };
        let digits = written.chars().filter(char::is_ascii_digit);
        let digits: String = digits.collect();
        if let Some(meaning) = named
            && digits.trim_matches('0').len() >= 2
        {
            claims.push(Claim {
                written,
                value: value * scale,
                step: step * scale,
                kind,
                meaning,
                about: ABOUT.iter().any(|word| before.contains(word)),
            });
        }
    }
    claims
}

/// The only statistic in a passage.
fn statistic(before: &str) -> Option<Meaning> {
    let translated = english(before);
    let words = tokenize(translated.as_deref().unwrap_or(before));
    let mut names = words
        .iter()
        .filter(|word| !word.ends_with('%') && !matches!(word.as_str(), "fastest" | "slowest"))
        .map(|word| Name::read(word))
        .filter(Name::is_statistic);
    let name = names.next()?;
    names.next().is_none().then_some(name.meaning)
}

/// A rate without "peak" or another statistic than the mean.
fn of_rate(before: &str) -> Option<Meaning> {
    let peak = ["peak", "max", "min", "burst", "sustain"];
    let other = peak.iter().any(|word| before.contains(word));
    (!other && matches!(statistic(before), None | Some(Meaning::Mean))).then_some(Meaning::Rate)
}

/// The cell that a claim names, if no figure of the named records is the claimed one.
fn contradicted<'r>(scopes: &[Named<'r>], claim: &Claim) -> Option<(&'r Record, &'r Field)> {
    let mut cell = None;
    for scope in scopes {
        let record = *scope.records.first()?;
        if record.fields.iter().any(|field| claim.is(&field.figure)) {
            return None;
        }
        let mut fields = record.fields.iter().filter(|field| claim.names(field));
        let (Some(field), None) = (fields.next(), fields.next()) else {
            continue;
        };
        let near = (0.2..5.0).contains(&(field.figure.value / claim.value));
        if !field.is_exact() || !near {
            return None;
        }
        cell = cell.or(Some((record, field)));
    }
    cell
}

/// The other record of the table that has the claimed figure in the same column.
fn owner<'r>(
    scopes: &[Named<'r>],
    record: &Record,
    field: &Field,
    claim: &Claim,
) -> Option<&'r Record> {
    let scope = scopes
        .iter()
        .find(|scope| scope.records.iter().any(|one| std::ptr::eq(*one, record)))?;
    scope.grid.records.iter().find(|other| {
        other
            .matching_field(field)
            .is_some_and(|twin| (twin.figure.value - claim.value).abs() <= 0.51 * claim.step)
    })
}

/// Counts the occurrences of a number on the page.
fn occurrences(text: &str, written: &str) -> usize {
    let digit = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_ascii_digit() || letter == '.')
    };
    let all = text.match_indices(written).filter(|(at, _)| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let mut after = text.get(at + written.len()..).unwrap_or("").chars();
        let next = after.next();
        let longer = next.is_some_and(|letter| letter.is_ascii_digit())
            || matches!(next, Some('.' | ',')) && digit(after.next());
        !digit(before) && !longer
    });
    all.count()
}
