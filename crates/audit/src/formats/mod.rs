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

/// `2 errors, 1 warning, 3 notes in 4 blocks, 1 table`
fn summary(audits: &[Audit]) -> String {
    let words = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let sum = |count: fn(&Audit) -> usize| audits.iter().map(count).sum::<usize>();
    let (blocks, tables, lists) = (
        sum(|audit| audit.blocks.len()),
        sum(|audit| audit.tables),
        sum(|audit| audit.lists),
    );
    let mut read = Vec::new();
    if blocks > 0 || tables + lists == 0 {
        read.push(words(blocks, "block"));
    }
    read.extend((tables > 0).then(|| words(tables, "table")));
    read.extend((lists > 0).then(|| words(lists, "list")));
    format!(
        "{}, {}, {} in {}",
        words(count(audits, Level::Error), "error"),
        words(count(audits, Level::Warning), "warning"),
        words(count(audits, Level::Note), "note"),
        read.join(", "),
    )
}
