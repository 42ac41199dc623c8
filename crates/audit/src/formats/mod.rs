//! The five output formats of an audit.

mod github;
mod json;
mod markdown;
mod sarif;
mod text;

pub use github::github;
pub use json::json;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::text;

use crate::{Audit, Level};

/// Number of findings of this level.
fn count(audits: &[Audit], level: Level) -> usize {
    audits
        .iter()
        .flat_map(|audit| &audit.findings)
        .filter(|finding| finding.level == level)
        .count()
}

/// `2 errors, 1 warning, 3 notes in 4 blocks`
fn summary(audits: &[Audit]) -> String {
    let words = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    format!(
        "{}, {}, {} in {}",
        words(count(audits, Level::Error), "error"),
        words(count(audits, Level::Warning), "warning"),
        words(count(audits, Level::Note), "note"),
        words(audits.iter().map(|audit| audit.blocks.len()).sum(), "block"),
    )
}
