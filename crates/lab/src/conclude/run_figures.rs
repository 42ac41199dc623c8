//! The figures of one run in one line, for those who watch a lab.

use super::repeat;
use crate::resolve::Cell;
use crate::resolve::conclusions::FIGURES;
use crate::run::store::Store;

/// The figures to show, with what to write before each. Those that a run does not have are left out.
const SHOWN: [(&str, &str); 5] = [
    ("limit", ""),
    ("throughput", ""),
    ("makespan", ""),
    ("requests_per_second", ""),
    ("latency_p95", "p95 "),
];

/// The figures of a run, and whether the generator doubts them; nothing if there are none.
pub fn run_figures(cell: &Cell, run: u32, store: &Store) -> String {
    let Some(facts) = store.facts(cell.number, run) else {
        return String::new();
    };
    let directory = store.repeat(cell.number, run);
    let measured = repeat::read(cell, run, facts, &directory, "");
    let mut parts: Vec<String> = SHOWN
        .iter()
        .filter_map(|(name, before)| {
            let value = *measured.figures.get(*name)?;
            let (_, unit) = FIGURES.iter().find(|(known, _)| known == name)?;
            Some(format!("{before}{} {unit}", rounded(value)))
        })
        .collect();
    let verdict = &measured.repeat.generator.verdict;
    if !verdict.is_empty() {
        parts.push(verdict.clone());
    }
    parts.join(", ")
}

/// Why other programs of the machine disturbed a run, if they did.
pub fn disturbances(cell: &Cell, run: u32, store: &Store) -> Option<String> {
    let facts = store.facts(cell.number, run)?;
    let directory = store.repeat(cell.number, run);
    let measured = repeat::read(cell, run, facts, &directory, "");
    let generator = &measured.repeat.generator;
    let reasons = generator.reasons.iter().map(|(_, text)| text.as_str());
    generator
        .disturbed
        .then(|| reasons.collect::<Vec<_>>().join("; "))
}

/// Three significant digits, and all digits before the point.
fn rounded(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_or_all_before_the_point() {
        assert_eq!(
            [12_345.6, 123.4, 12.34, 1.234, 0.1234, 0.0].map(rounded),
            ["12346", "123", "12.3", "1.23", "0.123", "0.000"]
        );
    }
}
