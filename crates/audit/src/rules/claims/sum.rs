//! "3279 + 120 requests", where the first number is the count of a block and the second one is
//! close to its failures.

use crate::block::Block;
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::failures::unsuccessful_responses;
use crate::rules::prose::shorten;

static SUM: Pattern = pattern!(r"(?:^|[^\d.,+])(\d[\d,]*)\s*\+\s*(\d[\d,]*)(?:[^\d.,%]|$)");

/// Maximum difference at which the second number still counts as the number of failures.
const NEAR: f64 = 0.25;

pub fn check_sentence(report: &Report, sentence: &str, line: usize, findings: &mut Findings) {
    let Some(found) = SUM.first(sentence).filter(|_| report.document.markdown) else {
        return;
    };
    let read = |at: usize| Some(parse_number(found.get(at)?.as_str())?.0);
    let (Some(made), Some(added)) = (read(1), read(2)) else {
        return;
    };
    if made < 100.0 || added < 10.0 {
        return;
    }
    let counted = |block: &&Block| {
        block
            .requests
            .as_ref()
            .is_some_and(|count| count.value == made)
    };
    let mut blocks = report.blocks.iter().filter(counted);
    let (Some(block), None) = (blocks.next(), blocks.next()) else {
        return;
    };
    let Some((failed, at)) = only_failure_count(block) else {
        return;
    };
    if added == failed || (added - failed).abs() > NEAR * failed {
        return;
    }
    findings.block(
        "stale-prose",
        Level::Warning,
        block,
        line,
        [
            format!(
                "\"{}\"; the block counts {} failures (line {at})",
                shorten(sentence),
                format_number(failed)
            ),
            format!(
                "{} + {} = {}, but {} + {} = {}",
                format_number(made),
                format_number(added),
                format_number(made + added),
                format_number(made),
                format_number(failed),
                format_number(made + failed)
            ),
            "Copy both numbers from the output.".to_owned(),
        ],
    );
}

/// The failures of a block that counts only one kind of failure.
fn only_failure_count(block: &Block) -> Option<(f64, usize)> {
    let sockets = block
        .sockets
        .filter(|_| unsuccessful_responses(block) == 0.0)?;
    let mut kinds = [
        sockets.connect,
        sockets.read,
        sockets.write,
        sockets.timeout,
    ]
    .into_iter()
    .filter(|count| *count > 0.0);
    match (kinds.next(), kinds.next()) {
        (Some(count), None) => Some((count, sockets.line)),
        _ => None,
    }
}
