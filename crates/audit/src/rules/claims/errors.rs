//! "No errors" next to a block with errors.

use crate::block::Block;
use crate::document::Prose;
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static DENIED: Pattern = pattern!(
    r"(?i)(?:^|[^\d.,])(?:\b(?:no|zero|without(?: any)?)\s+(?:(?:failed|http|request|single)\s+)?(?:errors?|failures?|failed requests|timeouts|time-outs)\b|\b0\s+(?:errors|failures|failed requests)\b|\b100\s?%\s+success)"
);
static NOT: Pattern = pattern!(
    r"(?i)\b(?:almost|nearly|should|expect|target|goal|if|until|with no errors expected|logs?|logged|compil\w*|build|crash\w*|warnings?)\b|[<≤]"
);

pub fn check_sentence(report: &Report, prose: &Prose, sentence: &str, findings: &mut Findings) {
    // "No timeouts of sessions" is about something else.
    let denied = DENIED
        .find(sentence)
        .is_some_and(|found| !sentence[found.end()..].trim_start().starts_with("of "))
        || denies_errors_in_other_language(sentence);
    if !denied || NOT.is_match(sentence) {
        return;
    }
    let Some(block) = super::find_linked_block(report, prose) else {
        return;
    };
    let Some((count, line)) = counted_failures(block) else {
        return;
    };
    findings.block(
        "errors-denied",
        Level::Error,
        block,
        prose.line,
        [
            format!(
                "\"{}\"; the block counts {} (line {line})",
                shorten(sentence),
                format_number(count)
            ),
            format!("{} > 0", format_number(count)),
            "State how many failed, and how.".to_owned(),
        ],
    );
}

static FAILED: Pattern = pattern!(
    r"(?i)(?:^|[^\d.,])(\d[\d,]*)\s+(?:(?:http |of the )?requests\s+(?:failed|timed out)|failed requests|failures|errors|timeouts|time-outs)\b"
);

/// Checks "38 requests failed" below a block with another number of failures.
pub fn check_counted_errors(
    report: &Report,
    prose: &Prose,
    sentence: &str,
    findings: &mut Findings,
) {
    let lower = sentence.to_lowercase();
    let possible = ["fail", "error", "time"]
        .iter()
        .any(|word| lower.contains(word));
    if !possible || crate::rules::prose::is_conditional(sentence) || NOT.is_match(sentence) {
        return;
    }
    let Some(claimed) = FAILED
        .first(sentence)
        .and_then(|found| parse_number(found.get(1)?.as_str()))
        .map(|(claimed, _)| claimed)
        .filter(|claimed| *claimed >= 2.0)
    else {
        return;
    };
    let Some(block) = super::find_linked_block(report, prose) else {
        return;
    };
    let Some((count, line)) = counted_failures(block) else {
        return;
    };
    // The text may count only one kind of failure, if the page prints that number.
    if (claimed - count).abs() <= 0.02 * count || is_printed(report, claimed, prose.line) {
        return;
    }
    findings.block(
        "stale-prose",
        Level::Warning,
        block,
        prose.line,
        [
            format!(
                "\"{}\"; the block counts {} (line {line})",
                shorten(sentence),
                format_number(count)
            ),
            format!(
                "{} is not {}, and the page contains no such number",
                format_number(claimed),
                format_number(count)
            ),
            "Copy the number from the output.".to_owned(),
        ],
    );
}

/// Whether another line of the page contains this number.
fn is_printed(report: &Report, claimed: f64, at: usize) -> bool {
    let mut lines = report.text.lines().enumerate().take(20_000);
    lines.any(|(index, line)| {
        index + 1 != at
            && line
                .split(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | ',')))
                .filter_map(|word| parse_number(word.trim_matches(['.', ','])))
                .any(|(value, _)| value == claimed)
    })
}

/// "No errors" in other languages.
fn denies_errors_in_other_language(sentence: &str) -> bool {
    const DENIED: [&str; 14] = [
        "sin errores",
        "cero errores",
        "ningún error",
        "sem erros",
        "nenhum erro",
        "sans erreur",
        "aucune erreur",
        "keine fehler",
        "ohne fehler",
        "без ошибок",
        "без единой ошибки",
        "没有错误",
        "エラーなし",
        "hatasız",
    ];
    let lower = sentence.to_lowercase();
    DENIED.iter().any(|words| lower.contains(words))
}

fn counted_failures(block: &Block) -> Option<(f64, usize)> {
    let tally = block.failures.as_ref().filter(|tally| {
        tally.failed > 0.0
            && block
                .length_failures
                .as_ref()
                .is_none_or(|length| length.value < tally.failed)
    });
    if let Some(tally) = tally {
        return Some((tally.failed, tally.line));
    }
    let sockets = block
        .sockets
        .filter(|sockets| sockets.connect + sockets.read + sockets.write + sockets.timeout > 0.0);
    if let Some(sockets) = sockets {
        return Some((
            sockets.connect + sockets.read + sockets.write + sockets.timeout,
            sockets.line,
        ));
    }
    let bad: f64 = block
        .statuses
        .iter()
        .filter(|(code, _)| code.starts_with(['4', '5']) || code == "0" || code == "non-2xx")
        .map(|(_, count)| count.value)
        .sum();
    let line = block
        .statuses
        .first()
        .map_or(block.first_line, |(_, count)| count.line);
    (bad > 0.0).then_some((bad, line))
}
