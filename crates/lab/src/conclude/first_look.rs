//! What those who watch a lab see of a run that has ended.

use plimsoll_units::three_digits;

use super::repeat;
use crate::resolve::Cell;
use crate::resolve::conclusions::FIGURES;
use crate::run::FirstLook;
use crate::run::store::Store;

/// The figures to show, with what to write before each. Those that a run does not have are left out.
const SHOWN: [(&str, &str); 5] = [
    ("limit", ""),
    ("throughput", ""),
    ("makespan", ""),
    ("requests_per_second", ""),
    ("latency_p95", "p95 "),
];

/// What the record of a run shows; nothing if the run does not exist.
pub fn first_look(cell: &Cell, run: u32, store: &Store) -> FirstLook {
    let Some(facts) = store.facts(cell.number, run) else {
        return FirstLook::default();
    };
    let directory = store.repeat(cell.number, run);
    let measured = repeat::read(cell, run, facts, &directory, "");
    let generator = &measured.repeat.generator;
    let mut parts: Vec<String> = SHOWN
        .iter()
        .filter_map(|(name, before)| {
            let value = *measured.figures.get(*name)?;
            let (_, unit) = FIGURES.iter().find(|(known, _)| known == name)?;
            Some(format!("{before}{} {unit}", three_digits(value)))
        })
        .collect();
    if !generator.verdict.is_empty() {
        parts.push(generator.verdict.clone());
    }
    let reasons = generator.reasons.iter().map(|(_, text)| text.as_str());
    FirstLook {
        figures: parts.join(", "),
        disturbance: generator
            .disturbed
            .then(|| reasons.collect::<Vec<_>>().join("; ")),
    }
}
