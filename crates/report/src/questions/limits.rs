//! The condition under which a statement holds, in words.

use plimsoll_plots::number::{self, Place};
use plimsoll_results::lab::Expected;

use super::verdict::Answer;
use crate::groups::comparative;
use crate::ratio::Estimate;

/// `at least 2 times (chosen by the lab)`, `6.3 to 7.7 ms more (the document's goal)`, `longer`, `0.78 to 1.28 times (noise
/// floor)`: the limits, and where they come from. Empty without an expectation. Places may have different floors.
pub fn format_expectation(answer: &Answer) -> String {
    let Some(expected) = answer.question.expected else {
        return String::new();
    };
    let mut figures = answer.groups.iter().flat_map(|group| &group.0);
    let unit = figures
        .next()
        .map_or("", |(_, figure)| figure.unit.as_str());
    let from = answer
        .question
        .limits_from
        .as_deref()
        .unwrap_or("chosen by the lab");
    match expected {
        Expected::Ratio(min, max) => format!("{} times ({from})", format_limits(min, max)),
        Expected::Difference(min, max) => {
            format!("{} {unit} more ({from})", format_limits(min, max))
        }
        Expected::Value(min, max) => {
            let limits = format!("{} {unit}", format_limits(min, max));
            format!("{} ({from})", limits.trim_end())
        }
        _ => {
            let mut texts: Vec<String> = Vec::new();
            for one in estimates(answer) {
                let text = format_pair_limits(expected, &one, unit);
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
            texts.join("; ")
        }
    }
}

/// Whether a noise floor limits what counts as a difference.
pub fn has_floor(answer: &Answer) -> bool {
    estimates(answer).any(|one| one.differs > 0.0)
}

fn estimates<'a>(answer: &'a Answer) -> impl Iterator<Item = Estimate> + 'a {
    let groups = answer.groups.iter();
    groups.filter_map(|group| group.estimate(answer.result))
}

fn format_pair_limits(expected: Expected, one: &Estimate, unit: &str) -> String {
    let print = |ratio: f64| Place::decimals(2).print(ratio);
    let (min, max) = (print(1.0 / (1.0 + one.same)), print(1.0 + one.same));
    let limits = match expected {
        Expected::Larger => return comparative(unit, true).to_owned(),
        Expected::Smaller => return comparative(unit, false).to_owned(),
        Expected::NotSmaller => format!("at least {min}"),
        Expected::NotLarger => format!("at most {max}"),
        _ => format!("{min} to {max}"),
    };
    let floor = if one.floor.is_some() {
        " (noise floor)"
    } else {
        ""
    };
    format!("{limits} times{floor}")
}

/// `8 to 12`, `at least 8`, `at most 12`.
fn format_limits(min: Option<f64>, max: Option<f64>) -> String {
    match (min.map(number::tick), max.map(number::tick)) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}
