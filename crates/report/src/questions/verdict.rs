//! The cells that answer a question or decide a statement, and the verdict that their figures imply.

use plimsoll_results::lab::{Cell, Expected, Figure, LabResult, Outcome, Question};

use crate::leads::axis_value;
use crate::ratio::{Estimate, estimate};

/// Whether the expectation is true for a group of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    Holds,
    Fails,
    Uncertain,
}

/// Cells that differ in the compared axis alone, in the order of its values.
pub(super) struct Group<'a>(pub(super) Vec<(&'a Cell, &'a Figure)>);

impl Group<'_> {
    /// The ratio of the two cells; `None` for any other number of cells.
    pub(super) fn estimate(&self, result: &LabResult) -> Option<Estimate> {
        match self.0.as_slice() {
            [base, other] => Some(estimate(result, *base, *other)),
            _ => None,
        }
    }

    /// The second figure minus the first, from the ends of their intervals that are farthest apart.
    pub(super) fn difference(&self) -> Option<(f64, f64)> {
        let [base, other] = self.0.as_slice() else {
            return None;
        };
        let ((low, high), (base_low, base_high)) = (interval_ends(other.1), interval_ends(base.1));
        Some((low - base_high, high - base_low))
    }
}

/// The interval of a figure; without one, its value.
fn interval_ends(figure: &Figure) -> (f64, f64) {
    figure.interval.unwrap_or((figure.value, figure.value))
}

pub(super) struct Answer<'a> {
    pub(super) result: &'a LabResult,
    pub(super) question: &'a Question,
    pub(super) groups: Vec<Group<'a>>,
    /// The number of groups that do not decide the question, because a cell is not valid.
    pub(super) left_out: usize,
}

