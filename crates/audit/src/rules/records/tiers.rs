//! "Tier 1 (> 100k req/s): A, B": a record in a class whose limits exclude all of its figures. The
//! limits may also be in a heading above a list of the records.

use super::subject::{is_uncertain, named_records};
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_number;
use crate::records::{Field, Grids, Kind, Record, parse_unit};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

const NUMBER: &str = r"~?(\d[\d,]*(?:\.\d+)?)\s?(?-i:([kKM])\b)?\s?";
const UNIT: &str =
    r"(ns|us|µs|μs|ms|s|seconds|req/s|reqs/s|requests/s(?:ec)?|ops/s(?:ec)?|rps|qps|tps|iops)\b";

static BOUND: Pattern = pattern!(&format!(
    r"(?i)(>=|<=|[<≤>≥]|\babove|\bover|\bbelow|\bunder|\bless than|\bmore than|\bup to)\s*{NUMBER}{UNIT}"
));
static BOUND_BEHIND: Pattern = pattern!(&format!(
    r"(?i)(?:^|[^\w.,–-]){NUMBER}{UNIT}\s?(\+|or more|and more|or less)"
));
static RANGE: Pattern = pattern!(&format!(
    r"(?i)(?:^|[^\w.,–-]){NUMBER}(?:ns|us|µs|μs|ms|s)?\s?(?:-|–|—|to)\s?{NUMBER}{UNIT}"
));

/// The limits of a class, in seconds or per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    pub low: f64,
    pub high: f64,
    pub kind: Kind,
    /// The limits as written.
    pub text: String,
    /// The byte range of the limits in the text.
    pub place: std::ops::Range<usize>,
}

impl Limits {
    /// The only limits in a passage.
    pub fn parse_only(text: &str) -> Option<Limits> {
        let lower = text.to_lowercase();
        let units = ["ms", "µs", "us", "/s", "ps", "ns", " s", "sec"];
        if !text.contains(|letter: char| letter.is_ascii_digit())
            || !units.iter().any(|unit| lower.contains(unit))
        {
            return None;
        }
        let scaled = |digits: &str, thousands: &str| {
            let (value, _) = parse_number(digits)?;
            Some(match thousands {
                "" => value,
                "M" => value * 1e6,
                _ => value * 1e3,
            })
        };
        let (found, low, high, unit) = if let Some(found) = RANGE.only(text) {
            let (one, thousands) = (group(&found, 1), group(&found, 2));
            let of_both = group(&found, 4);
            // "50-100k" means 50k to 100k.
            let thousands = if thousands.is_empty() {
                of_both
            } else {
                thousands
            };
            let (low, high) = (scaled(one, thousands)?, scaled(group(&found, 3), of_both)?);
            let unit = group(&found, 5).to_owned();
            (found, low, high, unit)
        } else if let Some(found) = BOUND.only(text) {
            let value = scaled(group(&found, 2), group(&found, 3))?;
            let sign = group(&found, 1).to_lowercase();
            let above = matches!(
                sign.as_str(),
                ">" | ">=" | "≥" | "above" | "over" | "more than"
            );
            let (low, high) = if above {
                (value, f64::MAX)
            } else {
                (0.0, value)
            };
            let unit = group(&found, 4).to_owned();
            (found, low, high, unit)
        } else {
            let found = BOUND_BEHIND.only(text)?;
            let value = scaled(group(&found, 1), group(&found, 2))?;
            let above = group(&found, 4) != "or less";
            let (low, high) = if above {
                (value, f64::MAX)
            } else {
                (0.0, value)
            };
            let unit = group(&found, 3).to_owned();
            (found, low, high, unit)
        };
        let (scale, kind) = parse_unit(&unit)?;
        let whole = found.get(0)?;
        let written = whole.as_str().trim_start_matches(|letter: char| {
            letter.is_whitespace() || matches!(letter, '(' | '[' | ':' | '~')
        });
        let high = if high == f64::MAX { high } else { high * scale };
        (low * scale < high && matches!(kind, Kind::Time | Kind::Rate)).then(|| Limits {
            low: low * scale,
            high,
            kind,
            text: written.to_owned(),
            place: whole.end() - written.len()..whole.end(),
        })
    }

