//! The type of a fuzz target.

use std::borrow::Cow;

use crate::TARGETS;

/// A parser of untrusted input.
pub struct Target {
    pub name: &'static str,
    /// Must return for any input.
    pub run: fn(&[u8]),
    /// Valid inputs to start from.
    pub seeds: &'static [&'static [u8]],
    /// Keywords of its syntax.
    pub words: &'static [&'static str],
}

/// The target called `name`.
pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}

/// The text in `data`, with invalid UTF-8 replaced.
pub fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// `data` cut in two at the first zero byte, for targets with two inputs.
pub fn halves(data: &[u8]) -> (&[u8], &[u8]) {
    let at = data
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(data.len());
    (&data[..at], data.get(at + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use crate::TARGETS;

    #[test]
    fn the_page_lists_every_target() {
        let page = include_str!("../../docs/fuzzing.md");
        for target in TARGETS {
            let row = format!("\n| `{}` | ", target.name);
            assert!(page.contains(&row), "docs/fuzzing.md has no {row:?}");
        }
    }
}
