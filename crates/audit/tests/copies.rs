//! A page that was copied through a browser, a mail or an editor reads the same as the original.

#[allow(dead_code)]
mod score;

use plimsoll_audit::audit;
use score::{PARTS, pages};

/// One in this many pages, because each is read several times.
const EVERY: usize = 7;

/// The number of results by tool.
fn read(text: &str) -> Vec<(&'static str, usize)> {
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    let audited = audit("x.md", text);
    for block in audited.iter().flat_map(|audited| &audited.blocks) {
        let name = block.tool.name();
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_unstable();
    counts
}

/// Applies a change to some pages of every collection, and lists those that read differently.
fn changed(change: impl Fn(&str) -> String) -> Vec<String> {
    let mut different = Vec::new();
    for (_, part) in PARTS {
        for page in pages(part).into_iter().step_by(EVERY) {
            // A JSON file is not copied as text.
            if page.text.trim_start().starts_with('{') {
                continue;
            }
            let (before, after) = (read(&page.text), read(&change(&page.text)));
            if before != after {
                different.push(format!("{}: {before:?}, then {after:?}", page.name));
            }
        }
    }
    different
}

fn for_each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| change(line) + "\n").collect()
}

#[track_caller]
fn same(change: impl Fn(&str) -> String) {
    let different = changed(change);
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn with_the_line_ends_of_windows() {
    same(|text| text.replace('\n', "\r\n"));
}

#[test]
fn with_blanks_that_do_not_break() {
    same(|text| for_each_line(text, |line| line.replace("  ", "\u{a0} ")));
}

#[test]
fn with_blanks_at_the_end_of_each_line() {
    same(|text| {
        for_each_line(text, |line| {
            // A backslash at the end continues a command.
            match line.ends_with('\\') {
                true => line.to_owned(),
                false => format!("{line}  "),
            }
        })
    });
}

#[test]
fn quoted() {
    same(|text| for_each_line(text, |line| format!("> {line}")));
}
