//! Footnotes: the reasons for missing and suspect figures, each reason once.

use plimsoll_plots::number;
use plimsoll_results::lab::{Cell, CellState, LabResult};

use crate::document::Words;
use crate::naming::capitalize;

/// A reason with its numbers taken out, and the range of each number over the cells.
struct Reason {
    pieces: Vec<String>,
    numbers: Vec<(f64, f64)>,
    state: &'static str,
    /// The longest request of the cells, in milliseconds; 0 without requests.
    longest: f64,
}

/// Linux waits at least this long for an acknowledgment before it sends a segment again (TCP_RTO_MIN), in milliseconds.
const RETRANSMISSION_TIMEOUT: f64 = 200.0;

/// The footnotes of a report. A reason has the same letter in every table.
pub struct Footnotes {
    reasons: Vec<Reason>,
}

impl Footnotes {
    /// The reasons of all cells, in the order of the matrix.
    pub fn new(result: &LabResult) -> Footnotes {
        let mut notes = Footnotes {
            reasons: Vec::new(),
        };
        for cell in &result.cells {
            for (state, text) in reasons(cell) {
                notes.add(state, &text, longest_request(cell));
            }
        }
        notes
    }

    fn add(&mut self, state: &'static str, text: &str, longest: f64) {
        let (pieces, numbers) = split_at_numbers(text);
        let known = self
            .reasons
            .iter_mut()
            .find(|reason| reason.state == state && reason.pieces == pieces);
        if let Some(reason) = known {
            for ((low, high), number) in reason.numbers.iter_mut().zip(numbers) {
                *low = low.min(number);
                *high = high.max(number);
            }
            reason.longest = reason.longest.max(longest);
        } else {
            self.reasons.push(Reason {
                pieces,
                numbers: numbers.into_iter().map(|number| (number, number)).collect(),
                state,
                longest,
            });
        }
    }

    /// The places of a cell's reasons; none for a valid cell.
    pub fn places_of_reasons(&self, cell: &Cell) -> Vec<usize> {
        let mut marks: Vec<usize> = reasons(cell)
            .iter()
            .filter_map(|(state, text)| {
                let pieces = split_at_numbers(text).0;
                self.reasons
                    .iter()
                    .position(|reason| reason.state == *state && reason.pieces == pieces)
            })
            .collect();
        marks.sort_unstable();
        marks.dedup();
        marks
    }

    /// The letters of a cell's reasons, as in `a, c`.
    pub fn letters(&self, cell: &Cell) -> String {
        let letters: Vec<String> = self
            .places_of_reasons(cell)
            .into_iter()
            .map(footnote_letter)
            .collect();
        letters.join(",")
    }

    /// The footnotes with these places.
    pub fn texts(&self, places: &[usize]) -> Vec<Words> {
        let mut places = places.to_vec();
        places.sort_unstable();
        places.dedup();
        places
            .into_iter()
            .filter_map(|place| {
                let reason = self.reasons.get(place)?;
                Some(Words::new().strong(footnote_letter(place)).text(format!(
                    " {}: {}",
                    reason.state,
                    reason_sentence(reason) + &retransmission_effect(reason)
                )))
            })
            .collect()
    }
}

/// The effect of retransmissions on the latency of the cells. Empty for other reasons.
fn retransmission_effect(reason: &Reason) -> String {
    let is_network = reason
        .pieces
        .iter()
        .any(|piece| piece.contains("retransmitted"));
    if !is_network || reason.longest <= 0.0 {
        return String::new();
    }
    let longest = number::short(reason.longest);
    match reason.longest < RETRANSMISSION_TIMEOUT {
        true => format!(
            " The longest request took {longest} ms, so none waited for a retransmission timeout ({} ms or more).",
            number::tick(RETRANSMISSION_TIMEOUT)
        ),
        false => format!(
            " The longest request took {longest} ms, so some may have waited for a retransmission timeout ({} ms or more).",
            number::tick(RETRANSMISSION_TIMEOUT)
        ),
    }
}

/// The longest request of a cell, in milliseconds.
fn longest_request(cell: &Cell) -> f64 {
    let runs = cell.repeats.iter();
    runs.map(|run| run.latency.max).fold(0.0, f64::max)
}

/// `a` to `z`, then `aa`.
pub fn footnote_letter(place: usize) -> String {
    let last = char::from(b'a' + u8::try_from(place % 26).unwrap_or(0));
    match place / 26 {
        0 => last.to_string(),
        more => format!("{}{last}", footnote_letter(more - 1)),
    }
}

