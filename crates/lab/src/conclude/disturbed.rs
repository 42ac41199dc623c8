//! Lowers the verdict of a run that was disturbed outside the generator, where the generator's own
//! verdict cannot detect it: at the relay of a place, and on the processors of the measured system.

use plimsoll_results::lab::Repeat;

use crate::run::store::Facts;

/// Limits of the 99th percentile of the relay's lateness, in milliseconds. They equal the limits of
/// the generator's own send lag (`docs/verdict.md`), because both add to the measured times.
const LATE_SUSPECT_MS: f64 = 2.0;
const LATE_INVALID_MS: f64 = 100.0;
/// Limits of the processor time of other programs, as a share of one processor.
const OTHERS_SUSPECT: f64 = 0.10;
/// Limits of the longest time that a processor of the lab stood still, in milliseconds. A thread
/// that wakes on a busy processor waits for a few time slices, up to 30 ms.
const STILL_SUSPECT_MS: f64 = 200.0;

/// Adds the reasons for doubt to the verdict.
pub fn judge(repeat: &mut Repeat, facts: &Facts) {
    let late = facts.link.as_ref().and_then(|link| link.late_p99_ms);
    if let Some(late) = late.filter(|late| *late > LATE_SUSPECT_MS) {
        let level = if late > LATE_INVALID_MS {
            "invalid"
        } else {
            "suspect"
        };
        doubt(
            repeat,
            level,
            format!(
                "the relay of the place was late: 99 % of the data was at most {late:.1} ms late, so the link added more than its delay"
            ),
        );
    }
    if let Some(others) = facts
        .others
        .as_ref()
        .filter(|one| one.share > OTHERS_SUSPECT)
    {
        doubt(
            repeat,
            "suspect",
            format!(
                "other programs on this machine used {:.0}% of a processor, {} most of it: stop them, because they slow down \
                 the measured system",
                others.share * 100.0,
                others.most
            ),
        );
    }
    if let Some(still) = facts
        .standstill_ms
        .filter(|still| *still > STILL_SUSPECT_MS)
    {
        doubt(
            repeat,
            "suspect",
            format!(
                "a processor of the lab stood still for {still:.0} ms: the hypervisor, the kernel or a program with real-time priority used it"
            ),
        );
    }
}

fn doubt(repeat: &mut Repeat, level: &str, why: String) {
    let generator = &mut repeat.generator;
    let levels = [generator.verdict.as_str(), level].into_iter();
    generator.verdict = crate::limit_search::worst(levels).to_owned();
    generator.disturbed = true;
    generator.reasons.push(("client".to_owned(), why));
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::LinkFigures;

    use super::*;
    use crate::run::store::OtherPrograms;

    fn judge_facts(facts: Facts) -> (String, usize, bool) {
        let mut repeat = super::super::repeat::empty(1, &facts, String::new());
        repeat.generator.verdict = "valid".to_owned();
        judge(&mut repeat, &facts);
        let generator = repeat.generator;
        (
            generator.verdict,
            generator.reasons.len(),
            generator.disturbed,
        )
    }

    fn late(late: Option<f64>) -> (String, usize, bool) {
        judge_facts(Facts {
            link: Some(LinkFigures {
                late_p99_ms: late,
                ..LinkFigures::default()
            }),
            ..Facts::default()
        })
    }

    fn others(share: f64) -> (String, usize, bool) {
        judge_facts(Facts {
            others: Some(OtherPrograms {
                share,
                most: "cargo".to_owned(),
            }),
            ..Facts::default()
        })
    }

    fn still(milliseconds: f64) -> (String, usize, bool) {
        judge_facts(Facts {
            standstill_ms: Some(milliseconds),
            ..Facts::default()
        })
    }

    #[test]
    fn each_disturbance_lowers_the_verdict() {
        let valid = || ("valid".to_owned(), 0, false);
        let lowered = |level: &str| (level.to_owned(), 1, true);
        assert_eq!(late(None), valid());
        assert_eq!(late(Some(1.9)), valid());
        assert_eq!(late(Some(4.0)), lowered("suspect"));
        assert_eq!(late(Some(170.0)), lowered("invalid"));
        assert_eq!(others(0.05), valid());
        assert_eq!(others(0.8), lowered("suspect"));
        assert_eq!(still(30.0), valid());
        assert_eq!(still(500.6), lowered("suspect"));
    }
}
