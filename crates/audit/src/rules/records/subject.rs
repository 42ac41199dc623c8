//! Finds the record of a grid that a phrase names.

use crate::records::{Field, Grid, Kind, Meaning, Name, Record, label_words as name, tokenize};

/// The metric that a phrase names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// No particular metric: "faster", "better".
    Any,
    Rate,
    Latency,
    One(Meaning),
}

impl Metric {
    /// The metric of a sentence, or `None` for another quantity or several.
    pub fn in_sentence(sentence: &str) -> Option<Metric> {
        let words = tokenize(sentence);
        let has = |expected: &[&str]| words.iter().any(|word| expected.contains(&word.as_str()));
        if has(&OTHER) {
            return None;
        }
        // "The fastest" is a verdict, not a minimum.
        let named = |word: &&String| {
            !word.ends_with('%') && !matches!(word.as_str(), "fastest" | "slowest")
        };
        let mut statistics: Vec<Meaning> = words
            .iter()
            .filter(named)
            .map(|word| Name::read(word))
            .filter(Name::is_statistic)
            .map(|name| name.meaning)
            .collect();
        statistics.dedup();
        let rate = has(&["throughput", "rps", "qps", "tps", "ops", "iops"])
            || sentence.contains("per second")
            || sentence.contains("/s");
        let latency = has(&["latency", "latencies", "response", "tail"]);
        match (&statistics[..], rate, latency) {
            ([], true, false) => Some(Metric::Rate),
            ([], false, true) => Some(Metric::Latency),
            ([], false, false) => Some(Metric::Any),
            ([Meaning::Mean], true, false) => Some(Metric::Rate),
            ([one], false, _) => Some(Metric::One(*one)),
            _ => None,
        }
    }

    pub fn applies_to(self, field: &Field) -> bool {
        match self {
            Metric::Any => true,
            Metric::Rate => field.name.meaning == Meaning::Rate || field.figure.kind == Kind::Rate,
            Metric::Latency => {
                field.more_is_better() == Some(false)
                    && !matches!(field.name.meaning, Meaning::FailedShare)
            }
            Metric::One(meaning) => field.name.meaning == meaning,
        }
    }
}

/// Words that show that a sentence is not about a rate or the time of a request.
const OTHER: [&str; 33] = [
    "memory",
    "ram",
    "cpu",
    "startup",
    "start",
    "boot",
    "cold",
    "compile",
    "compilation",
    "build",
    "builds",
    "binary",
    "image",
    "size",
    "disk",
    "cost",
    "price",
    "cheaper",
    "error",
    "errors",
    "failures",
    "rss",
    "heap",
    "gc",
    "allocations",
    "allocs",
    "memory-usage",
    "footprint",
    "variance",
    "deviation",
    "jitter",
    "energy",
    "power",
];

/// The records that a phrase names: those with the longest label in it, or those with the only
/// label that contains all its words. Returns all records with that label.
pub fn named_records<'r>(grid: &'r Grid, phrase: &str) -> Option<Vec<&'r Record>> {
    let claimed = name(phrase);
    if claimed.is_empty() || claimed.len() > 8 {
        return None;
    }
    let labels: Vec<(&Vec<String>, &Record)> = grid
        .records
        .iter()
        .map(|record| (&record.words, record))
        .filter(|(label, _)| {
            label
                .iter()
                .any(|word| word.len() >= 2 && word.chars().any(char::is_alphabetic))
        })
        .collect();
    let inside = |one: &[String], other: &[String]| one.iter().all(|word| other.contains(word));
    let within: Vec<&(&Vec<String>, &Record)> = labels
        .iter()
        .filter(|(label, _)| inside(label, &claimed))
        .collect();
    let longest = within.iter().map(|(label, _)| label.len()).max();
    let chosen: Vec<&(&Vec<String>, &Record)> = match longest {
        Some(longest) => within
            .into_iter()
            .filter(|(label, _)| label.len() == longest)
            .collect(),
        None => labels
            .iter()
            .filter(|(label, _)| inside(&claimed, label))
            .collect(),
    };
    let (first, _) = chosen.first()?;
    chosen
        .iter()
        .all(|(label, _)| label == first)
        .then(|| chosen.iter().map(|(_, record)| *record).collect())
}

/// Pairs of fields with the same name in two records.
pub fn matching_fields<'r>(
    one: &'r Record,
    other: &'r Record,
    metric: Metric,
) -> impl Iterator<Item = (&'r Field, &'r Field)> {
    one.fields
        .iter()
        .filter(move |field| metric.applies_to(field) && field.is_exact())
        .filter_map(move |field| Some((field, other.matching_field(field)?)))
        .filter(|(_, twin)| twin.is_exact())
}

/// Whether a sentence states a possibility, a denial or general knowledge.
pub fn is_uncertain(sentence: &str) -> bool {
    const WORDS: [&str; 27] = [
        "not",
        "if",
        "should",
        "would",
        "could",
        "can",
        "may",
        "might",
        "expected",
        "expect",
        "expects",
        "usually",
        "typically",
        "generally",
        "often",
        "sometimes",
        "supposed",
        "claims",
        "claim",
        "than expected",
        "will",
        "no",
        "never",
        "seems",
        "when",
        "unless",
        "why",
    ];
    let lower = sentence.to_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    words.any(|word| WORDS.contains(&word) || word.ends_with("n't"))
        || lower.trim_end().ends_with('?')
}

/// The last part of the text before a verb.
pub fn text_before_verb(text: &str) -> &str {
    text.rsplit([',', ';', ':', '—', '('])
        .next()
        .unwrap_or(text)
}
