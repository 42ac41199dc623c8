//! The conclusion at the top of a report: three to six sentences from comparisons, objectives and
//! searches.

use plimsoll_plots::number::{self, Place};
use plimsoll_results::lab::{Cell, CellState, Figure, LabResult};

use crate::document::{Block, Words};
use crate::groups::{Theme, groups, themes};
use crate::leads::{Lead, find_figure, leads};
use crate::naming::{capitalize, describe_cell, format_count};
use crate::table_answers::{self, Answer};
use crate::{claims, objectives, places, questions};

/// Maximum number of words in the sentences that are not collapsed.
const MAX_WORDS: usize = 150;
/// Maximum number of sentences in a conclusion.
const MAX_SENTENCES: usize = 6;
/// Maximum number of sentences about comparisons, to leave space for objectives and limits.
const MAX_COMPARISONS: usize = 4;
/// Maximum number of sentences about figures, if no comparison was made.
const MAX_FIGURES: usize = 3;
/// Maximum number of sentences about objectives.
const MAX_OBJECTIVES: usize = 3;
/// Maximum number of sentences about searches for a limit.
const MAX_LIMITS: usize = 2;
/// Maximum number of table questions answered in sentences, if the conclusion has sentences only.
const MAX_QUESTIONS: usize = 2;
/// Maximum number of table questions answered on a page, by a sentence or a small table.
const MAX_QUESTIONS_ON_PAGE: usize = 3;

/// The conclusion of a page.
pub struct Conclusion {
    /// An explanation of the lab's places, if a line between them is emulated.
    pub places: Option<Words>,
    /// The sentences, most important first.
    pub sentences: Vec<Words>,
    /// The statements of the source, if the lab file repeats any.
    pub statements: Vec<Block>,
    /// The sentences that are collapsed.
    pub details: Vec<Words>,
    /// The small tables that answer the questions of declared tables, with their notes.
    pub tables: Vec<Block>,
}

/// The conclusion without tables.
pub fn sentences(result: &LabResult) -> Vec<Words> {
    let answered = questions::answer_sentences(result);
    if !answered.is_empty() {
        return answered;
    }
    let answers = table_answers::answers(result);
    // Searches for a limit have separate sentences.
    let answered = answers.iter().filter(|answer| !answer.is_of_limits());
    let answered = answered.take(MAX_QUESTIONS).map(|answer| answer.sentence());
    conclusion(
        result,
        answered.collect(),
        search_sentences(result),
        Vec::new(),
    )
}

/// The conclusion in sentences and small tables.
pub fn page_conclusion(result: &LabResult) -> Conclusion {
    let mut answers = table_answers::answers(result);
    // Searches for a limit have separate sentences, unless a table shows the limits.
    answers.retain(|answer| !answer.is_of_limits() || answer.table().is_some());
    answers.truncate(MAX_QUESTIONS_ON_PAGE);
    let has_limits = answers.iter().any(|answer| answer.is_of_limits());
    let mut tables = Vec::new();
    for answer in &answers {
        let Some(table) = answer.table() else {
            continue;
        };
        tables.push(Block::Table(table));
        if !answer.reasons().is_empty() {
            tables.push(Block::Points(answer.reasons().to_vec()));
        }
        let gaps = answer.has_gaps().then_some("–: the lab has no such cell.");
        let note: Vec<&str> = answer.note().into_iter().chain(gaps).collect();
        if !note.is_empty() {
            tables.push(Block::Prose(Words::plain(note.join(" "))));
        }
    }
    let is_sentence = |answer: &&Answer| answer.table().is_none();
    // The answer to the first question comes first. Later answers follow the comparisons.
    let (first, later) = answers.split_at(answers.len().min(1));
    let sentences_of = |answers: &[Answer]| -> Vec<Words> {
        let sentences = answers.iter().filter(is_sentence);
        sentences.map(|answer| answer.sentence()).collect()
    };
    let limits = match has_limits {
        true => Vec::new(),
        false => search_sentences(result),
    };
    let found = conclusion(result, sentences_of(first), limits, sentences_of(later));
    if !result.questions.is_empty() {
        return Conclusion {
            places: places::places_sentence(result),
            sentences: questions::questions(result),
            statements: questions::statements(result),
            details: found,
            tables,
        };
    }
    let (sentences, details) = split_at_word_limit(found);
    Conclusion {
        places: places::places_sentence(result),
        sentences,
        statements: Vec::new(),
        details,
        tables,
    }
}

/// Splits the sentences into those that fit into [`MAX_WORDS`], at least one, and the rest.
fn split_at_word_limit(mut sentences: Vec<Words>) -> (Vec<Words>, Vec<Words>) {
    let mut count = 0;
    let fits = |sentence: &Words| {
        count += sentence.to_text().split_whitespace().count();
        count <= MAX_WORDS
    };
    let shown = sentences.iter().map(fits).take_while(|fits| *fits).count();
    let details = sentences.split_off(shown.max(1).min(sentences.len()));
    (sentences, details)
}

/// The results of searches for the highest rate.
fn search_sentences(result: &LabResult) -> Vec<Words> {
    let cells = result.cells.iter();
    cells
        .filter_map(|cell| search_sentence(result, cell))
        .collect()
}

