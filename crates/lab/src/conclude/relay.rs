//! Lowers the verdict of a run whose relay was late: such a link added more than its configured delay.

use plimsoll_results::lab::Repeat;

use crate::run::store::Facts;

/// The 99th percentile of the relay's lateness, in milliseconds: the limits of the generator's own send lag
/// (`docs/verdict.md`), because both are added to what is measured.
const LATE_SUSPECT_MS: f64 = 2.0;
const LATE_INVALID_MS: f64 = 100.0;

/// Adds the reason.
pub fn judge(repeat: &mut Repeat, facts: &Facts) {
    let late = facts.link.as_ref().and_then(|link| link.late_p99_ms);
    let Some(late) = late.filter(|late| *late > LATE_SUSPECT_MS) else {
        return;
    };
    let level = if late > LATE_INVALID_MS {
        "invalid"
    } else {
        "suspect"
    };
    let so_far = repeat.generator.verdict.clone();
    repeat.generator.verdict =
        crate::limit_search::worst([so_far.as_str(), level].into_iter()).to_owned();
    repeat.generator.disturbed = true;
    repeat.generator.reasons.push((
        "client".to_owned(),
        format!(
            "the relay of the place was late: 99 % of the data was at most {late:.1} ms late, so the link added more than its delay"
        ),
    ));
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::LinkFigures;

    use super::*;

    fn judged(late: Option<f64>) -> (String, usize) {
        let facts = Facts {
            link: Some(LinkFigures {
                late_p99_ms: late,
                ..LinkFigures::default()
            }),
            ..Facts::default()
        };
        let mut repeat = super::super::repeat::empty(1, &facts, String::new());
        repeat.generator.verdict = "valid".to_owned();
        judge(&mut repeat, &facts);
        let reasons = repeat.generator.reasons.len();
        (repeat.generator.verdict, reasons)
    }

    #[test]
    fn a_late_relay_lowers_the_verdict() {
        assert_eq!(judged(None), ("valid".to_owned(), 0));
        assert_eq!(judged(Some(1.9)), ("valid".to_owned(), 0));
        assert_eq!(judged(Some(4.0)), ("suspect".to_owned(), 1));
        assert_eq!(judged(Some(170.0)), ("invalid".to_owned(), 1));
    }
}
