//! The results of comparisons of cells, in sentences: both figures, their ratio and its interval.
//! Suspect cells are excluded.

use plimsoll_plots::number::Place;
use plimsoll_results::lab::{Cell, Comparison, LabResult, Outcome};

use crate::document::Words;
use crate::groups::{Group, Theme, comparative, format_ratio};
use crate::naming::{
    capitalize, describe_place, describe_value, format_count, is_believed, shared_axes,
};

/// Whether a comparison was made of two valid cells.
fn has_valid_cells(result: &LabResult, one: &Comparison) -> bool {
    one.outcome != Outcome::NotMeasured
        && one.ratio.is_some_and(f64::is_finite)
        && [&one.cells.0, &one.cells.1]
            .into_iter()
            .all(|name| find_cell(result, name).is_none_or(|cell| cell.verdict == "valid"))
}

fn find_cell<'a>(result: &'a LabResult, name: &str) -> Option<&'a Cell> {
    result.cells.iter().find(|cell| cell.name == *name)
}

/// Whether any comparison of the theme counts and has a certain outcome: larger, smaller or no difference.
pub fn is_decided(result: &LabResult, theme: &Theme) -> bool {
    let mut members = theme.groups.iter().flat_map(|group| &group.members);
    members.any(|one| has_valid_cells(result, one) && one.outcome != Outcome::Uncertain)
}

/// The result of a theme, with a clause for each value that is compared with the base; `None` if no comparison of it
/// counts. `95th percentile of total time, gRPC against HTTP: longer in 1 of 8 pairs, …`.
pub fn theme_sentence(result: &LabResult, theme: &Theme) -> Option<Words> {
    let claims: Vec<Claims> = theme
        .groups
        .iter()
        .map(|group| Claims::new(result, group))
        .filter(|claims| !claims.all.is_empty())
        .collect();
    let first = theme.first;
    let base = describe_value(result, first.axis, first.values.0);
    let other = |claims: &Claims| describe_value(result, first.axis, claims.group.values.1);
    let head = format!("{}, ", capitalize(&first.label));
    let mut words = match claims.as_slice() {
        [] => return None,
        [only] => Words::plain(format!("{head}{} against {base}: ", other(only)))
            .append(only.clause())
            .text("."),
        several => several.iter().fold(
            Words::plain(format!("{head}against {base}.")),
            |words, one| {
                words
                    .text(format!(" {}: ", other(one)))
                    .append(one.clause())
                    .text(".")
            },
        ),
    };
    let same: Vec<&Comparison> = claims.iter().flat_map(|one| &one.same).copied().collect();
    let floor = same.iter().filter_map(|one| one.floor).reduce(f64::max);
    if let Some(floor) = floor {
        // The cells of other places have no floor.
        let here = same.iter().any(|one| one.floor.is_none());
        let here = result.same_cell.as_ref().filter(|_| here);
        let here = here.and_then(|same| same.copy.link.as_ref());
        let here = here.map_or_else(String::new, |link| format!(" {}", link.name));
        words = words.text(format!(" Noise floor{here}: {} %.", format_percent(floor)));
    }
    Some(words)
}

/// A share in percent with one decimal.
fn format_percent(share: f64) -> String {
    Place::decimals(1).print(share * 100.0)
}

/// The distance of a ratio from 1, in either direction.
fn distance_from_one(one: &Comparison) -> f64 {
    one.ratio
        .map_or(0.0, |ratio| ratio.max(f64::MIN_POSITIVE).ln().abs())
}

/// The comparisons of a group that count, grouped by outcome and sorted by their distance from 1.
struct Claims<'a> {
    result: &'a LabResult,
    group: &'a Group<'a>,
    all: Vec<&'a Comparison>,
    larger: Vec<&'a Comparison>,
    smaller: Vec<&'a Comparison>,
    same: Vec<&'a Comparison>,
    unsure: Vec<&'a Comparison>,
}

/// The comparisons of one outcome.
struct Part<'a> {
    found: &'a [&'a Comparison],
    outcome: String,
    is_difference: bool,
}

