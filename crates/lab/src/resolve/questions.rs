//! The questions and statements with which a report begins, as declared in a lab file: `[[question]]`.

use plimsoll_results::lab::{Expected, Question};
use serde::Serialize;

use super::conclusions::each;
use super::fields::Fields;
use super::tables::check_names;
use crate::file::{Document, unknown};
use crate::matrix::{Axis, When};
use crate::problem::Problem;
use crate::resolve::Cell;

/// A declared question or statement.
#[derive(Clone, Debug, Serialize)]
pub struct DeclaredQuestion {
    /// The question without the names of its cells.
    #[serde(flatten)]
    question: Question,
    /// The cells whose figures decide it.
    #[serde(skip)]
    when: When,
}

impl DeclaredQuestion {
    /// The figure that decides the question.
    pub fn figure(&self) -> Option<&str> {
        self.question.figure.as_deref()
    }

    /// The question with the names of its cells.
    pub fn of_cells(&self, cells: &[Cell]) -> Question {
        let axis = self.question.axis.as_deref();
        let is_compared = |cell: &&Cell| {
            axis.is_none_or(|axis| {
                let value = cell.coordinates.get(axis);
                value.is_some_and(|value| self.question.values.iter().any(|one| one == value))
            })
        };
        let cells = cells.iter().filter(|cell| {
            self.question.figure.is_some()
                && self.when.holds(&cell.coordinates)
                && is_compared(cell)
        });
        Question {
            cells: cells.map(|cell| cell.name.clone()).collect(),
            ..self.question.clone()
        }
    }
}

/// `[[question]]`
pub fn questions(
    document: &Document,
    axes: &[Axis],
    problems: &mut Vec<Problem>,
) -> Vec<DeclaredQuestion> {
    each(document, "question", problems, |fields, when| {
        let key = fields.one_of(&["asks", "says"])?;
        let text = fields.required(key);
        let figure = fields.text("figure");
        check_names(figure.as_slice()).unwrap_or_else(|why| fields.problem_at("figure", why));
        let axis = fields.text("axis");
        let mut values = fields.strings("values");
        if let Some(name) = &axis {
            let Some(axis) = axes.iter().find(|axis| axis.name == *name) else {
                let place = fields.place_of("axis");
                let known = axes.iter().map(|axis| axis.name.as_str());
                let problem = unknown(&place, "axis", name, known);
                fields.problem_in(&place, problem.message);
                return None;
            };
            let place = fields.place_of("values");
            for value in &values {
                if !axis.values().any(|known| known == value) {
                    let what = format!("value of the axis {name}");
                    let problem = unknown(&place, &what, value, axis.values());
                    fields.problem_in(&place, problem.message);
                }
            }
            if values.is_empty() {
                values = axis.values().map(str::to_owned).collect();
            }
        } else if !values.is_empty() {
            fields.problem_at("values", "values need the key \"axis\"");
        }
        let expected = expected(fields, axis.is_some(), values.len());
        let [topic, yes, no, limits_from] =
            ["topic", "yes", "no", "limits-from"].map(|key| fields.text(key));
        if expected.is_none() {
            for (key, given) in [("yes", &yes), ("no", &no), ("limits-from", &limits_from)] {
                if given.is_some() {
                    fields.problem_at(
                        key,
                        format!("{key} needs an expectation, such as \"at-most\""),
                    );
                }
            }
        }
        if key == "says" {
            for (key, given) in [("yes", &yes), ("no", &no), ("topic", &topic)] {
                if given.is_some() {
                    fields.problem_at(key, format!("{key} needs a question: \"asks\""));
                }
            }
        }
        if key == "says" && expected.is_none() && figure.is_some() {
            fields.problem(
                "a statement with a figure needs one of the keys \"expect\", \"at-least\" and \"at-most\"",
            );
        }
        if figure.is_none() && (key == "asks" || expected.is_some()) {
            fields.problem("the key \"figure\" is missing: which one decides it?");
        }
        Some(DeclaredQuestion {
            question: Question {
                text,
                is_statement: key == "says",
                figure,
                axis,
                values,
                expected,
                cells: Vec::new(),
                topic,
                yes,
                no,
                limits_from,
                note: fields.text("note"),
            },
            when,
        })
    })
}

