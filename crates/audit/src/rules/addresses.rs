//! Compares the command above an output with the port, the number of users and the duration that
//! the output prints.

use crate::block::{Block, Tool, is_loopback};
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::readers::command::{Command, requested_time, requested_users};
use crate::report::{Findings, Report};

use super::prose::shorten;

const RULE: &str = "label-mismatch";

/// Maximum number of lines that a tool prints between its command and the first line of its result.
const NEAR: usize = 30;

/// Maximum distance of a command and an output that nothing else separates, such as in adjacent
/// code fences.
const ADJACENT: usize = 6;

pub fn check_addresses(report: &Report, findings: &mut Findings) {
    let mut after = 0;
    for block in &report.blocks {
        let from = std::mem::replace(&mut after, block.last_line);
        if !prints_its_target(block.tool) {
            continue;
        }
        let mut above = report
            .commands
            .iter()
            .filter(|command| command.line > from && command.line <= block.first_line);
        // If several commands are above the output, it is uncertain which of them produced it.
        let (Some(command), None) = (above.next(), above.next()) else {
            continue;
        };
        let near = command.line + NEAR >= block.first_line;
        if near && family(command.tool) == family(block.tool) && !is_template(&command.text) {
            check_port(report, block, command, findings);
            check_users(report, block, command, findings);
            check_duration(block, command, findings);
        }
    }
}

fn prints_its_target(tool: Tool) -> bool {
    matches!(
        tool,
        Tool::Ab | Tool::Wrk | Tool::Wrk2 | Tool::Bombardier | Tool::Autocannon
    )
}

/// The tools that share an executable name: wrk2's executable is often called wrk.
fn family(tool: Tool) -> Tool {
    match tool {
        Tool::Wrk2 => Tool::Wrk,
        other => other,
    }
}

/// Whether a command has placeholders.
fn is_template(command: &str) -> bool {
    command.contains(['<', '$', '{', '[', '…']) || command.contains("...")
}

/// The host and the port of an address.
fn host_and_port(address: &str) -> Option<(String, u16)> {
    let (scheme, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (authority, if scheme == "https" { 443 } else { 80 }),
    };
    (!host.is_empty()).then(|| (host.to_lowercase(), port))
}

fn check_port(report: &Report, block: &Block, command: &Command, findings: &mut Findings) {
    let requested = command
        .text
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '`']))
        .find(|word| word.contains("://"));
    let (Some((host, port)), Some((requested_host, requested_port))) = (
        block.target.as_deref().and_then(host_and_port),
        requested.and_then(host_and_port),
    ) else {
        return;
    };
    let same_host = host == requested_host || is_loopback(&host) && is_loopback(&requested_host);
    // The command may belong to another output on the page.
    let elsewhere = report.blocks.iter().any(|other| {
        let target = other.target.as_deref().and_then(host_and_port);
        target.is_some_and(|(_, port)| port == requested_port)
    });
    if !same_host || port == requested_port || elsewhere {
        return;
    }
    findings.block(
        RULE,
        Level::Warning,
        block,
        command.line,
        [
            format!(
                "`{}`; the output is for {host}:{port}",
                shorten(&command.text)
            ),
            format!("port {requested_port} ≠ port {port}"),
            "Show the command that produced this output.".to_owned(),
        ],
    );
}

/// If the page has one command and one output, directly below each other, both belong to the same run.
fn check_users(report: &Report, block: &Block, command: &Command, findings: &mut Findings) {
    let (Some(shown), Some(requested)) = (&block.users, requested_users(&command.text)) else {
        return;
    };
    let adjacent = command.line + ADJACENT >= block.first_line;
    let alone = report.commands.len() == 1 && report.blocks.len() == 1;
    if !adjacent || !alone || (shown.value - requested).abs() < 0.5 {
        return;
    }
    findings.block(
        RULE,
        Level::Warning,
        block,
        shown.line,
        [
            format!(
                "`{}` (line {}); the output has {} users",
                shorten(&command.text),
                command.line,
                shown.text
            ),
            format!("{} ≠ {}", format_number(requested), shown.text),
            "Show the command that produced this output.".to_owned(),
        ],
    );
}

/// Tools print the duration of a test as it was requested.
fn check_duration(block: &Block, command: &Command, findings: &mut Findings) {
    let prints_it = matches!(block.tool, Tool::Wrk | Tool::Wrk2 | Tool::Autocannon);
    let adjacent = command.line + ADJACENT >= block.first_line;
    let (Some(shown), Some((requested, written)), true) = (
        &block.declared,
        requested_time(&command.text),
        prints_it && adjacent,
    ) else {
        return;
    };
    // wrk rounds to whole minutes.
    if (shown.value - requested).abs() <= shown.step.max(0.02 * requested) {
        return;
    }
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        command.line,
        [
            format!(
                "`{}` requests {written}; the output is of a test of {} (line {})",
                shorten(&command.text),
                shown.text,
                shown.line
            ),
            format!("{} ≠ {}", format_value(requested, Unit::Time), shown.text),
            "Show the command that produced this output.".to_owned(),
        ],
    );
}
