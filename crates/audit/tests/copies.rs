//! A page that was copied through a browser, a mail program or an editor must be read like the
//! original and have the same findings about its results.

#[allow(dead_code)]
mod score;

use plimsoll_audit::{Level, audit};
use score::{PARTS, Page, pages};

/// Tests one in this many pages, because each page is read several times.
const EVERY: usize = 14;

/// The number of results by tool, and the findings about them. Findings about sentences and titles
/// are left out, because they depend on the structure of the page.
fn read(text: &str) -> (Vec<(&'static str, usize)>, Vec<String>) {
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    let Ok(audited) = audit("x.md", text) else {
        return (counts, Vec::new());
    };
    for block in &audited.blocks {
        let name = block.tool.name();
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_unstable();
    let inside = |line: usize, number: usize| {
        let block = &audited.blocks[number - 1];
        block.first_line <= line && line <= block.last_line
    };
    let mut findings: Vec<String> = audited
        .findings
        .iter()
        .filter(|found| found.level > Level::Note && !OF_TITLES.contains(&found.rule))
        .filter(|found| found.block.is_some_and(|number| inside(found.line, number)))
        .map(|found| format!("{} {}", found.rule, found.arithmetic.replace(' ', "")))
        .collect();
    findings.sort_unstable();
    (counts, findings)
}

/// Rules that compare the titles of blocks, or a block with its title.
const OF_TITLES: [&str; 5] = [
    "label-mismatch",
    "non-monotone",
    "unlike-questions",
    "connect-left-out",
    "protocol-mismatch",
];

fn some_pages(offset: usize) -> impl Iterator<Item = Page> {
    PARTS.into_iter().flat_map(move |(_, part)| {
        // Nobody copies a JSON file as text.
        let all = pages(part).into_iter().skip(offset % EVERY).step_by(EVERY);
        all.filter(|page| !page.text.trim_start().starts_with('{'))
    })
}

/// Applies a change to some pages of every collection, and checks that they are read the same way.
/// `offset` selects the pages, so that each change applies to different ones.
#[track_caller]
fn same(offset: usize, change: impl Fn(&str) -> String) {
    let mut different = Vec::new();
    let mut read_some = 0;
    for page in some_pages(offset) {
        let (before, after) = (read(&page.text), read(&change(&page.text)));
        read_some += before.0.len();
        if before != after {
            let lost: Vec<&String> = before
                .1
                .iter()
                .filter(|one| !after.1.contains(one))
                .collect();
            let new: Vec<&String> = after
                .1
                .iter()
                .filter(|one| !before.1.contains(one))
                .collect();
            different.push(format!(
                "{}: {:?}, then {:?}; lost {lost:?}, new {new:?}",
                page.name, before.0, after.0
            ));
        }
    }
    assert!(read_some > 15, "only {read_some} results");
    assert!(different.is_empty(), "{different:#?}");
}

fn for_each_line(text: &str, mut change: impl FnMut(&str) -> String) -> String {
    text.lines().map(|line| change(line) + "\n").collect()
}

#[test]
fn with_windows_line_endings() {
    same(0, |text| text.replace('\n', "\r\n"));
}

#[test]
fn with_trailing_spaces() {
    same(2, |text| {
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
    same(3, |text| for_each_line(text, |line| format!("> {line}")));
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start_matches(['>', ' ']);
    line.starts_with("```") || line.starts_with("~~~")
}

/// Puts each code fence into a list item.
#[test]
fn in_lists() {
    same(5, |text| {
        let mut inside = false;
        for_each_line(text, |line| {
            let fence = is_fence(line) && !line.starts_with([' ', '>']);
            let opens = fence && !inside;
            if fence {
                inside = !inside;
            }
            match (opens, inside || fence) {
                (true, _) => format!("\n- output\n\n  {line}"),
                (false, true) => format!("  {line}"),
                (false, false) => line.to_owned(),
            }
        })
    });
}

/// Puts a prompt in front of each command.
#[test]
fn with_prompts() {
    const TOOLS: [&str; 9] = [
        "wrk ",
        "hey ",
        "ab ",
        "k6 run",
        "oha ",
        "ghz ",
        "vegeta ",
        "h2load ",
        "autocannon ",
    ];
    for prompt in ["user@host ~ % ", "PS C:\\bench> ", "[root@node1 ~]# ", "❯ "] {
        same(prompt.len(), |text| {
            for_each_line(text, |line| {
                let start = line.trim_start_matches(['$', ' ']);
                match TOOLS.iter().any(|tool| start.starts_with(tool)) && !line.starts_with("    ")
                {
                    true => format!("{prompt}{start}"),
                    false => line.to_owned(),
                }
            })
        });
    }
}

/// Applies a change to the lines inside code fences.
fn inside_fences(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut inside = false;
    for_each_line(text, |line| {
        let fence = is_fence(line);
        if fence {
            inside = !inside;
        }
        match inside && !fence {
            true => change(line),
            false => line.to_owned(),
        }
    })
}

/// Logs contain terminal colors.
#[test]
fn with_colors() {
    same(1, |text| {
        inside_fences(text, |line| {
            let (first, rest) = line.split_at(line.len() - line.trim_start().len());
            format!("{first}\u{1b}[1;32m{rest}\u{1b}[0m")
        })
    });
}

/// Web page editors insert invisible characters.
#[test]
fn with_zero_width_characters() {
    same(6, |text| {
        inside_fences(text, |line| format!("\u{200b}{line}\u{200b}"))
    });
}

#[test]
fn with_no_break_spaces() {
    same(4, |text| {
        inside_fences(text, |line| line.replace("  ", "\u{a0} "))
    });
}

#[test]
fn with_log_timestamps() {
    same(2, |text| {
        inside_fences(text, |line| format!("2026-01-02T03:04:05.1234567Z {line}"))
    });
}

/// HTML writes some characters as entities.
#[test]
fn with_entities() {
    same(3, |text| {
        inside_fences(text, |line| {
            let line = line.replace('&', "&amp;");
            line.replace('<', "&lt;").replace('>', "&gt;")
        })
    });
}

/// Editors turn the hyphens of options into dashes.
#[test]
fn with_dashes_in_commands() {
    const TOOLS: [&str; 6] = ["wrk ", "hey ", "ab ", "oha ", "h2load ", "bombardier "];
    same(5, |text| {
        for_each_line(text, |line| {
            let start = line.trim_start_matches(['$', ' ']);
            match TOOLS.iter().any(|tool| start.starts_with(tool)) {
                true => line.replace(" --", " —").replace(" -", " –"),
                false => line.to_owned(),
            }
        })
    });
}