impl<'a> Claims<'a> {
    fn new(result: &'a LabResult, group: &'a Group<'a>) -> Claims<'a> {
        let members = group.members.iter().copied();
        let all: Vec<&Comparison> = members.filter(|one| has_valid_cells(result, one)).collect();
        let of = |outcome: Outcome| -> Vec<&Comparison> {
            let found = all.iter().copied();
            let mut found: Vec<&Comparison> = found.filter(|one| one.outcome == outcome).collect();
            found.sort_by(|one, other| distance_from_one(one).total_cmp(&distance_from_one(other)));
            found
        };
        Claims {
            result,
            group,
            larger: of(Outcome::Larger),
            smaller: of(Outcome::Smaller),
            same: of(Outcome::NoDifference),
            unsure: of(Outcome::Uncertain),
            all,
        }
    }

    /// Each outcome with its number of pairs; both figures and their ratio for the first and for each difference:
    /// `longer in 1 of 8 pairs, 0.672 against 0.514 ms (1.31 times, 1.21 to 1.42) with SQLite; uncertain in 7`.
    fn clause(&self) -> Words {
        let unit = &self.group.unit;
        let parts = [
            (&self.larger, comparative(unit, true).to_owned(), true),
            (&self.smaller, comparative(unit, false).to_owned(), true),
            (&self.same, no_difference(&self.same), false),
            (&self.unsure, "uncertain".to_owned(), false),
        ];
        let parts = parts.into_iter().filter(|(found, ..)| !found.is_empty());
        let mut words = Words::new();
        for (at, (found, outcome, is_difference)) in parts.enumerate() {
            let part = Part {
                found,
                outcome,
                is_difference,
            };
            words = words.text(if at == 0 { "" } else { "; " });
            words = words.append(self.part_words(&part, at == 0));
        }
        words
    }

    fn part_words(&self, part: &Part, is_first: bool) -> Words {
        let (count, all) = (part.found.len(), self.all.len());
        let pairs = match (count == all, is_first) {
            (true, _) => format_total(count),
            (false, true) => format!(" in {count} of {}", format_count(all, "pair", "pairs")),
            (false, false) => format!(" in {count}"),
        };
        let words = match is_first || part.is_difference {
            true => Words::new().strong(part.outcome.clone()),
            false => Words::plain(part.outcome.clone()),
        };
        let words = words
            .text(pairs)
            .text(format_largest_difference(part.found));
        let (Some(max), true) = (part.found.last(), is_first || part.is_difference) else {
            return words;
        };
        let (words, example) = match (count, count == all, part.is_difference) {
            (1, ..) => (words.text(", "), max),
            // Take the first pair in the order of the lab. The rest of the conclusion also concerns its cells.
            (_, true, true) => (
                words.text(format!(", {}, such as ", range_of_comparisons(part.found))),
                self.all.first().unwrap_or(max),
            ),
            (_, false, true) => (words.text(", largest difference: "), max),
            (_, _, false) => (words.text(", such as "), max),
        };
        let words = words.append(self.figures(example));
        match example.would_decide {
            Some(count) if example.outcome == Outcome::Uncertain => {
                let units = example
                    .interval_from
                    .map_or("repeats", plimsoll_results::lab::Variation::units);
                words.text(format!(", which {count} {units} would decide"))
            }
            _ => words,
        }
    }

    /// The rates of both cells: CPU time per request depends on them.
    fn rates(&self, one: &Comparison) -> String {
        let cells = [&one.cells.0, &one.cells.1];
        let cells: Option<Vec<&Cell>> = cells
            .map(|name| find_cell(self.result, name))
            .into_iter()
            .collect();
        match cells {
            Some(cells) if one.figure == crate::matrix::CPU => {
                crate::rates::format_rates(cells.into_iter())
            }
            _ => String::new(),
        }
    }

    /// `0.93 against 0.71 ms (SQLite, 100 users: 1.31 times, 1.20 to 1.43)`.
    fn figures(&self, one: &Comparison) -> Words {
        let value = |name: &str| {
            let cell = find_cell(self.result, name).filter(|cell| is_believed(cell))?;
            let mut figures = cell.figures.iter();
            figures.find(|figure| figure.name == one.figure)
        };
        let have_it = |cell: &&Cell| {
            let mut figures = cell.figures.iter();
            figures.any(|figure| figure.name == one.figure && figure.label == self.group.label)
        };
        let mut without = shared_axes(self.result.cells.iter().filter(have_it));
        without.push(self.group.axis);
        let place = describe_place(self.result, &one.place, &without);
        let place = match place.as_str() {
            "" => String::new(),
            place => format!("{place}: "),
        };
        match (value(&one.cells.1), value(&one.cells.0)) {
            (Some(other), Some(base)) => {
                let print = |figure: &plimsoll_results::lab::Figure| {
                    Place::of(figure.value, figure.interval).print(figure.value)
                };
                Words::new()
                    .strong(print(other))
                    .text(" against ")
                    .strong(print(base))
                    .text(format!(
                        " {}{} ({place}{})",
                        self.group.unit,
                        self.rates(one),
                        comparison_text(one)
                    ))
            }
            _ => Words::plain(format!("{place}{}", comparison_text(one))),
        }
    }
}

fn format_total(count: usize) -> String {
    match count {
        1 => String::new(),
        2 => " in both pairs".to_owned(),
        count => format!(" in all {count} pairs"),
    }
}

/// The ratios of comparisons in the order of their distance from 1, as a range.
fn range_of_comparisons(found: &[&Comparison]) -> String {
    let ratios = found.iter().filter_map(|one| one.ratio);
    range_text(&ratios.collect::<Vec<_>>())
}

/// `2.62 to 12.6 times`, or `1/28 to 1/5.2`.
pub fn range_text(ratios: &[f64]) -> String {
    let min = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let max = ratios.iter().copied().fold(0.0, f64::max);
    match (format_factor(min), format_factor(max)) {
        (low, high) if low == high => format_times(max),
        (low, _) => format!("{low} to {}", format_times(max)),
    }
}

/// `1.31 times, 1.20 to 1.43`. A ratio far below 1 is easier to read as its inverse: `1/28, 1/36 to 1/21`.
pub fn ratio_text(value: f64, interval: Option<(f64, f64)>) -> String {
    let Some((low, high)) = interval else {
        return format_times(value);
    };
    if is_small(value) && low > 0.0 {
        let place = Place::of(1.0 / value, Some((1.0 / high, 1.0 / low)));
        let print = |ratio: f64| format!("1/{}", place.print(1.0 / ratio));
        return format!("{}, {} to {}", print(value), print(low), print(high));
    }
    let place = Place::of(value, interval).at_most(RATIO_DECIMALS);
    let print = |ratio: f64| place.print(ratio);
    format!("{} times, {} to {}", print(value), print(low), print(high))
}

fn comparison_text(one: &Comparison) -> String {
    ratio_text(one.ratio.unwrap_or(1.0), one.interval)
}

/// Maximum number of decimals of a ratio.
const RATIO_DECIMALS: u8 = 3;

/// Whether a ratio is shown as its inverse.
fn is_small(ratio: f64) -> bool {
    0.0 < ratio && ratio < 0.2
}

/// `1.31 times`, or `1/28`.
fn format_times(value: f64) -> String {
    let words = if is_small(value) { "" } else { " times" };
    format!("{}{words}", format_factor(value))
}

/// `1.31`, or `1/28`.
fn format_factor(value: f64) -> String {
    match is_small(value) {
        true => format!("1/{}", format_ratio(1.0 / value)),
        false => format_ratio(value),
    }
}

/// Whether each comparison has a known floor, the smallest difference that it can find.
fn have_floors(comparisons: &[&Comparison]) -> bool {
    comparisons.iter().all(|one| one.floor.is_some())
}

/// `no difference above the noise floor`; without a floor `no difference larger than 3.2 %`, true for each of several
/// comparisons.
fn no_difference(comparisons: &[&Comparison]) -> String {
    match have_floors(comparisons) {
        true => "no difference above the noise floor".to_owned(),
        false => Outcome::NoDifference.text(largest_difference(comparisons), None, ""),
    }
}

/// ` (less than 3.2 % apart)`: the largest difference that the intervals allow.
fn format_largest_difference(comparisons: &[&Comparison]) -> String {
    let is_same = comparisons
        .iter()
        .all(|one| one.outcome == Outcome::NoDifference);
    match largest_difference(comparisons).filter(|_| is_same && have_floors(comparisons)) {
        Some(share) => format!(" (less than {} % apart)", format_percent(share)),
        None => String::new(),
    }
}

/// The largest possible difference, if it is known for each.
fn largest_difference(comparisons: &[&Comparison]) -> Option<f64> {
    let shares: Option<Vec<f64>> = comparisons.iter().map(|one| one.at_most).collect();
    shares?.into_iter().reduce(f64::max)
}

/// The number of comparisons of the theme that count.
pub fn count_pairs(result: &LabResult, theme: &Theme) -> usize {
    let members = theme.groups.iter().flat_map(|group| &group.members);
    members.filter(|one| has_valid_cells(result, one)).count()
}

/// A sentence with the number of comparisons that no other sentence uses, and the reasons.
pub fn excluded_sentence(result: &LabResult) -> Option<Words> {
    let all = result.comparisons.len();
    let not: Vec<&Comparison> = result
        .comparisons
        .iter()
        .filter(|one| !has_valid_cells(result, one))
        .collect();
    if not.is_empty() {
        return None;
    }
    let is_doubted = |one: &&&Comparison| {
        [&one.cells.0, &one.cells.1]
            .into_iter()
            .any(|name| find_cell(result, name).is_some_and(|cell| cell.verdict != "valid"))
    };
    let doubted = not.iter().filter(is_doubted).count();
    let mut reasons: Vec<String> = Vec::new();
    if doubted > 0 {
        reasons.push(format!("{doubted} with a cell that is not valid"));
    }
    for one in not.iter().filter(|one| !is_doubted(one)) {
        let reason = if one.ratio.is_none() {
            "a cell has no figure".to_owned()
        } else {
            one.method.trim().trim_end_matches('.').to_owned()
        };
        if !reason.is_empty() && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let why = if reasons.is_empty() || reasons.len() > 3 {
        String::new()
    } else {
        format!(": {}", reasons.join("; "))
    };
    let subject = if not.len() == all {
        "No comparison counts".to_owned()
    } else {
        format!(
            "{} of {} {} not count",
            not.len(),
            format_count(all, "comparison", "comparisons"),
            if not.len() == 1 { "does" } else { "do" }
        )
    };
    Some(Words::plain(format!("{subject}{why}.")))
}

#[cfg(test)]
mod tests {
    use super::range_text;

    #[test]
    fn a_range_of_ratios_has_its_words_last() {
        assert_eq!(range_text(&[12.6, 2.62]), "2.62 to 12.6 times");
        assert_eq!(range_text(&[1.5, 1.5]), "1.50 times");
        assert_eq!(range_text(&[0.04, 0.5]), "1/25.0 to 0.50 times");
        assert_eq!(range_text(&[0.04, 0.1]), "1/25.0 to 1/10.0");
    }
}
