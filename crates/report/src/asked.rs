//! The answers at the top of a report: to the questions of the lab, and on the statements of the document that it
//! repeats. Verdicts follow from the figures of valid cells alone.

mod answer;
mod conditions;
mod figures;
mod tolerance;

use plimsoll_results::lab::{Asked, LabResult};

use crate::document::{Block, Head, Table, Words};
use crate::naming::capital;
use answer::Answer;

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

/// The statements of the source as a table, and what its verdicts mean; nothing without any.
pub fn statements(result: &LabResult) -> Vec<Block> {
    let asked = result.asked.iter().filter(|one| one.is_statement);
    let answers: Vec<Answer> = asked.map(|one| Answer::of(result, one)).collect();
    if answers.is_empty() {
        return Vec::new();
    }
    let conditions: Vec<String> = answers.iter().map(conditions::of).collect();
    let have_conditions = conditions.iter().any(|text| !text.is_empty());
    let mut head = vec!["statement", "here", "holds if"];
    if have_conditions {
        head.push("load and place");
    }
    head.push("measured");
    let rows = answers.iter().zip(conditions).map(|(answer, conditions)| {
        let mut row = vec![
            Words::plain(&answer.asked.text),
            Words::new().strong(answer.verdict()),
            Words::plain(tolerance::of(answer)),
        ];
        if have_conditions {
            row.push(Words::plain(conditions));
        }
        row.push(answer.figures(""));
        row
    });
    let table = Table {
        caption: "Statements of the original".to_owned(),
        head: head.into_iter().map(Head::words).collect(),
        rows: rows.collect(),
        names: 1,
    };
    let mut blocks = vec![Block::Table(table)];
    if answers.iter().any(|answer| answer.asked.expected.is_some()) {
        blocks.push(Block::Prose(Words::plain(meaning(&answers))));
    }
    blocks
}

/// How figures decide whether a statement holds.
fn meaning(answers: &[Answer]) -> String {
    let floor = match answers.iter().any(tolerance::has_floor) {
        true => " A difference below the noise floor decides nothing.",
        false => "",
    };
    format!(
        "A statement holds if the whole 95 % interval meets the condition, and does not hold if no part of it does; \
         otherwise it is uncertain.{floor}"
    )
}

/// `Is it fast? Yes: p95 near: HTTP 0.51, gRPC 0.67 ms. Load and place: 100 users.`
fn sentence(answer: &Answer) -> Words {
    let asked = answer.asked;
    let words = match asked.is_statement {
        true => Words::plain(&asked.text),
        false => Words::new().strong(&asked.text),
    };
    let words = words.text(" ");
    let verdict = answer.verdict();
    let figures = answer.figures(&conditions::of(answer));
    match (verdict.is_empty(), figures.0.is_empty()) {
        (true, _) => words.and(figures),
        (false, true) => words.text(format!("{}.", capital(&verdict))),
        (false, false) => words.text(format!("{}: ", capital(&verdict))).and(figures),
    }
}
