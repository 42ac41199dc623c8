//! Explains the terms of a first screen, in the words of `docs/terminology.md`.

use crate::document::Words;
use crate::naming::capitalize;

/// Terms and their meanings.
pub const TERMS: [(&str, &str); 4] = [
    (
        "total time",
        "From the start of the request to the last byte received: service time, and before it waiting for a connection and opening one.",
    ),
    (
        "service time",
        "From the first byte sent to the last byte received, without connection setup.",
    ),
    (
        "response time",
        "From the scheduled start to the last byte received: how long a real user would have waited.",
    ),
    (
        "CPU time per request",
        "Processor time of the measured system and its services, without the generator, divided by the number of requests.",
    ),
];

/// A paragraph that explains each term that a passage uses, and the ranges of its ratios. `None` if it uses none.
pub fn terms_paragraph(text: &str) -> Option<Words> {
    let mut words = Words::new();
    let mut has_some = false;
    for (term, meaning) in TERMS {
        if text.contains(term) {
            let space = if has_some { " " } else { "" };
            words = words
                .text(space)
                .strong(capitalize(term))
                .text(format!(": {}", uncapitalize(meaning)));
            has_some = true;
        }
    }
    if text.contains(" times, ") {
        let space = if has_some { " " } else { "" };
        words = words
            .text(space)
            .strong("1.3 times, 1.2 to 1.4")
            .text(": a ratio and its 95 % interval. “A against B” divides A by B, and a list divides by its first value.");
        has_some = true;
    }
    has_some.then_some(words)
}

/// The text with a small first letter, for use after a colon.
fn uncapitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().collect::<String>() + chars.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::{TERMS, terms_paragraph};

    #[test]
    fn meanings_are_those_of_the_terminology() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/terminology.md");
        let text = std::fs::read_to_string(path).unwrap().replace('*', "");
        for (term, meaning) in TERMS {
            let row = format!("| {term} | {meaning}");
            assert!(
                text.contains(&row),
                "{path} has no row that begins with {row}"
            );
        }
    }

    #[test]
    fn only_terms_that_a_text_uses_are_explained() {
        let described = |text: &str| terms_paragraph(text).map(|words| words.to_text());
        assert_eq!(described("Requests per second: 100."), None);
        let text = described("95th percentile of service time: 4 ms").unwrap();
        assert!(
            text.starts_with("Service time: from the first byte sent"),
            "{text}"
        );
        assert!(
            !text.contains("Total time") && !text.contains("ratio"),
            "{text}"
        );
        let text = described("lower, 1 against 2 requests/s (0.5 times, 0.4 to 0.6)").unwrap();
        assert!(text.starts_with("1.3 times, 1.2 to 1.4: a ratio"), "{text}");
    }
}
