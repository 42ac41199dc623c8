//! Identities of the counts, the time and the rate of one record: count ÷ time = rate, and the
//! parts and shares of counts.

use super::{shares, warn};
use crate::quantity::{Unit, format_number, format_value};
use crate::records::{Field, Kind, Meaning, Record};
use crate::report::Findings;

pub fn check(record: &Record, findings: &mut Findings) {
    let identities = [
        check_rate,
        shares::check_hidden_failures,
        check_time,
        check_parts,
        check_requests_per_user,
        shares::check_complement,
        shares::check_range,
        check_part_of_requests,
        check_transfer,
    ];
    let mut found: Vec<Contradiction> = identities
        .iter()
        .filter_map(|identity| identity(record))
        .collect();
    for meaning in [Meaning::FailedShare, Meaning::PassedShare] {
        found.extend(shares::check_counts(record, meaning));
    }
    let mut rest = found;
    while let Some(first) = rest.first() {
        let rule = first.rule;
        let (same, other) = rest.into_iter().partition(|one| one.rule == rule);
        report(record, same, findings);
        rest = other;
    }
}

/// Fields that contradict each other.
pub struct Contradiction<'r> {
    pub rule: &'static str,
    pub fields: Vec<&'r Field>,
    pub arithmetic: String,
    pub advice: &'static str,
}

/// Reports the contradictions of one rule together. One about fields that are already shown has the
/// same cause as the others.
fn report(record: &Record, found: Vec<Contradiction>, findings: &mut Findings) {
    let (mut shown, mut reasons) = (Vec::new(), Vec::new());
    let Some((rule, advice)) = found.first().map(|first| (first.rule, first.advice)) else {
        return;
    };
    for one in found {
        let fields: Vec<String> = one.fields.iter().map(|field| format_field(field)).collect();
        let new: Vec<String> = fields
            .into_iter()
            .filter(|field| !shown.contains(field))
            .collect();
        if !new.is_empty() {
            shown.extend(new);
            reasons.push(one.arithmetic);
        }
    }
    let evidence = format!("{}{}", label_prefix(record), shown.join(", "));
    let words = [evidence, reasons.join("; "), advice.to_owned()];
    warn(rule, record.line, words, findings);
}

/// `A: `, or nothing for a record without a label.
pub fn label_prefix(record: &Record) -> String {
    match record.label.is_empty() {
        true => String::new(),
        false => format!("{}: ", record.label),
    }
}

pub fn format_field(field: &Field) -> String {
    format!("{}: {}", field.name.text, field.figure.text)
}

/// Whether a figure is a count that is not rounded.
pub fn exact_count(record: &Record, meaning: Meaning) -> Option<&Field> {
    let field = record.only_field(meaning)?;
    let figure = &field.figure;
    (figure.kind == Kind::Plain && !figure.about && figure.value >= 0.0).then_some(field)
}

/// Checks that passed and failed requests add up to all requests.
fn check_parts(record: &Record) -> Option<Contradiction<'_>> {
    let whole =
        |meaning| exact_count(record, meaning).filter(|field| field.figure.value.fract() == 0.0);
    let all = whole(Meaning::Requests)?;
    let passed = whole(Meaning::Passed)?;
    let failed = whole(Meaning::Failed)?;
    let sum = passed.figure.value + failed.figure.value;
    let (printed, ok) = (all.figure.value, passed.figure.value);
    // Some tools do not include failures in the number of requests.
    if sum == printed || ok == printed || printed < 10.0 || !(0.5..2.0).contains(&(sum / printed)) {
        return None;
    }
    Some(Contradiction {
        rule: "total-mismatch",
        fields: vec![all, passed, failed],
        arithmetic: format!(
            "{} + {} = {}, not {}",
            passed.figure.text,
            failed.figure.text,
            format_number(sum),
            all.figure.text
        ),
        advice: "State what happened to the remaining requests.",
    })
}

/// Checks users × requests per user = all requests.
fn check_requests_per_user(record: &Record) -> Option<Contradiction<'_>> {
    let per = record.fields.iter().find(|field| field.name.is_of_each())?;
    let users = record.only_field(Meaning::Users)?;
    let all = record.only_field(Meaning::Requests)?;
    let exact = [users, all, per].iter().all(|field| {
        field.figure.kind == Kind::Plain && !field.figure.about && field.figure.value >= 1.0
    });
    let product = users.figure.value * per.figure.value;
    let ratio = product / all.figure.value;
    if !exact || (ratio - 1.0).abs() <= 0.02 || !(0.1..10.0).contains(&ratio) {
        return None;
    }
    Some(Contradiction {
        rule: "declared-vs-counted",
        fields: vec![users, per, all],
        arithmetic: format!(
            "{} × {} = {}, not {}",
            users.figure.text,
            per.figure.text,
            format_number(product),
            all.figure.text
        ),
        advice: "State how many requests each user made.",
    })
}

