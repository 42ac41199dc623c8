//! Where the generator ran.

use crate::finding::Level;
use crate::report::{Findings, Report};

/// A loopback target, a pinned generator, lists of CPUs that overlap.
pub fn co_located(report: &Report, findings: &mut Findings) {
    const RULE: &str = "co-located";
    let local = report.blocks.iter().find_map(|block| {
        let target = block.target.as_ref().or(block.command.as_ref())?;
        ["127.0.0.1", "localhost", "[::1]"]
            .iter()
            .any(|place| target.contains(place))
            .then_some((block, target))
    });
    if let Some((block, target)) = local {
        findings.block(
            RULE,
            Level::Note,
            block,
            block.first_line,
            [
                target.clone(),
                "generator and system ran on one machine and share its CPUs, caches and kernel; cannot tell how much: neither's CPU is printed".to_owned(),
                "Pin each to CPUs of its own, or take two machines.".to_owned(),
            ],
        );
    }
    let mut lists: Vec<(usize, String, Vec<u32>, bool)> = Vec::new();
    for code in &report.document.codes {
        for line in code.lines(report.text) {
            let text = line.text.trim().trim_start_matches(['$', '>', ' ']);
            let Some((list, command)) = pinned(text) else {
                continue;
            };
            let generates = [
                "k6 ",
                "wrk",
                "vegeta",
                "hey ",
                "oha ",
                "ab ",
                "ghz ",
                "h2load ",
                "iperf3 -c",
            ]
            .iter()
            .any(|tool| command.starts_with(tool));
            lists.push((line.number, text.to_owned(), list, generates));
        }
    }
    lists.truncate(64);
    let Some(generator) = lists.iter().find(|list| list.3) else {
        return;
    };
    match lists.iter().find(|list| !list.3) {
        Some(system) => {
            let shared: Vec<String> = generator
                .2
                .iter()
                .filter(|cpu| system.2.contains(cpu))
                .map(u32::to_string)
                .collect();
            if !shared.is_empty() {
                findings.page(
                    RULE,
                    Level::Warning,
                    generator.0,
                    [
                        format!("`{}` (line {}) and `{}` (line {})", generator.1, generator.0, system.1, system.0),
                        format!("both run on CPU {}: each slows the other", shared.join(", ")),
                        "Give them CPUs of their own.".to_owned(),
                    ],
                );
            }
        }
        None => findings.page(
            RULE,
            Level::Note,
            generator.0,
            [
                format!("`{}`", generator.1),
                "the generator is pinned; cannot tell whether the system shares those CPUs: its own are not printed".to_owned(),
                "Print the CPUs of both.".to_owned(),
            ],
        ),
    }
}

/// `taskset -c 0,2-3 command`
fn pinned(text: &str) -> Option<(Vec<u32>, &str)> {
    let rest = text.strip_prefix("taskset ")?.trim_start();
    let rest = rest
        .strip_prefix("-c ")
        .or_else(|| rest.strip_prefix("-ac "))?;
    let (list, command) = rest.trim_start().split_once(' ')?;
    let mut cpus = Vec::new();
    for part in list.split(',').take(256) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        cpus.extend((first..=last).take(1024));
    }
    Some((cpus, command.trim_start()))
}
