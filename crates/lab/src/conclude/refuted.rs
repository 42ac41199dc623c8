//! Refutes doubts of the generator with facts that only the lab knows.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_results::lab::{Placed, SecondFigures};
use plimsoll_results::record::Generator;
use plimsoll_verdict::{BUSY_WORKER, IN_TRANSIT, SATURATED};

use crate::resolve::Cell;
use crate::run::observe::GENERATOR;

/// The payload reaches this share of the declared rate only if the line is full: headers and framing
/// use up to 5 % of it.
const MIN_SHARE: f64 = 0.9;
/// A system that uses this share of its processors can handle at most a ninth more. The variation
/// between restarts is larger.
const FULL: f64 = 0.9;

/// Makes a suspect run valid if all its doubts are refuted, and adds the reason to each doubt:
/// - The network was the limit: the lab declares the rate of the line, and the payload of fixed
///   work reached 90 % of it. Below that share, something else may be the limit.
/// - The times of a saturated closed loop reflect the number of users: the result of fixed work is
///   its total duration.
/// - A worker was busy, so the server may handle more than was offered: `busy`, the share of their
///   processors that the measured processes used, leaves less than a ninth.
pub fn refute(
    cell: &Cell,
    figures: &BTreeMap<String, f64>,
    busy: Option<f64>,
    generator: &mut Generator,
) {
    if generator.verdict != "suspect" {
        return;
    }
    let reasons = generator.reasons.iter();
    let counters: Option<Vec<String>> = reasons
        .map(|(_, doubt)| counter(cell, figures, busy, doubt))
        .collect();
    let Some(counters) = counters else { return };
    generator.verdict = "valid".to_owned();
    for ((_, doubt), counter) in generator.reasons.iter_mut().zip(counters) {
        *doubt += &counter;
    }
}

/// The reason why a doubt is refuted; `None` if it is not.
fn counter(
    cell: &Cell,
    figures: &BTreeMap<String, f64>,
    busy: Option<f64>,
    doubt: &str,
) -> Option<String> {
    if doubt.starts_with(IN_TRANSIT) {
        let line = cell.link.as_ref()?.rate? as f64 / 1e6;
        let payload = *figures.get("payload_megabits_per_second")?;
        return (payload >= line * MIN_SHARE).then(|| ", whose rate the lab declares".to_owned());
    }
    if doubt.starts_with(SATURATED) {
        cell.load.work?;
        return Some("; but the result of fixed work is how long it takes".to_owned());
    }
    if doubt.starts_with(BUSY_WORKER) {
        let busy = busy.filter(|busy| *busy >= FULL)?;
        return Some(format!(
            "; but it used {:.0}% of its processors, so at most {:.0}% more",
            busy * 100.0,
            (1.0 / busy - 1.0).max(0.0) * 100.0
        ));
    }
    None
}