/// The conclusion: answers to the questions of tables first, then the other findings that fit.
fn conclusion(
    result: &LabResult,
    answered: Vec<Words>,
    mut limits: Vec<Words>,
    later: Vec<Words>,
) -> Vec<Words> {
    let mut objectives = objectives::sentences(result);
    let mut sentences = answered;
    let mut compared = theme_sentences(result);
    let has_compared = !compared.is_empty();
    // Each kind of sentence gets one place before another kind gets its second.
    let mut left = MAX_SENTENCES - sentences.len() - usize::from(!compared.is_empty());
    objectives.truncate(MAX_OBJECTIVES.min(left - limits.len().min(1)));
    left -= objectives.len();
    limits.truncate(MAX_LIMITS.min(left));
    left -= limits.len();
    compared.truncate(MAX_COMPARISONS.min(left + 1));
    sentences.extend(compared);
    if sentences.is_empty() {
        sentences = leads(result)
            .iter()
            .take(MAX_FIGURES)
            .filter_map(|lead| range_sentence(result, lead))
            .collect();
    }
    sentences.extend(limits);
    sentences.extend(objectives);
    sentences.extend(later);
    sentences.truncate(MAX_SENTENCES);
    // Without a valid cell, the sentences above would only list what is missing.
    if !result.cells.iter().any(|cell| cell.verdict == "valid") {
        return vec![Words::new().strong("No conclusion").text(if result.cells.is_empty() {
            ": the lab has no cells."
        } else {
            ": no cell of this run is valid. The tables show what was measured, and why it is doubtful."
        })];
    }
    if !has_compared && sentences.len() < MAX_SENTENCES {
        sentences.extend(claims::excluded_sentence(result));
    }
    sentences
}

/// One sentence for each theme. The first theme of each axis comes before the other themes. Within both groups, primary
/// themes come first, then those with the most pairs.
fn theme_sentences(result: &LabResult) -> Vec<Words> {
    let groups = groups(result);
    let themes = themes(&groups);
    let mut ranked: Vec<(&Theme, Words)> = themes
        .iter()
        .filter_map(|theme| Some((theme, claims::theme_sentence(result, theme)?)))
        .collect();
    ranked.sort_by_key(|one| {
        let pairs = claims::count_pairs(result, one.0);
        (!one.0.is_primary(), std::cmp::Reverse(pairs))
    });
    let (first, others): (Vec<usize>, Vec<usize>) = (0..ranked.len()).partition(|at| {
        let axis = |at: &usize| ranked.get(*at).map(|one| one.0.first.axis);
        (0..*at).all(|before| axis(&before) != axis(at))
    });
    first
        .into_iter()
        .chain(others)
        .filter_map(|at| ranked.get(at).map(|one| one.1.clone()))
        .collect()
}

/// The valid cells where a figure is lowest and highest.
fn range_sentence(result: &LabResult, lead: &Lead) -> Option<Words> {
    let mut found: Vec<(&Cell, &Figure)> = result
        .cells
        .iter()
        .filter(|cell| cell.verdict == "valid")
        .filter_map(|cell| Some((cell, find_figure(cell, lead)?)))
        .collect();
    found.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let ((low_cell, low), (high_cell, high)) = (found.first()?, found.last()?);
    let print = |figure: &Figure| {
        if figure.value == 0.0 {
            "0".to_owned()
        } else {
            Place::of(figure.value, figure.interval).print(figure.value)
        }
    };
    let words = Words::plain(format!("{} is ", capitalize(&lead.label)));
    let (min, max) = (print(low), print(high));
    if found.len() == 1 {
        return Some(
            words
                .figure(low.value, low.interval, &lead.unit)
                .text(format!(" with {}.", describe_cell(result, low_cell))),
        );
    }
    // Equal figures are not a range.
    if min == max {
        return Some(words.strong(min).text(format!(
            " {} in all {} valid cells.",
            lead.unit,
            found.len()
        )));
    }
    Some(
        words
            .strong(min)
            .text(format!(
                " {} with {}, and ",
                lead.unit,
                describe_cell(result, low_cell)
            ))
            .strong(max)
            .text(format!(
                " {} with {}: the lowest and the highest of {}.",
                lead.unit,
                describe_cell(result, high_cell),
                format_count(found.len(), "valid cell", "valid cells")
            )),
    )
}

/// The result of a search for the highest rate. A suspect search does not count.
fn search_sentence(result: &LabResult, cell: &Cell) -> Option<Words> {
    let search = cell
        .limit
        .as_ref()
        .filter(|_| cell.verdict == "valid" && matches!(cell.state, CellState::Measured))?;
    let words = Words::plain(format!(
        "{}: the highest rate that meets {}",
        capitalize(&describe_cell(result, cell)),
        search.objective
    ));
    let words = match (search.kept, search.broken) {
        (Some(kept), Some(broken)) if kept < broken => words
            .text(" is between ")
            .strong(number::tick(kept))
            .text(" and ")
            .strong(number::tick(broken))
            .text(" requests/s"),
        (Some(kept), _) => words
            .text(" is at least ")
            .strong(number::tick(kept))
            .text(" requests/s"),
        (None, Some(broken)) => words
            .text(" is below ")
            .strong(number::tick(broken))
            .text(" requests/s"),
        (None, None) => words.text(" was not found"),
    };
    Some(words.text(if search.confirmed {
        "."
    } else {
        "; the search ended before this was confirmed."
    }))
}
