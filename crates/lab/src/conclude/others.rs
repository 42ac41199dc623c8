//! Lowers the verdict of a run during which other programs of the machine worked: they take processor
//! time and caches from the measured system, which its figures do not show.

use plimsoll_results::lab::Repeat;

use crate::run::store::Facts;

/// The processor time of other programs, as a share of one processor.
const BUSY_SUSPECT: f64 = 0.10;

/// Adds the reason.
pub fn judge(repeat: &mut Repeat, facts: &Facts) {
    let Some(others) = facts.others.as_ref().filter(|one| one.share > BUSY_SUSPECT) else {
        return;
    };
    let so_far = repeat.generator.verdict.clone();
    repeat.generator.verdict =
        crate::limit_search::worst([so_far.as_str(), "suspect"].into_iter()).to_owned();
    repeat.generator.disturbed = true;
    repeat.generator.reasons.push((
        "client".to_owned(),
        format!(
            "other programs of this machine used {:.0}% of a processor, {} most of it: stop them, because they slow down \
             the measured system",
            others.share * 100.0,
            others.most
        ),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::store::Others;

    fn judged(share: Option<f64>) -> (String, bool) {
        let facts = Facts {
            others: share.map(|share| Others {
                share,
                most: "cargo".to_owned(),
            }),
            ..Facts::default()
        };
        let mut repeat = super::super::repeat::empty(1, &facts, String::new());
        repeat.generator.verdict = "valid".to_owned();
        judge(&mut repeat, &facts);
        (repeat.generator.verdict, repeat.generator.disturbed)
    }

    #[test]
    fn busy_programs_lower_the_verdict() {
        assert_eq!(judged(None), ("valid".to_owned(), false));
        assert_eq!(judged(Some(0.05)), ("valid".to_owned(), false));
        assert_eq!(judged(Some(0.8)), ("suspect".to_owned(), true));
    }
}
