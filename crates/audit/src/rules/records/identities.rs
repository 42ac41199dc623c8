//! Identities of the counts, the time and the rate of one record: count ÷ time = rate, and the
//! parts and shares of counts.

use super::warn;
use crate::quantity::{Unit, format_number, format_value};
use crate::records::{Field, Kind, Meaning, Record};
use crate::report::Findings;

pub fn check(record: &Record, findings: &mut Findings) {
    for identity in [
        check_rate,
        check_hidden_failures,
        check_time,
        check_parts,
        check_requests_per_user,
        check_complement,
        check_transfer,
    ] {
        report(record, identity(record), findings);
    }
    for meaning in [Meaning::FailedShare, Meaning::PassedShare] {
        report(record, check_share(record, meaning), findings);
    }
}

/// Fields that contradict each other.
struct Contradiction<'r> {
    rule: &'static str,
    fields: Vec<&'r Field>,
    arithmetic: String,
    advice: &'static str,
}

fn report(record: &Record, found: Option<Contradiction>, findings: &mut Findings) {
    let Some(found) = found else {
        return;
    };
    let shown: Vec<String> = found
        .fields
        .iter()
        .map(|field| format_field(field))
        .collect();
    let label = match record.label.is_empty() {
        true => String::new(),
        false => format!("{}: ", record.label),
    };
    let evidence = format!("{label}{}", shown.join(", "));
    let words = [evidence, found.arithmetic, found.advice.to_owned()];
    warn(found.rule, record.line, words, findings);
}

pub fn format_field(field: &Field) -> String {
    format!("{}: {}", field.name.text, field.figure.text)
}

/// Whether a figure is a count that is not rounded.
fn exact_count(record: &Record, meaning: Meaning) -> Option<&Field> {
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
            time.figure.text,
            format_number(right),
            rate.figure.text
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

/// Compares the share of failures, or of successes, with the counts.
fn check_share(record: &Record, meaning: Meaning) -> Option<Contradiction<'_>> {
    let printed = record
        .only_field(meaning)
        .filter(|field| field.figure.kind == Kind::Percent && !field.figure.about)?;
    let counts = [Meaning::Failed, Meaning::Passed, Meaning::Requests]
        .map(|meaning| exact_count(record, meaning));
    let [failed, passed, all] = counts.map(|field| field.map(|field| field.figure.value));
    let failed_shares = [
        failed.zip(all).map(|(failed, all)| failed / all),
        failed.zip(all).map(|(failed, all)| failed / (all + failed)),
        passed.zip(all).map(|(passed, all)| 1.0 - passed / all),
        failed
            .zip(passed)
            .map(|(failed, passed)| failed / (passed + failed)),
    ];
    let percents: Vec<f64> = failed_shares
        .into_iter()
        .flatten()
        .filter(|share| share.is_finite() && (0.0..=1.0).contains(share))
        .map(|share| match meaning {
            Meaning::FailedShare => 100.0 * share,
            _ => 100.0 * (1.0 - share),
        })
        .collect();
    let slack = printed.figure.step * 1.001 + 1e-9;
    let first = percents.first()?;
    if percents
        .iter()
        .any(|right| (right - printed.figure.value).abs() <= slack)
    {
        return None;
    }
    Some(Contradiction {
        rule: "total-mismatch",
        fields: std::iter::once(printed)
            .chain(counts.into_iter().flatten())
            .collect(),
        arithmetic: format!(
            "these counts give {} %, not {}",
            format_number(*first),
            printed.figure.text
        ),
        advice: "Recalculate the share from the counts.",
    })
}

/// Checks that the shares of successes and failures do not exceed 100 % together.
fn check_complement(record: &Record) -> Option<Contradiction<'_>> {
    let share = |meaning| {
        let field = record.only_field(meaning)?;
        (field.figure.kind == Kind::Percent && !field.figure.about).then_some(field)
    };
    let passed = share(Meaning::PassedShare)?;
    let failed = share(Meaning::FailedShare)?;
    let sum = passed.figure.value + failed.figure.value;
    if sum <= 100.0 + passed.figure.step + failed.figure.step + 1e-9 {
        return None;
    }
    Some(Contradiction {
        rule: "total-mismatch",
        fields: vec![passed, failed],
        arithmetic: format!(
            "{} + {} = {} %, more than 100 %",
            passed.figure.text,
            failed.figure.text,
            format_number(sum)
        ),
        advice: "Recalculate both shares from the counts.",
    })
}

/// Reports failures next to a share that is printed as 0.
fn check_hidden_failures(record: &Record) -> Option<Contradiction<'_>> {
    let failed = record.only_field(Meaning::Failed)?;
    let share = record.only_field(Meaning::FailedShare)?;
    let counted = failed.figure.kind == Kind::Plain && failed.figure.value >= 1.0;
    if !counted || share.figure.kind != Kind::Percent || share.figure.value != 0.0 {
        return None;
    }
    Some(Contradiction {
        rule: "failures-rounded-away",
        fields: vec![failed, share],
        arithmetic: format!("{} failed, so the share is not 0", failed.figure.text),
        advice: "State the count, or the share with enough digits.",
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
            rate.figure.text,
            format_value(all, Unit::Time),
            slow.figure.text
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
            time.figure.text,
            format_value(right, Unit::ByteRate),
            per_second.figure.text
        ),
        fields,
        advice: "Take all three figures from the same run.",
    })
}
