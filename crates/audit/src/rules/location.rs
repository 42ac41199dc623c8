//! Where the load generator ran.

use crate::block::is_loopback;
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::report::{Findings, Report};

/// Reports a loopback target, a pinned generator, and overlapping CPU lists.
pub fn check_location(report: &Report, findings: &mut Findings) {
    const RULE: &str = "co-located";
    check_same_machine(report, findings);
    let mut lists: Vec<(usize, String, Vec<u32>, bool)> = Vec::new();
    for code in &report.document.codes {
        for line in code.lines(report.text) {
            let text = line.text.trim().trim_start_matches(['$', '>', ' ']);
            let Some((list, command)) = parse_pinned_command(text) else {
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
                        format!("both run on CPU {}: they slow each other down", shared.join(", ")),
                        "Give each of them separate CPUs.".to_owned(),
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
                "the generator is pinned; cannot tell whether the system shares those CPUs: its CPUs are not shown".to_owned(),
                "Show the CPUs of both.".to_owned(),
            ],
        ),
    }
}

/// `taskset -c 0,2-3 command`
fn parse_pinned_command(text: &str) -> Option<(Vec<u32>, &str)> {
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

/// Adds one note for the page if an address, a command or a sentence states that both ran on one
/// machine, but no note if the page names a remote target.
fn check_same_machine(report: &Report, findings: &mut Findings) {
    let local = report
        .blocks
        .iter()
        .find(|block| block.is_local() == Some(true));
    let remote = report
        .blocks
        .iter()
        .any(|block| block.is_local() == Some(false));
    let (line, evidence) = if let Some(block) = local {
        (block.first_line, block.target.clone().unwrap_or_default())
    } else if remote {
        return;
    } else if let Some(command) = report
        .commands
        .iter()
        .find(|command| is_loopback(&command.text))
    {
        (command.line, shorten(&command.text))
    } else if let Some((line, text)) = find_local_line(report) {
        (line, text)
    } else {
        return;
    };
    findings.page(
        "co-located",
        Level::Note,
        line,
        [
            evidence,
            "cannot tell how much they slowed each other down: the CPU times are not shown"
                .to_owned(),
            "Use two machines, or pin the generator and the system to separate CPUs and show the pinning."
                .to_owned(),
        ],
    );
}

static TOGETHER: Pattern = pattern!(
    r"(?i)\bsame (?:machine|host|laptop|computer|box)\b|\b(?:on|from) (?:my|a|the) (?:local )?(?:laptop|macbook|local machine|pc)\b|\bmy (?:local )?(?:laptop|machine|pc)\b|\b(?:ran|run) locally\b|\b(?:macbook|mac mini)\b"
);
static REMOTE: Pattern = pattern!(r"(?i)\btarget\b[^\n]*\b[a-z0-9-]+\.[a-z0-9.-]+\.[a-z]{2,}");

/// The first line with this machine as the target, or with words to that effect.
fn find_local_line(report: &Report) -> Option<(usize, String)> {
    let mut found = None;
    for (at, line) in report.text.lines().take(20_000).enumerate() {
        if line.len() > 2000 {
            continue;
        }
        if REMOTE.is_match(line) {
            return None;
        }
        let address = [
            "http://localhost",
            "https://localhost",
            "http://127.0.0.1",
            "https://127.0.0.1",
            "http://0.0.0.0",
            "localhost:",
            "127.0.0.1:",
        ]
        .iter()
        .any(|address| line.contains(address));
        let hostname = line.trim_start().starts_with("Server Hostname:") && is_loopback(line);
        if found.is_none() && (address || hostname || TOGETHER.is_match(line)) {
            found = Some((at + 1, shorten(line.trim())));
        }
    }
    found
}

fn shorten(text: &str) -> String {
    super::prose::shorten(text)
}
