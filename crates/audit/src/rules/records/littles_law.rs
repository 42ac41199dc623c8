//! More requests in flight than users: rate × mean latency of one record.

use super::identities::{format_field, label_prefix};
use super::{idle, warn};
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{format_number, parse_number};
use crate::records::{Field, Grid, Grids, Kind, Meaning, Record};
use crate::report::{Findings, Report};

static USERS: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,–-])(\d[\d,]*)\s*(?:(?:concurrent|virtual|parallel|simultaneous)\s+)*(?:users?|connections?|clients?|vus?|conns?)\b"
);

/// "Connections: 256", at the end of a line or before a remark.
static NAMED: Pattern = pattern!(
    r"(?i)\b(?:connections|concurrency|concurrent (?:users|connections|clients)|virtual users|vus\)?)\W{1,8}(\d[\d,]*)\s*(?:$|[|,;(*])"
);
static PIPELINED: Pattern = pattern!(r"(?i)\bpipelining\W{1,8}(\d[\d,]*)\s*(?:$|[|,;(*])");

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    // Words for connections with several requests in flight, or for a latency that includes a wait
    // before the request.
    const SEVERAL: [&str; 11] = [
        "http/2",
        "http2",
        "h2c",
        "stream",
        "multiplex",
        "batch",
        "depth",
        "open loop",
        "wrk2",
        "coordinated",
        "inflight",
    ];
    let lower = report.text.to_lowercase();
    // The number of pipelined requests may be stated.
    let pipelined = match lower.contains("pipeline") || lower.contains("pipelining") {
        true => match only_number(&[&PIPELINED], report.text) {
            Some(depth) => depth.max(1.0),
            None => return,
        },
        false => 1.0,
    };
    if SEVERAL.iter().any(|word| lower.contains(word))
        || lower.contains("in-flight")
        || lower.contains("async")
    {
        return;
    }
    let page = stated_users(report.text);
    let is_wrk = lower.contains("wrk");
    for grid in &grids.tables {
        let title = report.document.titles(grid.line).pop();
        // The rows may differ by the number of users.
        let around = title.as_deref().and_then(stated_users);
        let around = around.or(page.filter(|_| !has_numeric_labels(grid)));
        for record in &grid.records {
            check_record(record, around, pipelined, is_wrk, findings);
        }
        if let (Some(users), true) = (around, pipelined == 1.0) {
            idle::check(&lower, grid, users, findings);
        }
    }
    for list in &grids.lists {
        check_record(list, None, pipelined, is_wrk, findings);
    }
}

/// The only number of users in a passage.
pub fn stated_users(text: &str) -> Option<f64> {
    only_number(&[&USERS, &NAMED], text)
}

/// The only number that patterns find in the lines of a passage.
fn only_number(patterns: &[&Pattern], text: &str) -> Option<f64> {
    let mut only: Option<f64> = None;
    for line in text.lines().filter(|line| line.len() < 1000) {
        for found in patterns.iter().flat_map(|pattern| pattern.all(line)) {
            let (value, _) = parse_number(found.get(1)?.as_str())?;
            if only.is_some_and(|known| known != value) {
                return None;
            }
            only = Some(value);
        }
    }
    only
}

fn check_record(
    record: &Record,
    around: Option<f64>,
    pipelined: f64,
    is_wrk: bool,
    findings: &mut Findings,
) {
    let own = record
        .fields
        .iter()
        .any(|field| field.name.meaning == Meaning::Users);
    let users = match record.only_field(Meaning::Users) {
        Some(field) => Some(field.figure.value).filter(|_| field.figure.kind == Kind::Plain),
        None if own => None,
        None => stated_users(&record.label).or(around),
    };
    let (Some(users), Some(rate)) = (
        users
            .filter(|users| *users >= 1.0)
            .map(|users| users * pipelined),
        record.only_field(Meaning::Rate),
    ) else {
        return;
    };
    if rate.figure.kind != Kind::Rate || rate.figure.bound || rate.figure.value <= 0.0 {
        return;
    }
    let time = |meaning: Meaning| {
        let field = record.only_field(meaning)?;
        let exact =
            field.figure.kind == Kind::Time && !field.figure.bound && field.figure.value > 0.0;
        (exact && (field.name.is_latency() || field.name.quantity.is_empty())).then_some(field)
    };
    // At least half of the requests take as long as the median.
    let parts: [(Option<&Field>, f64, &str); 3] = [
        (time(Meaning::Mean), 1.0, ""),
        (time(Meaning::Min), 1.0, ""),
        (time(Meaning::Quantile(0.5)), 0.5, " × 0.5"),
    ];
    for (field, share, words) in parts {
        let Some(field) = field else {
            continue;
        };
        let low = (rate.figure.value - rate.figure.step)
            * (field.figure.value - field.figure.step)
            * share;
        let about = if rate.figure.about || field.figure.about {
            1.5
        } else {
            1.2
        };
        if low <= about * users + 1.0 {
            continue;
        }
        let level = if is_wrk && share == 1.0 {
            Level::Note
        } else {
            Level::Warning
        };
        let words = [
            format!(
                "{}{}, {}, {} users",
                label_prefix(record),
                format_field(rate),
                format_field(field),
                format_number(users)
            ),
            format!(
                "{} × {}{words} = {} requests in flight, but {} users have at most {}",
                rate.figure_with_unit(),
                field.figure_with_unit(),
                format_number(rate.figure.value * field.figure.value * share),
                format_number(users),
                format_number(users)
            ),
            "Take the rate, the latency and the number of users from the same run.".to_owned(),
        ];
        match level {
            Level::Note => findings.page("littles-law-gap", level, record.line, words),
            _ => warn("littles-law-gap", record.line, words, findings),
        }
        return;
    }
}

/// Whether the row labels are numbers, which may be the numbers of users.
fn has_numeric_labels(grid: &Grid) -> bool {
    grid.records.iter().any(|record| {
        let label = record.label.trim_matches(['*', '`', ' ']);
        label.starts_with(|letter: char| letter.is_ascii_digit())
    })
}
