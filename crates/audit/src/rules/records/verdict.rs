//! What a word like "faster" or "highest" claims about the figure of its subject.

use crate::records::Field;

#[derive(Clone, Copy, PartialEq)]
pub enum Verdict {
    Better,
    Worse,
    More,
    Less,
}

impl Verdict {
    pub fn from_word(word: &str) -> Verdict {
        let lower = word.to_lowercase();
        let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
        if starts(&[
            "faster",
            "quicker",
            "better",
            "outperform",
            "beat",
            "fastest",
            "best",
            "winner",
        ]) {
            Verdict::Better
        } else if starts(&["slower", "worse", "trail", "lag", "slowest", "worst"]) {
            Verdict::Worse
        } else if starts(&[
            "higher", "greater", "more", "longer", "highest", "longest", "the ",
        ]) {
            Verdict::More
        } else {
            Verdict::Less
        }
    }

    /// Whether the word claims that the subject's figure is the larger one, or `None` if that is
    /// uncertain.
    pub fn is_larger(self, field: &Field) -> Option<bool> {
        match self {
            Verdict::More => Some(true),
            Verdict::Less => Some(false),
            Verdict::Better => field.more_is_better(),
            Verdict::Worse => Some(!field.more_is_better()?),
        }
    }

    /// Whether the word tells which figure is larger, but not which one is better.
    pub fn is_of_value(self) -> bool {
        matches!(self, Verdict::More | Verdict::Less)
    }
}