    /// Whether a figure may belong to the class after rounding to two digits.
    pub fn allows(&self, value: f64) -> bool {
        (0.95 * self.low..=1.05 * self.high).contains(&value)
    }
}

/// Words for limits that are objectives and not classes.
const OPEN: [&str; 9] = [
    "target",
    "slo",
    "sla",
    "goal",
    "limit",
    "threshold",
    "timeout",
    "should",
    "budget",
];

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    let headings = &report.document.headings;
    for prose in report.prose() {
        for (line, text) in prose.lines().filter(|(_, text)| text.len() < 300) {
            let Some(limits) = Limits::parse_only(text) else {
                continue;
            };
            // The records come after a colon, which comes after the limits.
            let Some((_, listed)) = text
                .get(limits.place.end..)
                .and_then(|it| it.split_once(':'))
            else {
                continue;
            };
            let names: Vec<&str> = listed.split([',', ';', '/', '|']).collect();
            judge(grids, text, line, &limits, &names, findings);
        }
    }
    for (at, (line, title)) in headings.iter().enumerate().take(500) {
        let next = headings.get(at + 1).map_or(usize::MAX, |(next, _)| *next);
        let Some(limits) = Limits::parse_only(title) else {
            continue;
        };
        let items = report
            .document
            .prose
            .iter()
            .filter(|prose| (*line..next).contains(&prose.line))
            .flat_map(|prose| prose.lines());
        let names: Vec<&str> = items
            .filter_map(|(_, text)| text.split([':', '(', '–', '—']).next())
            .filter(|name| name.len() < 40)
            .take(40)
            .collect();
        judge(grids, title, *line, &limits, &names, findings);
    }
}

/// Reports the first of several named records if none of its figures belongs to the class.
fn judge(
    grids: &Grids,
    text: &str,
    line: usize,
    limits: &Limits,
    names: &[&str],
    findings: &mut Findings,
) {
    let lower = text.to_lowercase();
    if OPEN.iter().any(|word| lower.contains(word)) || is_uncertain(text) {
        return;
    }
    let mut wrong: Option<(&Record, &Field)> = None;
    let mut right = 0;
    for name in names {
        let of_kind = |field: &&Field| field.figure.kind == limits.kind && field.is_exact();
        let mut all: Vec<&Record> = Vec::new();
        for grid in grids.grids() {
            all.extend(named_records(grid, name).into_iter().flatten());
        }
        let fields = || {
            all.iter()
                .copied()
                .flat_map(|record| &record.fields)
                .filter(of_kind)
        };
        let Some(first) = fields().next() else {
            continue;
        };
        if fields().any(|field| limits.allows(field.figure.value)) {
            right += 1;
        } else if let Some(record) = all.first().filter(|_| wrong.is_none()) {
            wrong = Some((*record, first));
        }
    }
    // If no record fits, the class refers to another figure.
    let Some((record, field)) = wrong.filter(|_| right > 0) else {
        return;
    };
    warn(
        "label-mismatch",
        line,
        [
            format!(
                "\"{}\"; {}, {}: {}",
                shorten(text),
                record.label,
                field.name.text,
                field.figure.text
            ),
            format!(
                "{} is not {}, and no figure of {} is",
                field.figure.text, limits.text, record.label
            ),
            "Move it to the class that matches its figure.".to_owned(),
        ],
        findings,
    );
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn limits_have_a_unit() {
        for (text, expected) in [
            ("Tier 1 (> 100k req/s): A", Some((100e3, f64::MAX))),
            ("Fast (50-100K RPS)", Some((50e3, 100e3))),
            ("Good: 50 ms – 200 ms", Some((0.05, 0.2))),
            ("Poor (200 ms+)", Some((0.2, f64::MAX))),
            ("under 10 ms", Some((0.0, 0.01))),
            ("more than 3 servers", None),
            ("5 ms to 10 ms or 20 ms to 30 ms", None),
        ] {
            let found = Limits::parse_only(text).map(|limits| (limits.low, limits.high));
            assert_eq!(found, expected, "{text}");
        }
    }
}
