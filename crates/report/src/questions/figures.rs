//! The figures that answer a question or decide a statement, in words.

use plimsoll_plots::number::Place;
use plimsoll_results::lab::{Cell, Expected, Figure, Outcome};

use super::verdict::{Answer, Group, Verdict};
use crate::claims::{range_text, ratio_text};
use crate::document::Words;
use crate::emulated_line;
use crate::leads::axis_value;
use crate::naming::{capitalize, describe_place, describe_value, shared_axes};
use crate::pivot::bound_prefix;
use crate::ratio::{Estimate, estimate};
use crate::units::short_label;

/// Maximum number of groups of cells whose figures are listed. For more groups, the text shows the range.
const MAX_LISTED: usize = 4;
/// The same maximum for pairs with their ratios, which need more space.
const MAX_PAIRS: usize = 2;
/// Maximum number of pairs with the same verdict that are named.
const MAX_NAMED: usize = 3;

impl Answer<'_> {
    /// Whether each group is listed; otherwise the text has a range of them.
    fn is_listed(&self) -> bool {
        let max = match self.question.expected {
            Some(_) => MAX_PAIRS,
            None => MAX_LISTED,
        };
        self.groups.len() <= max
    }

    /// Whether the text names groups: all of them, or those of a verdict.
    pub(super) fn names_groups(&self) -> bool {
        self.is_listed() || (self.ratios().is_some() && self.is_mixed())
    }

    /// Whether the verdicts differ between groups.
    fn is_mixed(&self) -> bool {
        let verdicts = self.verdicts();
        verdicts.iter().any(|one| Some(one) != verdicts.first())
    }

    /// `p95 in ms (100 users), near: HTTP 0.51, gRPC 0.67 (1.31 times, 1.21 to 1.42); far: ….`, and the notes.
    pub(super) fn figures(&self, conditions: &str) -> Words {
        let mut words = Words::new();
        if let Some((_, figure)) = self.groups.first().and_then(|group| group.0.first()) {
            words = match (self.is_listed(), self.ratios()) {
                (true, _) => self.group_list(self.heading(figure, conditions)),
                (false, Some(ratios)) => self.ratio_words(figure, conditions, &ratios),
                (false, None) => self.range_words(self.heading(figure, conditions)),
            };
            words = words.text(match self.left_out {
                0 => String::new(),
                count => format!(" ({count} left out because of a suspect measurement)"),
            });
            words = words.text(".");
        }
        for note in self.notes() {
            let space = if words.0.is_empty() { "" } else { " " };
            words = words.text(format!("{space}{note}"));
        }
        words
    }

    /// Notes that readers need to understand the figures, from the data and from the lab file.
    fn notes(&self) -> Vec<String> {
        let cells = self.groups.iter().flat_map(|group| &group.0);
        let cells: Vec<&Cell> = cells.map(|(cell, _)| *cell).collect();
        let mut notes = Vec::new();
        if let Some(name) = self.question.figure.as_deref() {
            notes.extend(emulated_line::note(&cells, name));
        }
        notes.extend(self.question.note.clone());
        notes
    }

    /// `p95 in ms (100 users)`: the figure, its unit, and the conditions that are not empty.
    fn heading(&self, figure: &Figure, conditions: &str) -> String {
        let unit = &figure.unit;
        let what = match figure.name.as_str() {
            crate::matrix::CPU => format!("{unit} per request{}", self.rates(conditions)),
            "makespan" => format!("time in {unit}"),
            name if name.starts_with("latency_") => {
                format!("{} in {unit}", short_label(name, &figure.label))
            }
            _ if unit.is_empty() => figure.label.clone(),
            _ if unit.contains('/') => unit.clone(),
            _ => format!("{} in {unit}", figure.label),
        };
        with_conditions(&what, conditions)
    }

    /// The ratio of each group, if all have one.
    fn ratios(&self) -> Option<Vec<f64>> {
        let groups = self.groups.iter();
        groups
            .map(|group| Some(group.estimate(self.result)?.ratio))
            .collect()
    }

    /// Each group, named by what distinguishes it from the others.
    fn group_list(&self, head: String) -> Words {
        let names: Vec<String> = self.groups.iter().map(|group| self.name(group)).collect();
        // `p95 in ms, near: HTTP 0.51`, but `p95 in ms: HTTP 0.51`.
        let is_named = names.first().is_some_and(|name| !name.is_empty());
        let mut words = Words::plain(head).text(if is_named { ", " } else { ": " });
        for (at, (group, name)) in self.groups.iter().zip(&names).enumerate() {
            words = words.text(if at == 0 { "" } else { "; " });
            if !name.is_empty() {
                // A single value follows its name; several have names of their own.
                let colon = if self.question.axis.is_some() {
                    ":"
                } else {
                    ""
                };
                words = words.text(format!("{name}{colon} "));
            }
            words = self.values(words, group);
        }
        words
    }

    /// What distinguishes a group from the others.
    pub(super) fn name(&self, group: &Group) -> String {
        let cells = self.groups.iter().flat_map(|group| &group.0);
        let mut shared = shared_axes(cells.map(|(cell, _)| *cell));
        shared.extend(self.question.axis.as_deref());
        let cell = group.0.first();
        cell.map_or_else(String::new, |(cell, _)| {
            describe_place(self.result, &cell.place, &shared)
        })
    }

    /// `HTTP 0.51, gRPC 0.67 (1.31 times, 1.21 to 1.42)`. Each ratio divides by the first value.
    fn values(&self, mut words: Words, group: &Group) -> Words {
        for (at, (cell, figure)) in group.0.iter().enumerate() {
            words = words.text(if at == 0 { "" } else { ", " });
            if let Some(value) = self.value_words(cell) {
                words = words.text(format!("{value} "));
            }
            words = words.strong(format_figure(cell, figure));
            if let Some(one) = self.certain_ratio(group, at) {
                words = words.text(format!(" ({})", ratio_text(one.ratio, one.interval)));
            }
        }
        if let Some((low, high)) = self.range_of_ties(group) {
            let place = Place::of(low, Some((low, high)));
            let (low, high) = (place.print(low), place.print(high));
            words = words.text(format!(" (ratios: {low} to {high})"));
        }
        // Without an expectation, a ratio is shown only with its interval.
        let ratio = group.estimate(self.result);
        let ratio = ratio.filter(|one| self.question.expected.is_some() || one.interval.is_some());
        match (
            self.question.expected,
            group.0.as_slice(),
            group.difference(),
        ) {
            (Some(Expected::Value(..)), ..) => words,
            (Some(Expected::Difference(..)), [base, other], Some((low, high))) => {
                let value = other.1.value - base.1.value;
                let place = Place::of(value, Some((low, high)));
                words.text(format!(
                    " (a difference of {}, {} to {})",
                    place.print(value),
                    place.print(low),
                    place.print(high)
                ))
            }
            _ => match ratio {
                Some(one) => words.text(format!(" ({})", ratio_text(one.ratio, one.interval))),
                None => words,
            },
        }
    }

    /// The ratio of one of at least three ranked values to the first one. `None` if it is not certain that they differ: many
    /// ratios near 1 would hide the others.
    fn certain_ratio(&self, group: &Group, at: usize) -> Option<Estimate> {
        let (first, other) = (group.0.first()?, group.0.get(at)?);
        if group.0.len() < 3 || at == 0 || self.question.expected.is_some() {
            return None;
        }
        let found = estimate(self.result, *first, *other);
        (is_certain(&found) && found.interval.is_some()).then_some(found)
    }

    /// For at least three values of which none certainly differs from the first one: the range of all intervals of the ratios
    /// to it. It shows which differences the runs cannot exclude.
    fn range_of_ties(&self, group: &Group) -> Option<(f64, f64)> {
        let (first, others) = group.0.split_first()?;
        if others.len() < 2 || self.question.expected.is_some() {
            return None;
        }
        let estimates = others
            .iter()
            .map(|other| estimate(self.result, *first, *other));
        let estimates: Vec<Estimate> = estimates.collect();
        if estimates.iter().any(is_certain) {
            return None;
        }
        let intervals: Option<Vec<_>> = estimates.iter().map(|one| one.interval).collect();
        intervals?
            .into_iter()
            .reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }

    fn value_words(&self, cell: &Cell) -> Option<String> {
        let axis = self.question.axis.as_deref()?;
        Some(describe_value(self.result, axis, axis_value(cell, axis)?))
    }

    /// Many ratios: those of each verdict by name, or as a range.
    fn ratio_words(&self, figure: &Figure, conditions: &str, ratios: &[f64]) -> Words {
        let label = match figure.name.starts_with("latency_") {
            true => short_label(&figure.name, &figure.label),
            false => &figure.label,
        };
        let first = self.groups.first().map(|group| group.0.as_slice());
        let pair = match first {
            Some([base, other]) => self.value_words(other.0).zip(self.value_words(base.0)),
            _ => None,
        };
        let pair = pair.map_or_else(String::new, |(other, base)| {
            format!(", {other} against {base}")
        });
        let verdicts = self.verdicts();
        let words = Words::plain(with_conditions(&format!("{label}{pair}"), conditions));
        if !self.is_mixed() {
            return words.text(": ").strong(range_text(ratios));
        }
        let all = [Verdict::Holds, Verdict::Fails, Verdict::Uncertain];
        all.into_iter().fold(words, |words, verdict| {
            let found: Vec<(&Group, f64)> = self
                .groups
                .iter()
                .zip(ratios.iter().copied())
                .zip(&verdicts)
                .filter(|(_, one)| **one == verdict)
                .map(|(found, _)| found)
                .collect();
            if found.is_empty() {
                return words;
            }
            let words = words
                .text(". ")
                .strong(capitalize(self.words(verdict)))
                .text(": ");
            if found.len() > MAX_NAMED {
                let ratios: Vec<f64> = found.iter().map(|(_, ratio)| *ratio).collect();
                // If there are few others, all of them are named.
                let others = match self.groups.len() - found.len() <= MAX_NAMED {
                    true => "the other ",
                    false => "",
                };
                let count = found.len();
                return words.text(format!("{others}{count} pairs ({})", range_text(&ratios)));
            }
            let named = found.iter().map(|(group, ratio)| {
                let interval = group.estimate(self.result).and_then(|one| one.interval);
                format!("{} ({})", self.name(group), ratio_text(*ratio, interval))
            });
            words.text(named.collect::<Vec<_>>().join("; "))
        })
    }

    /// `p95 in ms: 0.195 to 1.16`: the range of the values of many groups.
    fn range_words(&self, head: String) -> Words {
        let words = Words::plain(format!("{head}: "));
        let cells = self.groups.iter().flat_map(|group| &group.0);
        let mut all: Vec<&(&Cell, &Figure)> = cells.collect();
        all.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
        let (Some(min), Some(max)) = (all.first(), all.last()) else {
            return words;
        };
        let (min, max) = (format_figure(min.0, min.1), format_figure(max.0, max.1));
        match min == max {
            true => words.strong(min),
            false => words.strong(min).text(" to ").strong(max),
        }
    }

    /// ` at 10,000 requests/s`, unless the conditions have the rate: CPU time per request depends on it.
    fn rates(&self, conditions: &str) -> String {
        if self.question.figure.as_deref() != Some(crate::matrix::CPU) {
            return String::new();
        }
        let cells = self.groups.iter().flat_map(|group| &group.0);
        let rates = crate::rates::format_rates(cells.map(|(cell, _)| *cell));
        let number = rates.trim_start_matches(" at ").split(' ').next();
        let is_stated = conditions.split(", ").any(|part| {
            let mut words = part.split(' ');
            words.next() == number && !part.ends_with(" users")
        });
        match is_stated && !rates.contains(" to ") {
            true => String::new(),
            false => rates,
        }
    }
}

/// Whether it is certain that a ratio differs from 1.
fn is_certain(one: &Estimate) -> bool {
    matches!(one.outcome, Outcome::Larger | Outcome::Smaller)
}

fn with_conditions(text: &str, conditions: &str) -> String {
    match conditions {
        "" => text.to_owned(),
        _ => format!("{text} ({conditions})"),
    }
}

fn format_figure(cell: &Cell, figure: &Figure) -> String {
    match figure.value == 0.0 {
        true => "0".to_owned(),
        false => {
            let place = Place::of(figure.value, figure.interval);
            format!(
                "{}{}",
                bound_prefix(cell, figure),
                place.print(figure.value)
            )
        }
    }
}
