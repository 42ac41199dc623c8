//! "A reached 97,400 req/s and B 152,300 req/s", where each figure is the other record's in a table.

use super::misnamed_figure::is_precise;
use super::subject::is_uncertain;
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_number;
use crate::records::{Field, Grids, Record};
use crate::report::Findings;
use crate::rules::prose::shorten;

static NUMBER: Pattern = pattern!(r"(?:^|[^\w.,–-])(\d[\d,]*(?:\.\d+)?)(?:[^\d]|$)");

/// A mention of a record or a number, with its position.
enum Mention<'t> {
    Of(usize),
    Number(&'t str, f64),
}

pub fn check_sentence(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let digits = sentence.chars().filter(char::is_ascii_digit).count();
    if digits < 6 || sentence.len() > 400 || is_uncertain(sentence) {
        return;
    }
    let plain = sentence.replace(['*', '`', '"'], "");
    let lower = plain.to_lowercase();
    let numbers: Vec<(usize, &str, f64)> = NUMBER
        .all(&plain)
        .filter_map(|found| {
            let text = group(&found, 1).trim_end_matches(',');
            let (value, _) = parse_number(text).filter(|_| is_precise(text))?;
            Some((found.get(1)?.start(), text, value))
        })
        .take(8)
        .collect();
    if numbers.len() < 2 {
        return;
    }
    let mut wrong = None;
    for grid in grids.grids() {
        let mut mentions: Vec<(usize, Mention)> = numbers
            .iter()
            .map(|(at, text, value)| (*at, Mention::Number(text, *value)))
            .collect();
        for (index, record) in grid.records.iter().enumerate() {
            mentions.extend(find_mentions(&lower, record).map(|at| (at, Mention::Of(index))));
        }
        mentions.sort_by_key(|(at, _)| *at);
        let mentions: Vec<Mention> = mentions.into_iter().map(|(_, mention)| mention).collect();
        let Some([(one, first), (other, second)]) =
            pair_numbers(&mentions, lower.contains("respectively"))
        else {
            continue;
        };
        let (one, other) = (&grid.records[one], &grid.records[other]);
        if prints_value(one, first.1) || prints_value(other, second.1) {
            return;
        }
        let crossed = one.fields.iter().find(|field| {
            let twin = other.matching_field(field);
            is_printed(field, second.1) && twin.is_some_and(|twin| is_printed(twin, first.1))
        });
        wrong = wrong.or(crossed.map(|field| (one, other, field, first.0, second.0)));
    }
    let Some((one, other, field, first, second)) = wrong else {
        return;
    };
    warn(
        "stale-prose",
        line,
        [
            format!(
                "\"{}\"; {}: {} of {}",
                shorten(sentence),
                field.name.text,
                field.figure.text,
                one.label
            ),
            format!(
                "{first} is the figure of {}, and {second} that of {}",
                other.label, one.label
            ),
            "Swap the two figures.".to_owned(),
        ],
        findings,
    );
}

/// Finds the positions where a passage names a record: the whole label, not as part of a word.
fn find_mentions<'t>(lower: &'t str, record: &Record) -> impl Iterator<Item = usize> + 't {
    let label = record.label.trim_matches(['*', '`', ' ']).to_lowercase();
    let named = label.len() >= 2 && label.contains(char::is_alphabetic);
    let found: Vec<usize> = match named {
        true => lower.match_indices(&label).map(|(at, _)| at).collect(),
        false => Vec::new(),
    };
    found.into_iter().filter(move |at| {
        let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let before = lower.get(..*at).and_then(|text| text.chars().next_back());
        let after = lower
            .get(at + label.len()..)
            .and_then(|text| text.chars().next());
        !is_word(before) && !is_word(after)
    })
}

type Pair<'t> = (usize, (&'t str, f64));

/// Two records and their numbers, if they alternate or if the sentence contains "respectively".
fn pair_numbers<'t>(mentions: &[Mention<'t>], respectively: bool) -> Option<[Pair<'t>; 2]> {
    use Mention::{Number, Of};
    let (one, first, other, second) = match *mentions {
        [Of(one), Number(a, x), Of(other), Number(b, y)]
        | [Number(a, x), Of(one), Number(b, y), Of(other)] => (one, (a, x), other, (b, y)),
        [Of(one), Of(other), Number(a, x), Number(b, y)] if respectively => {
            (one, (a, x), other, (b, y))
        }
        _ => return None,
    };
    (one != other && first.1 != second.1).then_some([(one, first), (other, second)])
}

/// Whether a figure equals a number as printed.
pub fn is_printed(field: &Field, value: f64) -> bool {
    let text = field
        .figure
        .text
        .trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let printed = crate::quantity::split_number(text)
        .and_then(|(written, _)| parse_number(written.trim_end_matches(['.', ','])));
    printed.is_some_and(|(printed, _)| printed == value)
}

fn prints_value(record: &Record, value: f64) -> bool {
    record.fields.iter().any(|field| is_printed(field, value))
}