/// The expectation, if there is one.
fn expected(fields: &mut Fields<'_>, has_axis: bool, values: usize) -> Option<Expected> {
    let relation = fields.text("expect");
    let limits = (fields.number("at-least"), fields.number("at-most"));
    let of = fields.text("of");
    let has_limits = limits.0.is_some() || limits.1.is_some();
    if relation.is_some() && (has_limits || of.is_some()) {
        fields.problem_at("expect", "expect excludes the keys of limits");
        return None;
    }
    if of.is_some() && !has_limits {
        fields.problem_at("of", "of needs the key \"at-least\" or \"at-most\"");
        return None;
    }
    if matches!(limits, (Some(low), Some(high)) if low > high) {
        fields.problem_at("at-least", "at-least is above at-most");
        return None;
    }
    let default = if has_axis { "ratio" } else { "value" };
    let expected = match relation.as_deref() {
        Some("larger") => Expected::Larger,
        Some("smaller") => Expected::Smaller,
        Some("not-smaller") => Expected::NotSmaller,
        Some("not-larger") => Expected::NotLarger,
        Some(_) => Expected::Same,
        None if !has_limits => return None,
        None => match of.as_deref().unwrap_or(default) {
            "value" => return Some(Expected::Value(limits.0, limits.1)),
            "difference" => Expected::Difference(limits.0, limits.1),
            _ => Expected::Ratio(limits.0, limits.1),
        },
    };
    if !has_axis || values != 2 {
        fields.problem("a comparison needs the key \"axis\" and two values of it");
        return None;
    }
    Some(expected)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::matrix::Matrix;

    fn read(text: &str) -> Result<Vec<Question>, Vec<String>> {
        let text =
            format!("[axes]\nwire = [\"h1\", \"h2\"]\nusers = [10, 100]\n[[question]]\n{text}");
        let document = Document::of_text(Path::new("lab.toml"), &text).unwrap();
        let mut problems = Vec::new();
        let matrix = Matrix::read(&document, &mut problems);
        let questions = questions(&document, &matrix.axes, &mut problems);
        match problems.is_empty() {
            true => Ok(questions.into_iter().map(|one| one.question).collect()),
            false => Err(problems.iter().map(ToString::to_string).collect()),
        }
    }

    #[test]
    fn questions_and_statements_are_read() {
        let one =
            &read("asks = \"H1 or H2?\"\nfigure = \"latency_p95\"\naxis = \"wire\"\n").unwrap()[0];
        assert!(!one.is_statement && one.expected.is_none());
        assert_eq!(one.values, ["h1", "h2"]);
        let says =
            "says = \"H2 is twice as fast.\"\nfigure = \"requests_per_second\"\naxis = \"wire\"\n";
        let one = &read(&format!("{says}at-least = 1.8\nat-most = 2.2\n")).unwrap()[0];
        assert_eq!(one.expected, Some(Expected::Ratio(Some(1.8), Some(2.2))));
        let one = &read(&format!("{says}expect = \"not-smaller\"\n")).unwrap()[0];
        assert_eq!(one.expected, Some(Expected::NotSmaller));
        let one = &read("says = \"Fast.\"\nfigure = \"latency_p95\"\nat-most = 50\n").unwrap()[0];
        assert_eq!(one.expected, Some(Expected::Value(None, Some(50.0))));
        let one = &read(
            "asks = \"Fast?\"\nfigure = \"latency_p95\"\nat-most = 50\nlimits-from = \"the SLA\"\n\
             yes = \"It is fast\"\nno = \"It is slow\"\n",
        )
        .unwrap()[0];
        assert_eq!(one.limits_from.as_deref(), Some("the SLA"));
        assert_eq!(one.yes.as_deref(), Some("It is fast"));
        assert_eq!(one.no.as_deref(), Some("It is slow"));
        let one = &read("says = \"H3 is faster.\"\nnote = \"No system has it.\"\n").unwrap()[0];
        assert!(one.is_statement && one.figure.is_none());
    }

    #[test]
    fn a_statement_that_nothing_could_decide_is_an_error() {
        let figure = "figure = \"latency_p95\"\n";
        for (text, problem) in [
            (
                format!("says = \"Fast.\"\n{figure}"),
                "needs one of the keys",
            ),
            ("asks = \"Fast?\"\n".to_owned(), "\"figure\" is missing"),
            (
                format!("asks = \"Fast?\"\n{figure}axis = \"wier\"\n"),
                "did you mean \"wire\"?",
            ),
            (
                format!("asks = \"Fast?\"\n{figure}axis = \"wire\"\nvalues = \"h3\"\n"),
                "unknown value of the axis wire \"h3\"",
            ),
            (
                format!("says = \"Fast.\"\n{figure}expect = \"larger\"\n"),
                "two values of it",
            ),
            (
                format!("says = \"Fast.\"\n{figure}at-least = 2\nat-most = 1\n"),
                "at-least is above at-most",
            ),
            (
                format!("asks = \"Fast?\"\n{figure}yes = \"It is\"\n"),
                "yes needs an expectation",
            ),
            (
                format!("says = \"Fast.\"\n{figure}at-most = 1\nyes = \"It is\"\n"),
                "yes needs a question",
            ),
            (
                "asks = \"Fast?\"\nfigure = \"latency_p75\"\n".to_owned(),
                "unknown figure",
            ),
        ] {
            let problems = read(&text).unwrap_err();
            assert!(problems[0].contains(problem), "{problems:?}");
        }
    }
}
