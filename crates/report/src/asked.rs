//! The answers at the top of a report: to the questions of the lab, and on the statements of the document that it
//! repeats. Verdicts follow from the figures of valid cells alone.

use plimsoll_plots::number::Place;
use plimsoll_results::lab::{Asked, Cell, Expected, Figure, LabResult, Outcome};

use crate::claims::{range_text, ratio_text};
use crate::document::{Block, Head, Table, Words};
use crate::leads::value_on;
use crate::naming::{capital, place_words, shared_axes, value_words};
use crate::pivot::bound;
use crate::ratio::{Estimate, estimate};
use crate::units::short_label;

/// Groups of cells whose figures are listed; of more, the range is shown.
const MOST_LISTED: usize = 4;
/// The same of pairs with their ratios, which are longer.
const MOST_PAIRS: usize = 2;

/// The questions of the lab with their answers, one sentence each.
pub fn questions(result: &LabResult) -> Vec<Words> {
    let asked = result.asked.iter().filter(|one| !one.is_statement);
    asked
        .map(|one| sentence(&Answer::of(result, one)))
        .collect()
}

/// The questions and then the statements of the source, one sentence each, that valid cells answer. A form may lack the
/// cells of others.
pub fn answered(result: &LabResult) -> Vec<Words> {
    let (statements, questions): (Vec<&Asked>, Vec<&Asked>) =
        result.asked.iter().partition(|one| one.is_statement);
    let asked = questions.into_iter().chain(statements);
    asked
        .map(|one| Answer::of(result, one))
        .filter(|answer| !answer.groups.is_empty())
        .map(|answer| match answer.asked.is_statement {
            true => Words::plain("The original says: ").and(sentence(&answer)),
            false => sentence(&answer),
        })
        .collect()
}

/// The statements of the source as a table; none without any.
pub fn table(result: &LabResult) -> Option<Block> {
    let asked = result.asked.iter().filter(|one| one.is_statement);
    let rows: Vec<Vec<Words>> = asked
        .map(|one| {
            let answer = Answer::of(result, one);
            vec![
                Words::plain(&one.text),
                Words::new().strong(answer.verdict()),
                answer.figures(),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            caption: "Statements of the original".to_owned(),
            head: vec![
                Head::words("statement"),
                Head::words("here"),
                Head::words("measured"),
            ],
            rows,
            names: 1,
        })
    })
}

/// `Is it fast? Yes: p95 near: HTTP 0.51, gRPC 0.67 ms.`
fn sentence(answer: &Answer) -> Words {
    let asked = answer.asked;
    let words = match asked.is_statement {
        true => Words::plain(&asked.text),
        false => Words::new().strong(&asked.text),
    };
    let words = words.text(" ");
    let verdict = answer.verdict();
    let figures = answer.figures();
    match (verdict.is_empty(), figures.0.is_empty()) {
        (true, _) => words.and(figures),
        (false, true) => words.text(format!("{}.", capital(&verdict))),
        (false, false) => words.text(format!("{}: ", capital(&verdict))).and(figures),
    }
}

/// Whether what is expected is true of a group of cells.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Holds,
    Fails,
    Uncertain,
}

/// Cells that differ in the compared axis alone, in the order of its values.
struct Group<'a>(Vec<(&'a Cell, &'a Figure)>);

struct Answer<'a> {
    result: &'a LabResult,
    asked: &'a Asked,
    groups: Vec<Group<'a>>,
    /// Groups without a figure for what is asked, because a cell is not valid.
    left_out: usize,
}