/// The share of their processors that all measured processes used together, in whole seconds.
/// `None` if it was not observed, or if one of the processes may use any processor.
pub fn busy_share(placed: &[Placed], seconds: &[SecondFigures]) -> Option<f64> {
    let mut processors: BTreeSet<u32> = BTreeSet::new();
    for system in placed.iter().filter(|one| one.name != GENERATOR) {
        if system.cpus.is_empty() {
            return None;
        }
        processors.extend(&system.cpus);
    }
    let used: Option<Vec<f64>> = seconds.iter().map(|second| second.system_cpu).collect();
    let used = used.filter(|used| !used.is_empty() && !processors.is_empty())?;
    let mean = used.iter().sum::<f64>() / used.len() as f64;
    Some(mean / processors.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(more: &str) -> Cell {
        let text = "[lab]\ntitle = \"a\"\nquestion = \"b\"\n\
             [[place]]\nname = \"far\"\nround-trip = \"20ms\"\nRATE\n\
             [[system]]\nname = \"s\"\ncommand = \"true\"\nready = { log = \"x\" }\n\
             [load]\nhttp = { url = \"http://127.0.0.1/\" }\nplace = \"far\"\nWORK\n";
        let work = if more == "work" {
            "work = { workers = 10, loops = 10 }"
        } else {
            ""
        };
        let text = text
            .replace(
                "RATE",
                if more == "line" {
                    "rate = \"930Mbit/s\""
                } else {
                    ""
                },
            )
            .replace("WORK", work);
        let document =
            crate::file::Document::of_text("lab.toml".as_ref(), &text).expect("a document");
        let mut lab = crate::Lab::of(document, crate::FormName::Standard).expect("a lab");
        lab.cells.remove(0)
    }

    /// The verdict on a cell with these doubts, and the last of its reasons.
    fn verdict(more: &str, payload: f64, busy: Option<f64>, doubts: &[&str]) -> (String, String) {
        let figures = BTreeMap::from([("payload_megabits_per_second".to_owned(), payload)]);
        let mut generator = Generator {
            verdict: "suspect".to_owned(),
            reasons: doubts
                .iter()
                .map(|doubt| ("client".to_owned(), (*doubt).to_owned()))
                .collect(),
            ..Generator::default()
        };
        refute(&cell(more), &figures, busy, &mut generator);
        let (_, last) = generator.reasons.pop().expect("a doubt");
        (generator.verdict, last)
    }

    #[test]
    fn a_full_line_is_accepted_if_it_is_declared_and_nothing_else_is_wrong() {
        let doubt = format!("{IN_TRANSIT} 97% of the service time");
        let of = |more, payload, further: &[&str]| {
            let doubts = [further, &[doubt.as_str()]].concat();
            verdict(more, payload, None, &doubts).0
        };
        assert_eq!(of("line", 928.0, &[]), "valid");
        assert_eq!(of("", 928.0, &[]), "suspect");
        assert_eq!(of("line", 700.0, &[]), "suspect", "the line was not full");
        for other in [
            "one in a hundred of the generator's own timers was late",
            "604 of 20716 TCP segments were retransmitted",
        ] {
            assert_eq!(of("line", 928.0, &[other]), "suspect");
        }
    }

    #[test]
    fn queueing_times_do_not_matter_for_fixed_work() {
        let doubt = format!("{SATURATED}: all 100 users waited all the time");
        let (level, reason) = verdict("work", 1.0, None, &[&doubt]);
        assert_eq!(level, "valid");
        assert!(reason.ends_with("how long it takes"), "{reason}");
        assert_eq!(verdict("", 1.0, None, &[&doubt]).0, "suspect");
    }

    #[test]
    fn a_busy_worker_does_not_matter_if_the_system_is_saturated() {
        let doubt = format!(
            "{BUSY_WORKER} 93% of its processor: the server may handle more than was offered"
        );
        let (level, reason) = verdict("", 1.0, Some(0.95), &[&doubt]);
        assert_eq!(level, "valid");
        let why = "may handle more than was offered; but it used 95% of its processors, so at most 5% more";
        assert!(reason.ends_with(why), "{reason}");
        for busy in [None, Some(0.89)] {
            assert_eq!(verdict("", 1.0, busy, &[&doubt]).0, "suspect");
        }
    }

    #[test]
    fn the_usage_of_a_system_is_a_share_of_all_its_processors() {
        let placed = |name: &str, cpus: &[u32]| Placed {
            name: name.to_owned(),
            cpus: cpus.to_vec(),
            command: String::new(),
            version: None,
            settings: Vec::new(),
        };
        let second = |used| SecondFigures {
            system_cpu: used,
            ..SecondFigures::default()
        };
        let seconds = [second(Some(1.8)), second(Some(2.0))];
        let all = [
            placed("a", &[0]),
            placed("b", &[0, 2]),
            placed(GENERATOR, &[1]),
        ];
        assert_eq!(busy_share(&all, &seconds), Some(0.95));
        let free = [placed("a", &[0]), placed("b", &[])];
        assert_eq!(busy_share(&free, &seconds), None);
        assert_eq!(busy_share(&all, &[second(None)]), None);
        assert_eq!(busy_share(&[], &seconds), None);
    }
}
