//! Finds the records that a passage names by their labels.

use crate::records::{Grid, Record};

/// Minimum number of letters of a label. Shorter ones are words of other phrases.
const MIN_LETTERS: usize = 3;

/// The text without markup, in lower case.
pub fn strip_markup(text: &str) -> String {
    text.replace(['*', '`', '"'], "").to_lowercase()
}

/// Whether a lower-case text contains a phrase that is not a part of a longer word.
pub fn has_phrase(lower: &str, phrase: &str) -> bool {
    let is_word = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '/' | '+'))
    };
    lower.match_indices(phrase).any(|(at, _)| {
        let before = lower.get(..at).and_then(|text| text.chars().next_back());
        let after = lower
            .get(at + phrase.len()..)
            .and_then(|text| text.chars().next());
        !is_word(before) && !is_word(after)
    })
}

/// The records of a grid that a lower-case text names. A label that is a part of another named label
/// does not count, nor does one that several records have.
pub fn mentioned_records<'r>(grid: &'r Grid, lower: &str) -> Vec<&'r Record> {
    let labels: Vec<(String, &Record)> = grid
        .records
        .iter()
        // Most records are not named, and this is faster than a search for the whole label.
        .filter(|record| {
            let word = record.words.first();
            word.is_some_and(|word| lower.contains(word.as_str()))
        })
        .map(|record| (strip_markup(&record.label).trim().to_owned(), record))
        .filter(|(label, _)| {
            label
                .chars()
                .filter(|letter| letter.is_alphabetic())
                .count()
                >= MIN_LETTERS
        })
        .filter(|(label, _)| has_phrase(lower, label))
        .collect();
    let is_part = |label: &str| {
        labels
            .iter()
            .any(|(other, _)| other != label && other.contains(label))
    };
    let several = |label: &str| labels.iter().filter(|(other, _)| other == label).count() > 1;
    labels
        .iter()
        .filter(|(label, _)| !is_part(label) && !several(label))
        .map(|(_, record)| *record)
        .collect()
}