/// The state and the reasons of a cell that is not valid.
fn reasons(cell: &Cell) -> Vec<(&'static str, String)> {
    let one = |state, text: &str| vec![(state, text.to_owned())];
    match &cell.state {
        CellState::Insane(why) => one("not measured", why),
        CellState::Failed(why) => one("failed", why),
        CellState::LeftOut => one("not measured", "not part of this form of the lab"),
        CellState::Missing => one("not measured", "not run yet"),
        CellState::Measured | CellState::Partial(_) => {
            let state = match cell.verdict.as_str() {
                "valid" => "fewer runs",
                "suspect" => "suspect",
                _ => "invalid",
            };
            let mut found: Vec<(&'static str, String)> = Vec::new();
            if let CellState::Partial(why) = &cell.state {
                found.push(("fewer runs", why.clone()));
            }
            if state == "fewer runs" {
                return found;
            }
            found.extend(
                cell.reasons
                    .iter()
                    .map(|reason| (state, strip_run(reason).to_owned())),
            );
            // An error that the audit found makes a cell suspect, too.
            let errors = cell
                .findings
                .iter()
                .filter(|finding| finding.level == "error");
            if cell.reasons.is_empty() {
                found.extend(errors.map(|finding| (state, finding.text.clone())));
            }
            if found.is_empty() {
                found.push((state, "no reason was recorded".to_owned()));
            }
            found
        }
    }
}

/// A reason without the run and the side it comes from: `repeat 2: client: …`.
fn strip_run(reason: &str) -> &str {
    let rest = reason
        .strip_prefix("repeat ")
        .and_then(|rest| rest.split_once(": "))
        .filter(|(number, _)| number.chars().all(|c| c.is_ascii_digit()))
        .map_or(reason, |(_, rest)| rest);
    ["client: ", "server: ", "network: ", "clock: "]
        .iter()
        .find_map(|side| rest.strip_prefix(side))
        .unwrap_or(rest)
}

/// The text between the numbers, and the numbers. Digits within a word or a path are not a number.
fn split_at_numbers(text: &str) -> (Vec<String>, Vec<f64>) {
    let mut pieces = vec![String::new()];
    let mut numbers = Vec::new();
    let mut rest = text;
    let mut in_word = false;
    while let Some(c) = rest.chars().next() {
        let end = rest
            .char_indices()
            .find(|(at, c)| {
                !(c.is_ascii_digit()
                    || *c == '.' && rest[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
            })
            .map_or(rest.len(), |(at, _)| at);
        let number = c.is_ascii_digit().then(|| rest[..end].parse::<f64>());
        if let (Some(Ok(number)), false) = (number, in_word) {
            numbers.push(number);
            pieces.push(String::new());
            rest = &rest[end..];
            in_word = false;
        } else {
            if let Some(last) = pieces.last_mut() {
                last.push(c);
            }
            // A hyphen continues a word, but starts a negative number.
            in_word = c.is_alphanumeric() || c == '_' || c == '/' || (c == '-' && in_word);
            rest = &rest[c.len_utf8()..];
        }
    }
    (pieces, numbers)
}

/// The reason as a sentence, with the range of each number.
fn reason_sentence(reason: &Reason) -> String {
    let mut text = String::new();
    for (index, piece) in reason.pieces.iter().enumerate() {
        text.push_str(piece);
        if let Some((low, high)) = reason.numbers.get(index) {
            text.push_str(&number::tick(*low));
            if high > low {
                text.push_str(&format!(" to {}", number::tick(*high)));
            }
        }
    }
    let text = capitalize(text.trim());
    if text.ends_with(['.', '!', '?']) {
        text
    } else {
        format!("{text}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suspect(name: &str, reason: &str) -> Cell {
        Cell {
            name: name.to_owned(),
            state: CellState::Measured,
            verdict: "suspect".to_owned(),
            reasons: vec![reason.to_owned()],
            ..Cell::default()
        }
    }

    fn texts(cells: &[Cell]) -> Vec<String> {
        let mut notes = Footnotes {
            reasons: Vec::new(),
        };
        for cell in cells {
            for (state, text) in reasons(cell) {
                notes.add(state, &text, longest_request(cell));
            }
        }
        let places: Vec<usize> = cells
            .iter()
            .flat_map(|cell| notes.places_of_reasons(cell))
            .collect();
        notes.texts(&places).iter().map(Words::to_text).collect()
    }

    #[test]
    fn one_reason_with_other_numbers_is_one_footnote() {
        let cells = [
            suspect("a", "repeat 1: client: a worker used 93% of its processor"),
            suspect("b", "repeat 3: client: a worker used 97% of its processor"),
            suspect("c", "repeat 2: network: 130 of 9618 TCP segments were lost"),
        ];
        assert_eq!(
            texts(&cells),
            [
                "a suspect: A worker used 93 to 97% of its processor.",
                "b suspect: 130 of 9618 TCP segments were lost."
            ]
        );
    }

    #[test]
    fn the_effect_of_retransmissions_is_stated() {
        for (longest, effect) in [
            (
                13.2,
                "so none waited for a retransmission timeout (200 ms or more).",
            ),
            (
                240.0,
                "so some may have waited for a retransmission timeout (200 ms or more).",
            ),
        ] {
            let mut cell = suspect(
                "a",
                "repeat 1: network: 152 of 13,196 TCP segments were retransmitted",
            );
            let mut run = plimsoll_results::lab::Repeat::default();
            run.latency.max = longest;
            cell.repeats = vec![run];
            let texts = texts(&[cell]);
            assert!(texts[0].ends_with(effect), "{texts:?}");
        }
    }

    #[test]
    fn equal_numbers_are_not_a_range_and_digits_in_words_are_not_numbers() {
        let cells = [
            suspect("a", "p99 of h2 was 4.5ms late"),
            suspect("b", "p99 of h2 was 4.5ms late"),
        ];
        assert_eq!(texts(&cells), ["a suspect: P99 of h2 was 4.5ms late."]);
        let path = "results/mylab-quick-20261129T021646Z/cells/1: 1234567 of -1 failed";
        assert_eq!(
            texts(&[suspect("a", path)]),
            ["a suspect: results/mylab-quick-20261129T021646Z/cells/1: 1,234,567 of -1 failed."]
        );
    }

    #[test]
    fn a_cell_without_a_measurement_says_why_and_a_valid_one_has_no_mark() {
        let missing = Cell::default();
        assert_eq!(texts(&[missing]), ["a not measured: Not run yet."]);
        let mut valid = suspect("a", "");
        valid.verdict = "valid".to_owned();
        assert!(texts(&[valid]).is_empty());
        let mut silent = suspect("a", "");
        silent.reasons.clear();
        assert_eq!(texts(&[silent]), ["a suspect: No reason was recorded."]);
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!(
            [0, 25, 26, 51, 52].map(footnote_letter),
            ["a", "z", "aa", "az", "ba"]
        );
    }
}
