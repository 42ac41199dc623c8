//! The conclusion at the top of a report: three to six sentences from comparisons, objectives and
//! searches.

use plimsoll_plots::number::{self, Place};
use plimsoll_results::lab::{Cell, CellState, Figure, LabResult};

use crate::document::Words;
use crate::leads::{Lead, find, leads};
use crate::naming::{capital, counted, short_name};
use crate::{claims, groups, objectives, table_answers};

/// Sentences of a conclusion.
const MOST_SENTENCES: usize = 6;
/// Sentences of it about comparisons, so that objectives and limits have a place.
const MOST_COMPARISONS: usize = 4;
/// Sentences about figures, if no comparison was made.
const MOST_FIGURES: usize = 3;
/// Sentences about searches for a limit.
const MOST_LIMITS: usize = 2;
/// Sentences that answer the questions of tables.
const MOST_TABLES: usize = 2;

/// The sentences, most important first.
pub fn sentences(result: &LabResult) -> Vec<Words> {
    let mut limits: Vec<Words> = result
        .cells
        .iter()
        .filter_map(|cell| limit(result, cell))
        .collect();
    limits.truncate(MOST_LIMITS);
    let mut objectives = objectives::sentences(result);
    objectives.truncate(MOST_SENTENCES - MOST_FIGURES);
    let mut sentences = table_answers::sentences(result);
    sentences.truncate(MOST_TABLES);
    let left = MOST_SENTENCES - sentences.len() - limits.len().min(1) - objectives.len().min(1);
    let compared = compared(result);
    sentences.extend(compared.into_iter().take(left.min(MOST_COMPARISONS)));
    if sentences.is_empty() {
        sentences = leads(result)
            .iter()
            .take(MOST_FIGURES)
            .filter_map(|lead| range(result, lead))
            .collect();
    }
    sentences.extend(limits);
    sentences.extend(objectives);
    sentences.truncate(MOST_SENTENCES);
    // Without a valid cell, nothing above is more than a list of what is missing.
    if !result.cells.iter().any(|cell| cell.verdict == "valid") {
        return vec![Words::new().strong("No conclusion").text(if result.cells.is_empty() {
            ": the lab has no cells."
        } else {
            ": no cell of this run is valid. The tables show what was measured, and why it is doubtful."
        })];
    }
    if sentences.len() < MOST_SENTENCES {
        sentences.extend(claims::excluded(result));
    }
    sentences
}

/// One sentence per group of comparisons: those that the lab declares as primary, then one for each
/// axis, then the others in order.
fn compared(result: &LabResult) -> Vec<Words> {
    let mut said: Vec<(bool, &str, Words)> = groups::groups(result)
        .iter()
        .filter_map(|group| {
            let primary = group.members.iter().any(|one| one.primary);
            Some((primary, group.axis, claims::sentence(result, group)?))
        })
        .collect();
    said.sort_by_key(|one| !one.0);
    let is_early = |at: usize| said[at].0 || said[..at].iter().all(|one| one.1 != said[at].1);
    let (early, late): (Vec<usize>, Vec<usize>) = (0..said.len()).partition(|at| is_early(*at));
    early
        .into_iter()
        .chain(late)
        .filter_map(|at| said.get(at).map(|one| one.2.clone()))
        .collect()
}

/// The valid cells where a figure is lowest and highest.
fn range(result: &LabResult, lead: &Lead) -> Option<Words> {
    let mut found: Vec<(&Cell, &Figure)> = result
        .cells
        .iter()
        .filter(|cell| cell.verdict == "valid")
        .filter_map(|cell| Some((cell, find(cell, lead)?)))
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
    let words = Words::plain(format!("{} is ", capital(&lead.label)));
    let (least, most) = (print(low), print(high));
    if found.len() == 1 {
        return Some(
            words
                .figure(low.value, low.interval, &lead.unit)
                .text(" at ")
                .code(short_name(result, low_cell))
                .text("."),
        );
    }
    // Equal figures are not a range.
    if least == most {
        return Some(words.strong(least).text(format!(
            " {} in all {} valid cells.",
            lead.unit,
            found.len()
        )));
    }
    Some(
        words
            .strong(least)
            .text(format!(" {} at ", lead.unit))
            .code(short_name(result, low_cell))
            .text(" and ")
            .strong(most)
            .text(format!(" {} at ", lead.unit))
            .code(short_name(result, high_cell))
            .text(format!(
                ", the lowest and the highest of {}.",
                counted(found.len(), "valid cell", "valid cells")
            )),
    )
}

/// The result of a search for the highest rate. A suspect search does not count.
fn limit(result: &LabResult, cell: &Cell) -> Option<Words> {
    let search = cell
        .limit
        .as_ref()
        .filter(|_| cell.verdict == "valid" && matches!(cell.state, CellState::Measured))?;
    let words = Words::plain(format!(
        "The highest rate that meets {} at ",
        search.objective
    ))
    .code(short_name(result, cell));
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
