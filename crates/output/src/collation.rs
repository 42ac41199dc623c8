//! Sorts names in dictionary order.
//!
//! Punctuation comes first, then digits, then letters. Case matters only between names that are otherwise equal; the
//! lower-case name comes first. For ASCII names this is the root order of the Unicode Collation Algorithm (UTS 10);
//! other characters follow by code point.

use std::cmp::Ordering;

/// ASCII punctuation in the order of the default table of UTS 10.
const PUNCTUATION: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Compares two names.
pub fn compare(a: &str, b: &str) -> Ordering {
    a.chars()
        .map(primary)
        .cmp(b.chars().map(primary))
        .then_with(|| {
            a.chars()
                .map(char::is_uppercase)
                .cmp(b.chars().map(char::is_uppercase))
        })
}

fn primary(c: char) -> (u8, u32) {
    if let Some(place) = PUNCTUATION.find(c) {
        (0, place as u32)
    } else if c.is_ascii_digit() {
        (1, c as u32)
    } else {
        (2, c.to_lowercase().next().unwrap_or(c) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_as_k6_sorts_them() {
        let sorted = [
            "__y",
            "_x",
            "alpha",
            "Alpha",
            "f10",
            "f2",
            "fo_o",
            "foo",
            "FOO",
            "foo_bar",
            "foo1",
            "fooA",
            "foob",
            "fooB",
            "iteration_duration",
            "iteration_duration_x",
            "iterations",
        ];
        let mut names = sorted.to_vec();
        names.reverse();
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(names, sorted);
    }

    #[test]
    fn selectors_are_sorted_as_k6_sorts_them() {
        let sorted = ["{\"q\":'w'}", "{a:1,b:2}", "{a:1}", "{b:1}", "{B:1}"];
        let mut names = sorted.to_vec();
        names.reverse();
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(names, sorted);
    }
}