impl<'a> Answer<'a> {
    pub(super) fn of(result: &'a LabResult, question: &'a Question) -> Answer<'a> {
        let place = |cell: &'a Cell| -> Vec<&'a (String, String)> {
            let place = cell.place.iter();
            place
                .filter(|(axis, _)| Some(axis) != question.axis.as_ref())
                .collect()
        };
        let cells = result
            .cells
            .iter()
            .filter(|cell| question.cells.contains(&cell.name));
        let mut groups: Vec<Vec<&Cell>> = Vec::new();
        for cell in cells {
            let alike = |group: &&mut Vec<&'a Cell>| {
                question.axis.is_some()
                    && group.first().is_some_and(|one| place(one) == place(cell))
            };
            match groups.iter_mut().find(alike) {
                Some(group) => group.push(cell),
                None => groups.push(vec![cell]),
            }
        }
        let order = |cell: &Cell| {
            let value = question
                .axis
                .as_ref()
                .and_then(|axis| axis_value(cell, axis));
            question
                .values
                .iter()
                .position(|known| Some(known.as_str()) == value)
        };
        let figure = |cell: &'a Cell| {
            let name = question.figure.as_ref()?;
            let figure = cell.figure(name)?;
            (cell.verdict == "valid").then_some((cell, figure))
        };
        let needed = match question.expected {
            Some(_) => question.values.len().max(1),
            None => 1,
        };
        let all = groups.len();
        let groups: Vec<Group> = groups
            .into_iter()
            .map(|mut cells| {
                cells.sort_by_key(|cell| order(cell));
                Group(cells.into_iter().filter_map(figure).collect())
            })
            .filter(|group| group.0.len() >= needed)
            .collect();
        // A group of one value compares nothing, if others do.
        let min = groups
            .iter()
            .map(|group| group.0.len())
            .max()
            .unwrap_or(0)
            .min(2);
        let groups: Vec<Group> = groups
            .into_iter()
            .filter(|group| group.0.len() >= min)
            .collect();
        Answer {
            left_out: all - groups.len(),
            result,
            question,
            groups,
        }
    }

    /// Whether the expectation is true, for each group; empty without an expectation.
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        let expected = self.question.expected.iter();
        expected
            .flat_map(|expected| self.groups.iter().map(|one| self.judge(one, *expected)))
            .collect()
    }

    /// The words for a verdict: of a statement, or in reply to a question.
    pub(super) fn words(&self, verdict: Verdict) -> &'static str {
        match (verdict, self.question.is_statement) {
            (Verdict::Holds, true) => "holds",
            (Verdict::Holds, false) => "yes",
            (Verdict::Fails, true) => "does not hold",
            (Verdict::Fails, false) => "no",
            (Verdict::Uncertain, _) => "uncertain",
        }
    }

    /// `holds`, `holds in 1 of 8, uncertain in 7`; for a question `yes`; empty without an expectation.
    pub(super) fn verdict(&self) -> String {
        if self.question.expected.is_none() {
            return match (self.question.is_statement, self.groups.is_empty()) {
                (true, _) => "not tested".to_owned(),
                (false, true) => "not measured".to_owned(),
                (false, false) => String::new(),
            };
        }
        let verdicts = self.verdicts();
        let all = verdicts.len();
        let count = |wanted| verdicts.iter().filter(|one| **one == wanted).count();
        let (holds, fails) = (count(Verdict::Holds), count(Verdict::Fails));
        let unsure = count(Verdict::Uncertain);
        let (yes, no) = (self.words(Verdict::Holds), self.words(Verdict::Fails));
        let text = match (holds, fails, unsure) {
            (0, 0, 0) => return "not measured".to_owned(),
            (_, 0, 0) => yes.to_owned(),
            (0, _, 0) => no.to_owned(),
            (0, 0, _) => self.words(Verdict::Uncertain).to_owned(),
            (0, ..) => format!("{no} in {fails} of {all}"),
            _ => format!("{yes} in {holds} of {all}"),
        };
        match unsure {
            0 => text,
            _ if unsure == all => text,
            _ => format!("{text}, uncertain in {unsure}"),
        }
    }

    fn judge(&self, group: &Group, expected: Expected) -> Verdict {
        use Outcome::{Larger, NoDifference, Smaller};
        if let Expected::Value(min, max) = expected {
            let figures = group.0.iter().map(|(_, figure)| interval_ends(figure));
            return combine_verdicts(figures.map(|ends| judge_interval(ends, min, max)));
        }
        let Some(one) = group.estimate(self.result) else {
            return Verdict::Uncertain;
        };
        let decided = |holds: Outcome, fails: &[Outcome]| match one.outcome {
            outcome if outcome == holds => Verdict::Holds,
            outcome if fails.contains(&outcome) => Verdict::Fails,
            _ => Verdict::Uncertain,
        };
        match expected {
            Expected::Larger => decided(Larger, &[Smaller, NoDifference]),
            Expected::Smaller => decided(Smaller, &[Larger, NoDifference]),
            Expected::Same => decided(NoDifference, &[Larger, Smaller]),
            // Whether it is larger or the same may be uncertain.
            Expected::NotSmaller => judge_ratio(&one, Some(1.0 / (1.0 + one.same)), None),
            Expected::NotLarger => judge_ratio(&one, None, Some(1.0 + one.same)),
            Expected::Ratio(min, max) => judge_ratio(&one, min, max),
            Expected::Difference(min, max) => match group.difference() {
                Some(ends) => judge_interval(ends, min, max),
                None => Verdict::Uncertain,
            },
            Expected::Value(..) => Verdict::Uncertain,
        }
    }
}

/// Whether a ratio is between two limits. A difference below the noise floor decides nothing.
fn judge_ratio(one: &Estimate, min: Option<f64>, max: Option<f64>) -> Verdict {
    let ends = one.interval.unwrap_or((one.ratio, one.ratio));
    let verdict = judge_interval(ends, min, max);
    let asks_for_same = judge_interval((1.0, 1.0), min, max) == Verdict::Holds;
    let needs_difference = match asks_for_same {
        true => verdict == Verdict::Fails,
        false => verdict == Verdict::Holds,
    };
    let differs = one.ratio.ln().abs() > one.differs.ln_1p();
    match needs_difference && !differs {
        true => Verdict::Uncertain,
        false => verdict,
    }
}

/// Whether an interval is between two limits.
fn judge_interval((low, high): (f64, f64), min: Option<f64>, max: Option<f64>) -> Verdict {
    let min = min.unwrap_or(f64::NEG_INFINITY);
    let max = max.unwrap_or(f64::INFINITY);
    match (low >= min && high <= max, high < min || low > max) {
        (true, _) => Verdict::Holds,
        (_, true) => Verdict::Fails,
        _ => Verdict::Uncertain,
    }
}

/// The verdict of several figures: uncertain if they differ.
fn combine_verdicts(mut verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let first = verdicts.next().unwrap_or(Verdict::Uncertain);
    match verdicts.all(|one| one == first) {
        true => first,
        false => Verdict::Uncertain,
    }
}
