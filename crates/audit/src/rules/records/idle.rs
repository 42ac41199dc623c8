//! Far fewer requests in flight than users: a row of a closed loop without pauses, and a passage that
//! denies pauses.

use super::identities::{format_field, label_prefix};
use super::{littles_law, quote_with_field, warn};
use crate::pattern::{Pattern, pattern};
use crate::quantity::format_number;
use crate::records::{Field, Grid, Grids, Kind, Meaning, Record};
use crate::report::{Findings, Report};
use crate::rules::prose::is_conditional;

/// Tools whose users send the next request as soon as they have a response.
const CLOSED: [&str; 5] = ["wrk", "bombardier", "autocannon", "`hey`", " oha"];
/// Words for another reason than an error.
const REASONS: [&str; 8] = [
    "timeout",
    "timed out",
    "socket error",
    "read error",
    "refused",
    "reset",
    "dropped",
    "rate limit",
];
/// Minimum number of users of which nearly all must be busy, if one row has most of them busy.
const MIN_COUNT: f64 = 50.0;
/// The same, if several rows have most of them busy.
const FEW_COUNT: f64 = 8.0;
/// Number of rows that show what the number of users is.
const SEVERAL: usize = 3;

/// The rate and the mean latency of a record.
fn rate_and_latency(record: &Record) -> Option<(&Field, &Field)> {
    let rate = record.only_field(Meaning::Rate)?;
    let timed = |field: &&Field| {
        field.figure.kind == Kind::Time
            && field.is_exact()
            && (field.name.meaning == Meaning::Mean
                || field.name.meaning == Meaning::Other && field.name.quantity == "latency")
    };
    let mut times = record.fields.iter().filter(timed);
    let (Some(time), None) = (times.next(), times.next()) else {
        return None;
    };
    (rate.figure.kind == Kind::Rate && rate.is_exact()).then_some((rate, time))
}

/// Reports a row with less than a tenth of the users busy: the only one next to a row with most of
/// them busy, or any next to several such rows.
pub fn check(page: &str, grid: &Grid, users: f64, findings: &mut Findings) {
    let closed = CLOSED.iter().any(|tool| page.contains(tool));
    if users < FEW_COUNT || !closed || REASONS.iter().any(|word| page.contains(word)) {
        return;
    }
    let share = |record: &Record| {
        let (rate, time) = rate_and_latency(record)?;
        Some(rate.figure.value * (time.figure.value + time.figure.step) / users)
    };
    let shares: Vec<(&Record, f64)> = grid
        .records
        .iter()
        .filter_map(|record| Some((record, share(record)?)))
        .collect();
    let full = shares
        .iter()
        .filter(|(_, share)| (0.7..1.2).contains(share))
        .count();
    let mut idle = shares.iter().filter(|(_, share)| *share < 0.1);
    let Some((record, _)) = idle.next() else {
        return;
    };
    let alone = users >= MIN_COUNT && full >= 1 && idle.next().is_none();
    if !alone && full < SEVERAL {
        return;
    }
    let Some((rate, time)) = rate_and_latency(record) else {
        return;
    };
    warn(
        "littles-law-gap",
        record.line,
        [
            format!(
                "{}{}, {}, {} users",
                label_prefix(record),
                format_field(rate),
                format_field(time),
                format_number(users)
            ),
            format!(
                "{} × {} = {} requests at once; the other users of {} did nothing, unlike in another row",
                rate.figure_with_unit(),
                time.figure_with_unit(),
                format_number(rate.figure.value * time.figure.value),
                format_number(users)
            ),
            "Take the rate, the latency and the number of users from the same run.".to_owned(),
        ],
        findings,
    );
}

static WITHOUT_PAUSE: Pattern = pattern!(
    r"(?i)\b(?:back[ -]to[ -]back|no think time|without (?:any |simulating )?(?:realistic )?(?:user )?(?:think time|pauses?|delays?))\b"
);

/// Checks a sentence that denies pauses against the only rate and mean latency of the page.
pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = text.to_lowercase();
    let possible = ["back", "think", "pause", "delay"];
    if !possible.iter().any(|word| lower.contains(word))
        || text.len() > 400
        || !WITHOUT_PAUSE.is_match(text)
        || is_conditional(text)
    {
        return;
    }
    let Some(users) = littles_law::stated_users(report.text).filter(|users| *users >= 2.0) else {
        return;
    };
    // The overall figures of a page: a table or a list with one rate and one mean.
    let all = grids
        .tables
        .iter()
        .flat_map(|grid| &grid.records)
        .chain(&grids.lists);
    let overall = |record: &Record| {
        let mut rates = record
            .fields
            .iter()
            .filter(|field| field.figure.kind == Kind::Rate);
        let mut means = record
            .fields
            .iter()
            .filter(|field| field.name.meaning == Meaning::Mean && field.figure.kind == Kind::Time);
        match (rates.next(), rates.next(), means.next(), means.next()) {
            (Some(rate), None, Some(mean), None) => Some((rate.clone(), mean.clone())),
            _ => None,
        }
    };
    let mut found: Vec<(Field, Field)> = all.filter_map(overall).collect();
    found.dedup_by(|one, other| {
        one.0.figure.value == other.0.figure.value && one.1.figure.value == other.1.figure.value
    });
    let [(rate, mean)] = &found[..] else {
        return;
    };
    let busy = rate.figure.value * mean.figure.value;
    if busy <= 0.0 || busy > 0.5 * users {
        return;
    }
    warn(
        "littles-law-gap",
        line,
        [
            quote_with_field(text, rate),
            format!(
                "{} × {} = {} requests at once, so {} users paused for most of the time",
                rate.figure_with_unit(),
                mean.figure_with_unit(),
                format_number(busy),
                format_number(users)
            ),
            "State how long the users pause between requests.".to_owned(),
        ],
        findings,
    );
}
