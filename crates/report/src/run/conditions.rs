//! The conditions of a run: machine, versions, connections, configuration.

use plimsoll_plots::number;
use serde_json::Value;

use super::conclusion::{format_length, shorten};
use super::tables::titled_table;
use super::view::RunView;
use crate::document::{Block, Head, Words};
use crate::method::format_bytes;

/// Maximum size of the configuration on a page, in bytes. Scripts may have any number of thresholds.
const MAX_BYTES: usize = 16_000;

/// The machine, the versions and the connections.
pub fn environment(run: &RunView<'_>) -> Vec<Block> {
    let machine = &run.header.environment;
    let processors = match machine.cpus {
        0 => String::new(),
        cpus => cpus.to_string(),
    };
    let memory = match machine.memory_bytes {
        0 => String::new(),
        count => format_bytes(count),
    };
    let mut rows: Vec<(String, String)> = vec![
        ("processor".into(), machine.cpu.clone()),
        ("processors used".into(), processors),
        ("memory".into(), memory),
        ("system".into(), machine.os.clone()),
        ("kernel".into(), machine.kernel.clone()),
    ];
    rows.extend(machine.settings.iter().cloned());
    let counts = |counts: &std::collections::BTreeMap<String, u64>| {
        let each: Vec<String> = counts
            .iter()
            .map(|(name, count)| format!("{name} ({})", number::count(*count)))
            .collect();
        each.join(", ")
    };
    let opened = match run.end.connections_opened {
        0 => String::new(),
        opened => number::count(opened),
    };
    let resent = match run.end.requests_resent {
        0 => String::new(),
        resent => format!(
            "{}, after the server closed their connection or refused them",
            number::count(resent)
        ),
    };
    rows.extend([
        ("fingerprint".into(), machine.fingerprint.clone()),
        ("plimsoll".into(), run.header.plimsoll.clone()),
        ("started".into(), run.header.started.clone()),
        ("duration".into(), format_length(run.end.duration_seconds)),
        ("responses".into(), counts(&run.end.protocols)),
        ("TLS".into(), counts(&run.end.tls_versions)),
        ("cipher suites".into(), counts(&run.end.tls_cipher_suites)),
        ("connections opened".into(), opened),
        ("requests sent again".into(), resent),
    ]);
    let rows = rows
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| vec![Words::plain(name), Words::plain(value)])
        .collect();
    let head = vec![Head::words("what"), Head::words("value")];
    titled_table(run, "Machine, software and connections", head, rows, 1)
}

/// The command line and all effective options.
pub fn configuration(run: &RunView<'_>) -> Vec<Block> {
    let titled = |title: &str| match run.label {
        "" => title.to_owned(),
        label => format!("{label}: {title}"),
    };
    let mut blocks = Vec::new();
    if !run.header.command.is_empty() {
        let words: Vec<String> = run
            .header
            .command
            .iter()
            .map(|word| quote_for_shell(word))
            .collect();
        blocks.push(Block::Raw {
            label: titled("Command"),
            text: truncate(words.join(" ")),
            folded: false,
        });
    }
    if run.header.configuration != Value::Null {
        blocks.push(Block::Raw {
            label: titled("All effective options"),
            text: truncate(format!("{:#}", run.header.configuration)),
            folded: false,
        });
    }
    blocks
}

fn truncate(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        let mut end = MAX_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str("\n… The record has the rest.");
    }
    text
}

/// A word of a command line as a shell reads it.
fn quote_for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,*".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The title of a report.
pub fn report_title(run: &RunView<'_>) -> String {
    let header = run.header;
    if !header.title.is_empty() {
        return shorten(&header.title);
    }
    // Records of earlier versions have no title.
    let text = |pointer: &str| {
        header
            .configuration
            .pointer(pointer)
            .and_then(Value::as_str)
    };
    let subject = text("/url")
        .or_else(|| text("/files/0"))
        .or_else(|| text("/title"));
    match subject {
        Some(subject) => shorten(&format!("{} {subject}", header.kind)),
        None => format!("plimsoll {}", header.kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quote_for_shell("--rate=10"), "--rate=10");
        assert_eq!(quote_for_shell("Accept: it's"), "'Accept: it'\\''s'");
        assert_eq!(quote_for_shell(""), "''");
    }

    #[test]
    fn a_long_configuration_is_cut_between_characters() {
        let cut = truncate("ä".repeat(MAX_BYTES));
        assert!(cut.len() < MAX_BYTES + 40 && cut.ends_with("the rest."));
    }
}
