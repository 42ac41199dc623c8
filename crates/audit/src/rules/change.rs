//! Parses a stated change, such as "30 % faster" or "2.5x", and checks whether two figures differ by it.

use crate::quantity::{format_number, parse_number};
use crate::records::Figure;

/// A change as stated in a sentence or a cell.
pub struct Change {
    claimed: f64,
    step: f64,
    percent: bool,
    about: bool,
    /// Whether a percentage can only be a difference, not a ratio of the two figures.
    by: bool,
}

/// Words that mark a figure as rounded.
const ABOUT: [&str; 12] = [
    "about",
    "around",
    "~",
    "≈",
    "roughly",
    "nearly",
    "almost",
    "over ",
    "up to",
    "more than",
    "approx",
    "at least",
];

/// Whether a passage marks its figures as rounded.
pub fn is_about(text: &str) -> bool {
    let lower = text.to_lowercase();
    ABOUT.iter().any(|word| lower.contains(word))
}

/// Words that denote a change. Without one, a percentage is a share of something.
const CHANGED: [&str; 19] = [
    "fast", "slow", "better", "worse", "less", "more", "lower", "higher", "improve", "reduc",
    "increas", "decreas", "gain", "speed", "drop", "boost", "cut", "rose", "grew",
];

/// Whether a lower-case text describes a change.
pub fn is_change(lower: &str) -> bool {
    CHANGED.iter().any(|word| lower.contains(word))
}

impl Change {
    /// Parses a number and its unit, either `%` or the unit of a factor. `text` may contain a word
    /// that marks the number as rounded.
    pub fn read(number_text: &str, unit: &str, text: &str) -> Option<Change> {
        let (claimed, step) = parse_number(number_text)?;
        Some(Change {
            claimed,
            step,
            percent: unit == "%",
            about: is_about(text),
            by: false,
        })
    }

    /// Parses a change after "by": "exceeds B by 30 %".
    pub fn into_difference(self) -> Change {
        Change { by: true, ..self }
    }

    /// Whether this may be the difference of two figures. Either figure may be the base. A
    /// percentage may also express one figure as a share of the other.
    pub fn is_between(&self, one: &Figure, other: &Figure) -> bool {
        let (one_value, other_value) = (one.value.abs(), other.value.abs());
        let ratio = one_value.max(other_value) / one_value.min(other_value);
        // Rounding may hide half a step of each figure.
        let unsure = 0.5 * (one.step / one_value + other.step / other_value) * ratio;
        if !self.percent {
            let share = if self.about { 0.2 } else { 0.1 };
            // A factor below 1 is a slowdown.
            let slower = (self.claimed < 1.0).then_some(1.0 / ratio);
            return [ratio, ratio - 1.0]
                .into_iter()
                .chain(slower)
                .any(|right| (self.claimed - right).abs() <= self.step + share * right + unsure);
        }
        let share = if self.about { 0.2 } else { 0.03 };
        // A percentage that ends in 0 or 5 may be rounded to that digit.
        let coarse = if self.claimed % 5.0 == 0.0 { 2.5 } else { 1.5 };
        let rights = [ratio - 1.0, 1.0 - 1.0 / ratio, ratio, 1.0 / ratio];
        let rights = &rights[..if self.by { 2 } else { 4 }];
        rights.iter().any(|right| {
            let slack = (share * 100.0 * right).max(self.step).max(coarse);
            (self.claimed - 100.0 * right).abs() <= slack + 100.0 * unsure
        })
    }

    /// Whether a factor with three digits, next to its two figures, is more than half a percent off.
    pub fn is_slightly_off(&self, one: &Figure, other: &Figure) -> bool {
        let (one_value, other_value) = (one.value.abs(), other.value.abs());
        let ratio = one_value.max(other_value) / one_value.min(other_value);
        let unsure = (one.step / one_value + other.step / other_value) * ratio;
        let precise = self.claimed / self.step >= 100.0 && self.claimed % (5.0 * self.step) != 0.0;
        !self.percent
            && !self.about
            && precise
            && [ratio, ratio - 1.0]
                .iter()
                .all(|right| (self.claimed - right).abs() > self.step + unsure + 0.005 * right)
    }

    /// Whether a figure states exactly this change.
    pub fn is_stated_by(&self, figure: &Figure) -> bool {
        (figure.value.abs() - self.claimed).abs() <= 1.5 * self.step + 0.02 * self.claimed
    }

    /// Describes the actual difference of the two figures.
    pub fn describe_difference(&self, one: &Figure, other: &Figure) -> String {
        let ratio = other.value / one.value;
        let right = match self.percent {
            true => format!(
                "{} % of the first, {} % of the second",
                format_number((ratio - 1.0).abs() * 100.0),
                format_number((1.0 / ratio - 1.0).abs() * 100.0)
            ),
            false => format!("a factor of {}", format_number(ratio.max(1.0 / ratio))),
        };
        let (one, other) = (one.text.trim(), other.text.trim());
        format!("{one} and {other} differ by {right}, not by {self}")
    }

    /// A factor above 1.
    pub fn is_multiple(&self) -> bool {
        !self.percent && self.claimed > 1.0
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        let unit = if self.percent { "%" } else { "times" };
        write!(formatter, "{} {unit}", format_number(self.claimed))
    }
}

#[cfg(test)]
mod tests {
    use super::Change;
    use crate::records::read;

    #[test]
    fn a_change_has_either_figure_as_its_base() {
        for (claimed, unit, text, expected) in [
            ("27", "%", "27 % faster", true),
            ("37", "%", "37 % faster", true),
            ("73", "%", "73 % of it", true),
            ("50", "%", "50 % faster", false),
            ("35", "%", "35 % faster", true),
            ("32", "%", "about 32 % faster", true),
            ("1.4", "x", "1.4x faster", true),
            ("3", "x", "3x faster", false),
            ("0.73", "x", "0.73x", true),
        ] {
            let (one, other) = (read("52 ms").unwrap(), read("38 ms").unwrap());
            let change = Change::read(claimed, unit, text).unwrap();
            assert_eq!(change.is_between(&one, &other), expected, "{text}");
        }
    }
}
