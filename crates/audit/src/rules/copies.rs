//! Results that were copied and then changed: most of their measured figures are equal to the last
//! digit, but some differ.

use std::collections::BTreeMap;

use crate::block::Block;
use crate::finding::Level;
use crate::quantity::Quantity;
use crate::report::{Findings, Report};

/// Number of equal four-digit figures that two runs share by chance at most one time in a billion.
const MIN_EQUAL_FIGURES: usize = 3;

pub fn check_changed_copies(report: &Report, findings: &mut Findings) {
    for (one, other) in report.pairs() {
        let counted = |block: &Block| block.requests.as_ref().map(|count| count.value);
        if counted(one).is_none() || counted(one) != counted(other) {
            continue;
        }
        let (first, second) = (measured_figures(one), measured_figures(other));
        let common = first
            .iter()
            .filter_map(|(name, figure)| Some((name, *figure, *second.get(name)?)));
        let (mut same, mut apart) = (Vec::new(), Vec::new());
        for (name, a, b) in common {
            // An author may have rounded a quoted figure.
            if !a.agrees_with(b) {
                apart.push(format!("{name} {} and {}", a.text, b.text));
            } else if a.text == b.text && is_precise(&a.text) {
                same.push(format!("{name} {}", a.text));
            }
        }
        // If all figures are equal, the rule on identical results applies instead.
        if same.len() < MIN_EQUAL_FIGURES || apart.is_empty() || apart.len() > same.len() {
            continue;
        }
        findings.block(
            "copied-block",
            Level::Warning,
            other,
            other.last_line,
            [
                format!(
                    "{} (lines {} and {}); {}",
                    same.join(", "),
                    one.first_line,
                    other.first_line,
                    apart.join(", ")
                ),
                format!(
                    "{} measured figures and the count are equal to the last digit, which does not happen in two runs, but {} differ",
                    same.len(),
                    apart.len()
                ),
                "One of the outputs is a modified copy: show the tool's output unchanged.".to_owned(),
            ],
        );
    }
}

/// Figures that depend on the timing of the run. Counts and sizes may well be equal in two runs.
fn measured_figures(block: &Block) -> BTreeMap<String, &Quantity> {
    let mut figures = BTreeMap::new();
    for trend in block.trends.iter().take(32) {
        for (column, figure) in trend.figures() {
            figures.insert(format!("{} {column}", trend.name), figure);
        }
    }
    let named = [
        ("rate", &block.rate),
        ("data per second", &block.received.rate),
        ("second mean", &block.repeated_mean),
    ];
    for (name, figure) in named {
        if let Some(figure) = figure {
            figures.insert(name.to_owned(), figure);
        }
    }
    figures
}

/// Whether a figure has at least four digits without trailing zeros.
fn is_precise(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len() >= 4
}
