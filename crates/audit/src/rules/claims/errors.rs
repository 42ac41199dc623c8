//! "No errors", next to a block with errors.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::block::Block;
use crate::document::Prose;
use crate::finding::Level;
use crate::quantity::digits;
use crate::report::{Findings, Report};
use crate::rules::prose::shortened;

static DENIED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^\d.,])(?:\b(?:no|zero|without(?: any)?)\s+(?:(?:failed|http|request|single)\s+)?(?:errors?|failures?|failed requests|timeouts|time-outs)\b|\b0\s+(?:errors|failures|failed requests)\b|\b100\s?%\s+success)").ok()
});
static NOT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:almost|nearly|should|expect|target|goal|if|until|with no errors expected|logs?|logged|compil\w*|build|crash\w*|warnings?)\b|[<≤]").ok()
});

pub fn sentence(report: &Report, prose: &Prose, sentence: &str, findings: &mut Findings) {
    // "No timeouts of sessions" has another subject.
    let denied = DENIED
        .as_ref()
        .and_then(|pattern| pattern.find(sentence))
        .is_some_and(|found| !sentence[found.end()..].trim_start().starts_with("of "));
    if !denied
        || NOT
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(sentence))
    {
        return;
    }
    let Some(block) = super::linked(report, prose) else {
        return;
    };
    let Some((count, line)) = failures(block) else {
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
                shortened(sentence),
                digits(count)
            ),
            format!("{} > 0", digits(count)),
            "State how many failed, and how.".to_owned(),
        ],
    );
}

fn failures(block: &Block) -> Option<(f64, usize)> {
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
