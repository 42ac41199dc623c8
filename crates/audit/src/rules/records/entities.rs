//! Finds the records that a sentence may be about: by their labels, and by the load under which
//! they were measured ("at 50 users", "with 4 workers", "c=500").

use super::mentions::{has_phrase, strip_markup};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_number;
use crate::records::{Grid, Grids, Meaning, Record, tokenize};

const LOAD: &str = r"(?:concurrent |virtual |parallel |simultaneous |active |client |worker )*(users?|vus?|clients?|connections?|conns?|threads?|workers?|replicas?|pods?|instances?|nodes?|cores?|cpus?)\b";

/// Numbers in front of a unit of load: "from 1 to 4 workers".
static BEFORE_UNIT: Pattern = pattern!(&format!(
    r"((?:\d[\d,]*\s*(?:to|and|vs\.?|→|->|,|/|–|-|or)\s*)*\d[\d,]*)[\s-]?{LOAD}"
));
static AFTER_UNIT: Pattern = pattern!(
    r"\b(concurrency|users|vus|threads|connections|clients|workers|c|n)\s?(?:[=:]|of)\s?(\d[\d,]*)\b"
);
static NUMBER: Pattern = pattern!(r"\d[\d,]*");

/// Maximum number of records to search. Pages with more of them are generated.
const MAX_RECORDS: usize = 500;
/// More records than this are a whole table, not the subject of a sentence.
const MAX_NAMED: usize = 6;

/// What a number of a load counts. Users and connections are the same load under two names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Counted {
    Users,
    Workers,
    Servers,
    Cores,
}

impl Counted {
    fn of(unit: &str) -> Counted {
        match unit.trim_end_matches('s') {
            "worker" => Counted::Workers,
            "replica" | "pod" | "instance" | "node" => Counted::Servers,
            "core" | "cpu" => Counted::Cores,
            _ => Counted::Users,
        }
    }
}

/// The loads that a lower-case text names.
pub struct Loads(Vec<(f64, Counted)>);

impl Loads {
    pub fn of(lower: &str) -> Loads {
        let mut loads = Vec::new();
        if !lower.contains(|letter: char| letter.is_ascii_digit()) {
            return Loads(loads);
        }
        for found in BEFORE_UNIT.all(lower).take(8) {
            let counted = Counted::of(group(&found, 2));
            let numbers = NUMBER.all(group(&found, 1)).take(8);
            let values =
                numbers.filter_map(|one| parse_number(group(&one, 0).trim_end_matches(',')));
            loads.extend(values.map(|(value, _)| (value, counted)));
        }
        for found in AFTER_UNIT.all(lower).take(8) {
            if let Some((value, _)) = parse_number(group(&found, 2).trim_end_matches(',')) {
                loads.push((value, Counted::of(group(&found, 1))));
            }
        }
        Loads(loads)
    }

    fn has(&self, (value, counted): (f64, Counted)) -> bool {
        self.0
            .iter()
            .any(|(known, unit)| *known == value && *unit == counted)
    }
}

/// The load of a record: its only number of users, or the only load in its label.
fn load(record: &Record) -> Option<(f64, Counted)> {
    if let Some(users) = record.only_field(Meaning::Users) {
        return Some((users.figure.value, Counted::Users));
    }
    // Most labels have no number.
    if !record
        .label
        .contains(|letter: char| letter.is_ascii_digit())
    {
        return None;
    }
    match Loads::of(&record.label.to_lowercase()).0[..] {
        [load] => Some(load),
        _ => None,
    }
}

/// The number of users of a record, for rules that order records by their load.
pub fn users(record: &Record) -> Option<f64> {
    load(record)
        .filter(|(_, counted)| *counted == Counted::Users)
        .map(|(value, _)| value)
}

/// The records of a grid that a sentence names.
pub struct Named<'r> {
    pub grid: &'r Grid,
    /// Records whose whole label or whose load is in the sentence.
    pub records: Vec<&'r Record>,
    /// Records with a word of their label in the sentence. The sentence may be about them.
    pub possible: Vec<&'r Record>,
}

/// Whether a page has few enough records to search them for each sentence.
pub fn is_searchable(grids: &Grids) -> bool {
    grids.grids().map(|grid| grid.records.len()).sum::<usize>() <= MAX_RECORDS
}

/// The named records of each grid, for a sentence in lower case without markup.
pub fn named<'r>(grids: &'r Grids, lower: &str) -> Vec<Named<'r>> {
    let loads = Loads::of(lower);
    let words = tokenize(lower);
    grids
        .grids()
        .filter_map(|grid| of_grid(grid, lower, &loads, &words))
        .collect()
}

fn of_grid<'r>(grid: &'r Grid, lower: &str, loads: &Loads, words: &[String]) -> Option<Named<'r>> {
    let labelled = labelled(grid, lower);
    let loaded: Vec<&Record> = match loads.0.is_empty() {
        true => Vec::new(),
        false => grid
            .records
            .iter()
            .filter(|record| load(record).is_some_and(|load| loads.has(load)))
            .collect(),
    };
    let both: Vec<&Record> = labelled
        .iter()
        .filter(|one| loaded.iter().any(|other| std::ptr::eq(**one, *other)))
        .copied()
        .collect();
    let records = match (both.is_empty(), labelled.is_empty()) {
        (false, _) => both,
        // A named record of this grid that was measured under another load.
        (true, false) if !loaded.is_empty() => Vec::new(),
        (true, false) => labelled,
        (true, true) => loaded,
    };
    if !(1..=MAX_NAMED).contains(&records.len()) {
        return None;
    }
    let is_in = |record: &Record| {
        record.words.iter().any(|word| {
            word.chars().count() >= 3
                && word.chars().any(char::is_alphabetic)
                && words.contains(word)
        })
    };
    let possible = grid.records.iter().filter(|one| is_in(one)).collect();
    Some(Named {
        grid,
        records,
        possible,
    })
}

/// The records whose whole label is in a passage, except labels within longer ones.
fn labelled<'r>(grid: &'r Grid, lower: &str) -> Vec<&'r Record> {
    const MIN_LETTERS: usize = 3;
    let found: Vec<(String, &Record)> = grid
        .records
        .iter()
        .filter(|record| {
            let first = record.words.first();
            first.is_some_and(|word| lower.contains(word.as_str()))
        })
        .map(|record| (strip_markup(&record.label).trim().to_owned(), record))
        .filter(|(label, _)| {
            let letters = label.chars().filter(|letter| letter.is_alphabetic());
            // The label of an output may be the sentence itself, above the output.
            letters.count() >= MIN_LETTERS
                && label.len() + 4 < lower.trim().len()
                && has_phrase(lower, label)
        })
        .collect();
    let within = |label: &str| {
        found
            .iter()
            .any(|(other, _)| other != label && other.contains(label))
    };
    found
        .iter()
        .filter(|(label, _)| !within(label))
        .map(|(_, record)| *record)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Counted, Loads};

    #[test]
    fn loads_are_numbers_with_a_unit() {
        for (text, expected) in [
            ("at 1,000 concurrent users", vec![(1000.0, Counted::Users)]),
            (
                "from 1 to 4 workers",
                vec![(1.0, Counted::Workers), (4.0, Counted::Workers)],
            ),
            ("with c=500", vec![(500.0, Counted::Users)]),
            ("the 1600-thread test", vec![(1600.0, Counted::Users)]),
            ("after 50 ms", vec![]),
        ] {
            assert_eq!(Loads::of(text).0, expected, "{text}");
        }
    }
}
