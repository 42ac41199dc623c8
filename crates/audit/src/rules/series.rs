//! Relations between blocks.

use crate::block::Block;

/// Titles without their numbers. All blocks of a series have the same ones.
pub fn titles_without_numbers(titles: &[String]) -> Vec<String> {
    titles
        .iter()
        .map(|title| {
            title
                .chars()
                .filter(|letter| !letter.is_ascii_digit())
                .collect()
        })
        .collect()
}

/// The blocks of one experiment at different loads: they have the same tool, and the same titles
/// except for numbers.
pub fn are_in_same_series(one: &Block, other: &Block) -> bool {
    one.tool == other.tool
        && !one.titles.is_empty()
        && one.titles != other.titles
        && titles_without_numbers(&one.titles) == titles_without_numbers(&other.titles)
}

/// The blocks that a reader would compare: they have the same script or innermost title, and the
/// same number of users.
pub fn are_comparable(one: &Block, other: &Block) -> bool {
    let users = |block: &Block| block.users.as_ref().map(|users| users.value);
    let script = |block: &Block| {
        let script = block.script.as_ref()?;
        script.rsplit(['/', '\\']).next().map(str::to_owned)
    };
    one.tool == other.tool
        && !one.titles.is_empty()
        && users(one).is_some()
        && users(one) == users(other)
        && script(one).is_some()
        && script(one) == script(other)
}