impl<'a> Answer<'a> {
    fn of(result: &'a LabResult, asked: &'a Asked) -> Answer<'a> {
        let place = |cell: &'a Cell| -> Vec<&'a (String, String)> {
            let place = cell.place.iter();
            place
                .filter(|(axis, _)| Some(axis) != asked.axis.as_ref())
                .collect()
        };
        let cells = result
            .cells
            .iter()
            .filter(|cell| asked.cells.contains(&cell.name));
        let mut groups: Vec<Vec<&Cell>> = Vec::new();
        for cell in cells {
            let alike = |group: &&mut Vec<&'a Cell>| {
                asked.axis.is_some() && group.first().is_some_and(|one| place(one) == place(cell))
            };
            match groups.iter_mut().find(alike) {
                Some(group) => group.push(cell),
                None => groups.push(vec![cell]),
            }
        }
        let order = |cell: &Cell| {
            let value = asked.axis.as_ref().and_then(|axis| value_on(cell, axis));
            asked
                .values
                .iter()
                .position(|known| Some(known.as_str()) == value)
        };
        let figure = |cell: &'a Cell| {
            let name = asked.figure.as_ref()?;
            let figure = cell.figures.iter().find(|figure| figure.name == *name)?;
            (cell.verdict == "valid").then_some((cell, figure))
        };
        let needed = match asked.expected {
            Some(_) => asked.values.len().max(1),
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
        Answer {
            left_out: all - groups.len(),
            result,
            asked,
            groups,
        }
    }

    /// `holds`, `holds in 1 of 8 pairs, uncertain in 7`; for a question `yes`; empty if nothing is expected.
    fn verdict(&self) -> String {
        let Some(expected) = self.asked.expected else {
            return match (self.asked.is_statement, self.groups.is_empty()) {
                (true, _) => "not tested".to_owned(),
                (false, true) => "not measured".to_owned(),
                (false, false) => String::new(),
            };
        };
        let verdicts: Vec<Verdict> = self
            .groups
            .iter()
            .map(|one| self.judge(one, expected))
            .collect();
        let count = |wanted| {
            verdicts
                .iter()
                .filter(|verdict| **verdict == wanted)
                .count()
        };
        let (holds, fails) = (count(Verdict::Holds), count(Verdict::Fails));
        let unsure = count(Verdict::Uncertain);
        let (yes, no) = match self.asked.is_statement {
            true => ("holds", "does not hold"),
            false => ("yes", "no"),
        };
        let all = verdicts.len();
        let text = match (holds, fails, unsure) {
            (0, 0, 0) => return "not measured".to_owned(),
            (_, 0, 0) => yes.to_owned(),
            (0, _, 0) => no.to_owned(),
            (0, 0, _) => "uncertain".to_owned(),
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
        let is_within = |(low, high): (f64, f64), (least, most): (Option<f64>, Option<f64>)| {
            let (least, most) = (
                least.unwrap_or(f64::NEG_INFINITY),
                most.unwrap_or(f64::INFINITY),
            );
            match (low >= least && high <= most, high < least || low > most) {
                (true, _) => Verdict::Holds,
                (_, true) => Verdict::Fails,
                _ => Verdict::Uncertain,
            }
        };
        let ends = |figure: &Figure| figure.interval.unwrap_or((figure.value, figure.value));
        let (Some(base), other) = (group.0.first(), group.0.get(1)) else {
            return Verdict::Uncertain;
        };
        let Some(other) = other else {
            return match expected {
                Expected::Value(least, most) => is_within(ends(base.1), (least, most)),
                _ => Verdict::Uncertain,
            };
        };
        let decided =
            |holds: &[Outcome], fails: &[Outcome]| match estimate(self.result, *base, *other)
                .outcome
            {
                outcome if holds.contains(&outcome) => Verdict::Holds,
                outcome if fails.contains(&outcome) => Verdict::Fails,
                _ => Verdict::Uncertain,
            };
        use Outcome::{Larger, NoDifference, Smaller};
        match expected {
            Expected::Larger => decided(&[Larger], &[Smaller, NoDifference]),
            Expected::Smaller => decided(&[Smaller], &[Larger, NoDifference]),
            Expected::NotSmaller => decided(&[Larger, NoDifference], &[Smaller]),
            Expected::NotLarger => decided(&[Smaller, NoDifference], &[Larger]),
            Expected::Same => decided(&[NoDifference], &[Larger, Smaller]),
            Expected::Ratio(least, most) => {
                let Estimate {
                    ratio, interval, ..
                } = estimate(self.result, *base, *other);
                is_within(interval.unwrap_or((ratio, ratio)), (least, most))
            }
            Expected::Difference(least, most) => {
                let ((low, high), (base_low, base_high)) = (ends(other.1), ends(base.1));
                is_within((low - base_high, high - base_low), (least, most))
            }
            Expected::Value(least, most) => {
                let all = group
                    .0
                    .iter()
                    .map(|(_, figure)| is_within(ends(figure), (least, most)));
                all.reduce(|one, next| if one == next { one } else { Verdict::Uncertain })
                    .unwrap_or(Verdict::Uncertain)
            }
        }
    }

    /// `near: HTTP 0.51, gRPC 0.67 ms (1.31 times, 1.21 to 1.42); far: …`, and the note.
    fn figures(&self) -> Words {
        let mut words = Words::new();
        if let Some((_, figure)) = self.groups.first().and_then(|group| group.0.first()) {
            let most = match self.asked.expected {
                Some(_) => MOST_PAIRS,
                None => MOST_LISTED,
            };
            let is_listed = self.groups.len() <= most;
            if figure.name.starts_with("latency_") {
                let label = short_label(&figure.name, &figure.label);
                words = words.text(format!("{label}{} ", if is_listed { ":" } else { "" }));
            }
            words = match is_listed {
                true => self.listed(words, &figure.unit),
                false => self.range(words, &figure.unit),
            };
            words = words.text(self.rates()).text(match self.left_out {
                0 => String::new(),
                count => format!(" ({count} with a suspect cell not counted)"),
            });
            words = words.text(".");
        }
        match &self.asked.note {
            Some(note) if words.0.is_empty() => words.text(note),
            Some(note) => words.text(format!(" {note}")),
            None => words,
        }
    }

    /// Each group, named by what distinguishes it from the others.
    fn listed(&self, mut words: Words, unit: &str) -> Words {
        let cells = self.groups.iter().flat_map(|group| &group.0);
        let mut shared = shared_axes(cells.map(|(cell, _)| *cell));
        shared.extend(self.asked.axis.as_deref());
        for (at, group) in self.groups.iter().enumerate() {
            let Some((cell, _)) = group.0.first() else {
                continue;
            };
            let place = place_words(self.result, &cell.place, &shared);
            words = words.text(if at == 0 { "" } else { "; " });
            if !place.is_empty() {
                // A single value follows its name; several have names of their own.
                let colon = if self.asked.axis.is_some() { ":" } else { "" };
                words = words.text(format!("{place}{colon} "));
            }
            let is_last = at + 1 == self.groups.len();
            words = self.values(words, group, if is_last { unit } else { "" });
        }
        words
    }

    /// `HTTP 0.51, gRPC 0.67 ms (1.31 times, 1.21 to 1.42)`.
    fn values(&self, mut words: Words, group: &Group, unit: &str) -> Words {
        for (at, (cell, figure)) in group.0.iter().enumerate() {
            words = words.text(if at == 0 { "" } else { ", " });
            let value = self
                .asked
                .axis
                .as_ref()
                .and_then(|axis| Some(value_words(self.result, axis, value_on(cell, axis)?)));
            if let Some(value) = value {
                words = words.text(format!("{value} "));
            }
            words = words.strong(printed(cell, figure));
        }
        if !unit.is_empty() {
            words = words.text(format!(" {unit}"));
        }
        match (self.asked.expected, group.0.as_slice()) {
            (None | Some(Expected::Value(..)), _) => words,
            (Some(Expected::Difference(..)), [base, other]) => {
                let place = Place::of(base.1.value.max(other.1.value), None);
                words.text(format!(
                    " (a difference of {})",
                    place.print(other.1.value - base.1.value)
                ))
            }
            (_, [base, other]) => {
                let Estimate {
                    ratio,
                    interval,
                    outcome,
                    floor,
                } = estimate(self.result, *base, *other);
                let floor = floor.filter(|_| {
                    outcome == Outcome::NoDifference && self.asked.expected == Some(Expected::Same)
                });
                let floor = floor.map_or_else(String::new, |share| {
                    format!(
                        "; noise floor {} %",
                        Place::decimals(0).print(share * 100.0)
                    )
                });
                words.text(format!(" ({}{floor})", ratio_text(ratio, interval)))
            }
            _ => words,
        }
    }

    /// The range of many groups: of their ratios, or of their values.
    fn range(&self, words: Words, unit: &str) -> Words {
        let ratio = |group: &Group<'a>| match group.0.as_slice() {
            [base, other] => Some(estimate(self.result, *base, *other).ratio),
            _ => None,
        };
        let ratios: Option<Vec<f64>> = self.groups.iter().map(ratio).collect();
        if let Some(ratios) = ratios {
            return words.strong(range_text(&ratios));
        }
        let cells = self.groups.iter().flat_map(|group| &group.0);
        let mut all: Vec<&(&Cell, &Figure)> = cells.collect();
        all.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
        let (Some(least), Some(most)) = (all.first(), all.last()) else {
            return words;
        };
        let (least, most) = (printed(least.0, least.1), printed(most.0, most.1));
        let words = match least == most {
            true => words.strong(least),
            false => words.strong(least).text(" to ").strong(most),
        };
        let space = if unit.is_empty() { "" } else { " " };
        words.text(format!("{space}{unit} in {} cells", all.len()))
    }

    /// ` at 10,000 requests/s`: CPU time per request depends on the rate.
    fn rates(&self) -> String {
        let cells = || {
            self.groups
                .iter()
                .flat_map(|group| &group.0)
                .map(|(cell, _)| *cell)
        };
        match self.asked.figure.as_deref() {
            Some(crate::matrix::CPU) => crate::rates::at(cells()),
            _ => String::new(),
        }
    }
}

fn printed(cell: &Cell, figure: &Figure) -> String {
    match figure.value == 0.0 {
        true => "0".to_owned(),
        false => {
            let place = Place::of(figure.value, figure.interval);
            format!("{}{}", bound(cell, figure), place.print(figure.value))
        }
    }
}
