//! A regular expression that is compiled on first use.

use std::sync::LazyLock;

use regex_lite::{Captures, Match, Regex};

/// A pattern that fails to compile matches nothing.
pub struct Pattern(LazyLock<Option<Regex>>);

macro_rules! pattern {
    ($text:expr) => {
        $crate::pattern::Pattern::new(|| regex_lite::Regex::new($text).ok())
    };
}
pub(crate) use pattern;

impl Pattern {
    pub const fn new(compile: fn() -> Option<Regex>) -> Pattern {
        Pattern(LazyLock::new(compile))
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.0.as_ref().is_some_and(|regex| regex.is_match(text))
    }

    pub fn first<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.0.as_ref()?.captures(text)
    }

    pub fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.0.as_ref()?.find(text)
    }

    /// The match, if the text has exactly one.
    pub fn only<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        let mut all = self.all(text);
        all.next().filter(|_| all.next().is_none())
    }

    pub fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        let regex = self.0.as_ref();
        regex
            .into_iter()
            .flat_map(move |regex| regex.captures_iter(text))
    }
}

/// The text of a group, or an empty string if the group did not take part in the match.
pub fn group<'t>(found: &Captures<'t>, at: usize) -> &'t str {
    found.get(at).map_or("", |group| group.as_str())
}

/// The text of a named group, or an empty string if the group did not take part in the match.
pub fn named<'t>(found: &Captures<'t>, name: &str) -> &'t str {
    found.name(name).map_or("", |group| group.as_str())
}
