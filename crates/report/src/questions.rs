//! The answers at the top of a report: to the questions of the lab, and on the statements of the document that it
//! repeats. Only the figures of valid cells determine them.

mod conditions;
mod figures;
mod limits;
mod ranking;
mod verdict;

use plimsoll_results::lab::{Cell, LabResult, Question};

use crate::document::{Block, Head, Table, Words};
use crate::naming::capitalize;
use crate::rate_limits;
use verdict::{Answer, Verdict};

/// The questions of the lab, each with its answer. Statements that the lab does not test are included, because readers
/// look for them.
pub fn questions(result: &LabResult) -> Vec<Words> {
    let shown = result
        .questions
        .iter()
        .filter(|one| !one.is_statement || one.figure.is_none());
    let answers: Vec<Answer> = shown.map(|one| Answer::of(result, one)).collect();
    let points = answers.iter().map(answer_point);
    points.chain(limits_of_rates(result, &answers)).collect()
}

/// States once for all questions what limited their rates.
fn limits_of_rates(result: &LabResult, answers: &[Answer]) -> Option<Words> {
    let rates = answers
        .iter()
        .filter(|answer| answer.question.figure.as_deref() == Some(rate_limits::FIGURE));
    let cells = rates.flat_map(|answer| answer.groups.iter().flat_map(|group| &group.0));
    let cells: Vec<&Cell> = cells.map(|(cell, _)| *cell).collect();
    let limit = rate_limits::describe_rate_limit(result, &cells)?;
    Some(
        Words::new()
            .strong("What limits these rates")
            .text(format!(": {limit}.")),
    )
}

/// The questions and then the statements of the source that valid cells answer, one sentence each. A form may lack the
/// cells of others.
pub fn answer_sentences(result: &LabResult) -> Vec<Words> {
    let (statements, questions): (Vec<&Question>, Vec<&Question>) =
        result.questions.iter().partition(|one| one.is_statement);
    questions
        .into_iter()
        .chain(statements)
        .map(|one| Answer::of(result, one))
        .filter(|answer| !answer.groups.is_empty())
        .map(|answer| match answer.question.is_statement {
            true => Words::plain("The original says: ").append(statement_words(&answer)),
            false => answer_point(&answer),
        })
        .collect()
}

/// The statements of the source as a table, and the meaning of its verdicts. Empty if there are no statements.
pub fn statements(result: &LabResult) -> Vec<Block> {
    let statements = result.questions.iter().filter(|one| one.is_statement);
    let answers: Vec<Answer> = statements.map(|one| Answer::of(result, one)).collect();
    if answers.is_empty() {
        return Vec::new();
    }
    let conditions: Vec<String> = answers
        .iter()
        .map(|answer| conditions::format_conditions(answer, &answer.question.text))
        .collect();
    let have_conditions = conditions.iter().any(|text| !text.is_empty());
    let mut head = vec!["statement", "here", "holds if"];
    if have_conditions {
        head.push("load and place");
    }
    head.push("measured");
    let rows = answers.iter().zip(conditions).map(|(answer, conditions)| {
        let mut row = vec![
            Words::plain(&answer.question.text),
            Words::new().strong(answer.verdict()),
            Words::plain(limits::format_expectation(answer)),
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
    if answers
        .iter()
        .any(|answer| answer.question.expected.is_some())
    {
        blocks.push(Block::Prose(Words::plain(verdict_meaning(&answers))));
    }
    blocks
}

/// Explains how figures decide whether a statement holds.
fn verdict_meaning(answers: &[Answer]) -> String {
    let floor = match answers.iter().any(limits::has_floor) {
        true => {
            " A difference below the noise floor proves nothing: two measurements of the same cell (one combination of \
             system, load and place) may differ by as much."
        }
        false => "",
    };
    format!(
        "A statement holds if the whole 95 % interval meets the condition, and does not hold if no part of it does; \
         otherwise it is uncertain.{floor}"
    )
}

/// `**HTTP is faster than gRPC**: p95 in ms (100 users): HTTP 0.51, gRPC 0.67.`: words that decide the question, then the figures.
fn answer_point(answer: &Answer) -> Words {
    let question = answer.question;
    if question.figure.is_none() {
        return match &question.note {
            Some(note) => Words::new()
                .strong(note)
                .text(format!(" Not tested: {}", question.text)),
            None => Words::new().strong(format!("Not tested: {}", question.text)),
        };
    }
    let answered = answer_sentence(answer);
    let shown = answered.as_deref().unwrap_or(&question.text);
    let figures = answer.figures(&conditions::format_conditions(answer, shown));
    match &answered {
        Some(text) => Words::new()
            .strong(capitalize(text))
            .text(": ")
            .append(figures.without_emphasis()),
        None => append_verdict(Words::new().strong(&question.text), answer, figures),
    }
}

/// The answer to the question as a sentence; `None` if the figures do not decide it.
fn answer_sentence(answer: &Answer) -> Option<String> {
    let question = answer.question;
    if question.expected.is_none() {
        return ranking::rank_groups(answer);
    }
    let verdicts = answer.verdicts();
    let all = |wanted| !verdicts.is_empty() && verdicts.iter().all(|one| *one == wanted);
    let text = match (all(Verdict::Holds), all(Verdict::Fails)) {
        (true, _) => question.yes.as_ref(),
        (_, true) => question.no.as_ref(),
        _ => None,
    };
    text.cloned()
}

/// `gRPC takes longer. Holds: p95 in ms: HTTP 0.51, gRPC 0.67 (1.31 times).`
fn statement_words(answer: &Answer) -> Words {
    let conditions = conditions::format_conditions(answer, &answer.question.text);
    let figures = answer.figures(&conditions);
    append_verdict(Words::plain(&answer.question.text), answer, figures)
}

fn append_verdict(text: Words, answer: &Answer, figures: Words) -> Words {
    let verdict = answer.verdict();
    let words = text.text(" ");
    match (verdict.is_empty(), figures.0.is_empty()) {
        (true, _) => words.append(figures),
        (false, true) => words.text(format!("{}.", capitalize(&verdict))),
        (false, false) => words
            .text(format!("{}: ", capitalize(&verdict)))
            .append(figures),
    }
}
