//! The same address for every request, on a page whose work depends on the data.

use crate::block::Tool;
use crate::finding::Level;
use crate::report::{Findings, Report};

/// Reports a query or a body with a fixed value, without a script or a list of targets.
pub fn check_same_request(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let query = block.target.as_ref().filter(|target| {
            let query = target.split_once('?').map(|(_, query)| query);
            query.is_some_and(|query| query.contains('=') && !query.contains(['$', '{']))
        });
        // In other tools, -d is a duration or a file.
        let takes_body = matches!(
            block.tool,
            Tool::Hey | Tool::Oha | Tool::Ghz | Tool::Bombardier | Tool::Autocannon
        );
        let command = block.command.as_deref().filter(|_| takes_body);
        let Some(sent) = query.cloned().or_else(|| constant_body(command?)) else {
            continue;
        };
        let varied = block.command.as_ref().is_some_and(|command| {
            [
                " -s ",
                "--script",
                ".lua",
                "-targets",
                "--rand-regex-url",
                "urls-from-file",
            ]
            .iter()
            .any(|word| command.contains(word))
        });
        if varied {
            continue;
        }
        findings.block(
            "same-request",
            Level::Note,
            block,
            block.first_line,
            [
                sent.chars().take(140).collect(),
                format!(
                    "cannot tell how the work depends on the data: the same {} was sent every time, and caches may have served it",
                    if query.is_some() { "query" } else { "body" }
                ),
                "Send different values, distributed like those of real users.".to_owned(),
            ],
        );
        return;
    }
}

/// The body that a command sends with each request, if it has values and no placeholder.
fn constant_body(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split(" -").skip(1).collect();
    let option = words.iter().find_map(|word| {
        let (name, value) = word.trim_start_matches('-').split_once([' ', '='])?;
        matches!(name, "d" | "data" | "b" | "body").then_some(value)
    })?;
    let option = option.trim();
    // The text after the closing quotation mark is another argument.
    let quote = option
        .chars()
        .next()
        .filter(|mark| matches!(mark, '\'' | '"'));
    let value = match quote {
        Some(mark) => option[1..].split(mark).next()?,
        None => option.split_whitespace().next()?,
    };
    let has_values = value.contains([':', '=']) && !value.contains("{{") && !value.contains('$');
    has_values.then(|| value.to_owned())
}
