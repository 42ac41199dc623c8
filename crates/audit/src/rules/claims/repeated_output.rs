//! Finds the output that a row or a table repeats, from numbers that only one output of the page
//! contains.

use std::collections::{BTreeMap, BTreeSet};

use crate::block::Block;
use crate::report::Report;

/// Maximum number of outputs to compare, and of lines to read in each.
const MAX_BLOCKS: usize = 200;
const MAX_LINES: usize = 400;

/// The numbers that only one output of the page contains.
pub struct Printed<'r> {
    blocks: Vec<(&'r Block, BTreeSet<String>)>,
}

impl<'r> Printed<'r> {
    pub fn from_report(report: &'r Report) -> Printed<'r> {
        let lines: Vec<&str> = report.text.lines().collect();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut blocks: Vec<(&'r Block, BTreeSet<String>)> = Vec::new();
        for block in report.blocks.iter().take(MAX_BLOCKS) {
            let from = block.first_line.saturating_sub(1).min(lines.len());
            let to = block.last_line.min(from + MAX_LINES).min(lines.len());
            let own = lines.get(from..to).unwrap_or_default();
            let numbers: BTreeSet<String> = own
                .iter()
                .flat_map(|line| distinctive_numbers(line))
                .collect();
            for number in &numbers {
                *seen.entry(number.clone()).or_default() += 1;
            }
            blocks.push((block, numbers));
        }
        // A number that several outputs contain, such as a port, identifies none of them.
        for (_, numbers) in &mut blocks {
            numbers.retain(|number| seen.get(number) == Some(&1));
        }
        Printed { blocks }
    }

    /// The only output that contains at least `min_count` of the distinctive numbers in these texts. No
    /// other output contains any of them.
    pub fn find_by_figures(&self, texts: &[&str], min_count: usize) -> Option<&'r Block> {
        let claimed: BTreeSet<String> = texts
            .iter()
            .flat_map(|text| distinctive_numbers(text))
            .collect();
        if claimed.len() < min_count {
            return None;
        }
        let mut with = self
            .blocks
            .iter()
            .map(|(block, numbers)| (claimed.intersection(numbers).count(), *block))
            .filter(|(hits, _)| *hits > 0);
        let (hits, block) = with.next()?;
        (hits >= min_count && with.next().is_none()).then_some(block)
    }
}

/// The numbers in a passage with at least four digits, without grouping characters and without
/// trailing zeros of a fraction.
fn distinctive_numbers(text: &str) -> Vec<String> {
    text.split(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | ',')))
        .map(|word| word.trim_matches(['.', ',']).replace(',', ""))
        .filter(|word| {
            let digits = word.trim_start_matches(['0', '.']);
            digits.chars().filter(char::is_ascii_digit).count() >= 4
        })
        // A round number of thousands is more often a setting than a result.
        .filter(|word| word.contains('.') || !word.ends_with("000"))
        .map(|word| match word.contains('.') {
            true => word.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => word,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::distinctive_numbers;

    #[test]
    fn short_and_round_numbers_do_not_identify_an_output() {
        for (text, expected) in [
            ("9,979.13 req/s", vec!["9979.13"]),
            ("p95 465.560 ms of 5000", vec!["465.56"]),
            ("12 users, 30 s, 0.0451", vec![]),
            ("296996 and 42", vec!["296996"]),
        ] {
            assert_eq!(distinctive_numbers(text), expected, "{text}");
        }
    }
}
