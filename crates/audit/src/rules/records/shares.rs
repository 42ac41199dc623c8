//! Shares of failures and of successes of one record, next to its counts and to each other.

use super::identities::{Contradiction, exact_count};
use crate::quantity::format_number;
use crate::records::{Kind, Meaning, Record};

/// Compares the share of failures, or of successes, with the counts.
pub fn check_counts(record: &Record, meaning: Meaning) -> Option<Contradiction<'_>> {
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
pub fn check_complement(record: &Record) -> Option<Contradiction<'_>> {
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

/// Checks that a share of the requests is at most 100 %.
pub fn check_range(record: &Record) -> Option<Contradiction<'_>> {
    let field = record.fields.iter().find(|field| {
        let meaning = field.name.meaning;
        matches!(meaning, Meaning::FailedShare | Meaning::PassedShare)
            && field.figure.kind == Kind::Percent
            && !field.figure.bound
            && field.figure.value > 100.0 + field.figure.step * 1.001
    })?;
    Some(Contradiction {
        rule: "total-mismatch",
        arithmetic: format!("{} > 100 %", field.figure_with_unit()),
        fields: vec![field],
        advice: "Recalculate the share from the counts.",
    })
}

/// Reports failures next to a share that is printed as 0.
pub fn check_hidden_failures(record: &Record) -> Option<Contradiction<'_>> {
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