/// Checks requests ÷ time = rate.
fn check_rate(record: &Record) -> Option<Contradiction<'_>> {
    let count = record.only_field(Meaning::Requests)?;
    let time = record.only_field(Meaning::Duration)?;
    let rate = record.only_field(Meaning::Rate)?;
    let fields = vec![count, time, rate];
    let kinds = [Kind::Plain, Kind::Time, Kind::Rate];
    let fits = fields.iter().zip(kinds).all(|(field, kind)| {
        field.figure.kind == kind && !field.figure.about && field.figure.value > 0.0
    });
    // A "duration" of less than a second is the duration of a request.
    if !fits || time.figure.value < 1.0 {
        return None;
    }
    let right = count.figure.value / time.figure.value;
    let slack = time.figure.step / time.figure.value + rate.figure.step / rate.figure.value;
    let ratio = right / rate.figure.value;
    // If they are far apart, one of the figures belongs to something else.
    if (ratio - 1.0).abs() <= 0.1 + slack
        || !((0.125..8.0).contains(&ratio) || is_shifted(ratio, slack))
    {
        return None;
    }
    Some(Contradiction {
        rule: "total-mismatch",
        fields,
        arithmetic: format!(
            "{} ÷ {} = {}/s, not {}",
            count.figure.text,
            time.figure_with_unit(),
            format_number(right),
            rate.figure_with_unit()
        ),
        advice: "Take all three figures from the same run.",
    })
}

/// Whether only the decimal point is wrong.
fn is_shifted(ratio: f64, slack: f64) -> bool {
    [10.0, 0.1]
        .iter()
        .any(|factor| (ratio / factor - 1.0).abs() <= 0.01 + slack && slack < 0.05)
}

/// Checks that no more requests succeeded or failed than there were.
fn check_part_of_requests(record: &Record) -> Option<Contradiction<'_>> {
    let all = exact_count(record, Meaning::Requests)?;
    let passed = exact_count(record, Meaning::Passed);
    // Some tools do not include failures in the number of requests.
    let part = passed.filter(|part| part.figure.value > all.figure.value + all.figure.step)?;
    Some(Contradiction {
        rule: "total-mismatch",
        arithmetic: format!("{} > {}", part.figure.text, all.figure.text),
        fields: vec![all, part],
        advice: "Take both counts from the same run.",
    })
}

/// Checks that all requests together take at least as long as the slowest percentile, which at
/// least one request reaches.
fn check_time(record: &Record) -> Option<Contradiction<'_>> {
    let count = record.only_field(Meaning::Requests)?;
    let rate = record.only_field(Meaning::Rate)?;
    if count.figure.kind != Kind::Plain
        || rate.figure.kind != Kind::Rate
        || count.figure.value < 10.0
        || rate.figure.value <= 0.0
    {
        return None;
    }
    let all = count.figure.value / rate.figure.value;
    let slow = record.fields.iter().find(|field| {
        let exists = match field.name.meaning {
            Meaning::Quantile(quantile) => (1.0 - quantile) * count.figure.value >= 0.999,
            Meaning::Max => field.name.is_latency(),
            _ => false,
        };
        exists
            && field.figure.kind == Kind::Time
            && !field.figure.bound
            && field.figure.value - field.figure.coarse > 0.0
            && field.figure.value - 0.5 * field.figure.coarse > 1.1 * all
    })?;
    Some(Contradiction {
        rule: "total-mismatch",
        fields: vec![count, rate, slow],
        arithmetic: format!(
            "{} ÷ {} = {} for all of them, but one took {}",
            count.figure.text,
            rate.figure_with_unit(),
            format_value(all, Unit::Time),
            slow.figure_with_unit()
        ),
        advice: "Divide the count by the time of the whole run.",
    })
}

/// Checks data ÷ time = data per second. The same name may mean decimal or binary multiples.
fn check_transfer(record: &Record) -> Option<Contradiction<'_>> {
    let of = |kind: Kind| {
        let mut with = record
            .fields
            .iter()
            .filter(|field| field.figure.kind == kind);
        let field = with.next()?;
        (with.next().is_none() && field.is_exact() && !field.figure.about).then_some(field)
    };
    let (data, per_second) = (of(Kind::Data)?, of(Kind::DataRate)?);
    let time = record.only_field(Meaning::Duration)?;
    let lower = data.name.text.to_lowercase();
    let moved = ["transfer", "received", "sent", "read", "total data"];
    if !moved.iter().any(|word| lower.contains(word))
        || time.figure.kind != Kind::Time
        || time.figure.about
        || time.figure.value < 1.0
    {
        return None;
    }
    let fields = vec![data, time, per_second];
    let steps: f64 = fields
        .iter()
        .map(|field| field.figure.step / field.figure.value)
        .sum();
    let right = data.figure.value / time.figure.value;
    let ratio = right / per_second.figure.value;
    let multiple = [1.0, 8.0, 0.125]
        .iter()
        .any(|scale| (ratio / scale - 1.0).abs() <= 0.12 + steps);
    // If they are far apart, one of the figures belongs to something else.
    if multiple || steps > 0.3 || !(0.05..20.0).contains(&ratio) {
        return None;
    }
    Some(Contradiction {
        rule: "total-mismatch",
        arithmetic: format!(
            "{} ÷ {} = {}, not {}",
            data.figure.text,
            time.figure_with_unit(),
            format_value(right, Unit::ByteRate),
            per_second.figure.text
        ),
        fields,
        advice: "Take all three figures from the same run.",
    })
}
