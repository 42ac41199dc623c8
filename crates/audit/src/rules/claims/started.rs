//! "10,000 users" above an output of JMeter that started fewer.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::duration::headings;
use crate::block::{Block, Tool};
use crate::document::Prose;
use crate::finding::Level;
use crate::quantity::{digits, number};
use crate::report::{Findings, Report};
use crate::rules::prose::{is_conditional, shortened};

static USERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^\w.,])(\d[\d,]*)\s+(?:(?:concurrent|virtual|parallel|simultaneous)\s+)?(?:users|threads|clients)\b").ok()
});
static STARTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bStarted: (\d+)\b").ok());

/// How many lines a sentence may be above the output that it describes.
const ABOVE: usize = 60;

pub fn sentence(report: &Report, prose: &Prose, sentence: &str, findings: &mut Findings) {
    if !report.blocks.iter().any(|block| block.tool == Tool::Jmeter) || is_conditional(sentence) {
        return;
    }
    let mut found = USERS.iter().flat_map(|users| users.captures_iter(sentence));
    let (Some(found), None) = (found.next(), found.next()) else {
        return;
    };
    let Some((said, _)) = found.get(1).and_then(|digits| number(digits.as_str())) else {
        return;
    };
    let titles = headings(report, prose.line);
    let mut own = report
        .blocks
        .iter()
        .filter(|block| headings(report, block.first_line) == titles);
    let (Some(block), None) = (own.next(), own.next()) else {
        return;
    };
    if block.first_line < prose.line || block.first_line > prose.line + ABOVE || said < 10.0 {
        return;
    }
    let Some((started, line)) = most_started(report, block) else {
        return;
    };
    if started >= 0.95 * said {
        return;
    }
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        prose.line,
        [
            format!(
                "\"{}\"; {} started (line {line})",
                shortened(sentence),
                digits(started)
            ),
            format!(
                "{} ÷ {} = {:.2}",
                digits(started),
                digits(said),
                started / said
            ),
            "State how many users started, and find out why the others did not.".to_owned(),
        ],
    );
}

/// The highest number of started users in the lines of an output.
fn most_started(report: &Report, block: &Block) -> Option<(f64, usize)> {
    let pattern = STARTED.as_ref()?;
    let from = block.first_line.saturating_sub(1);
    let lines = report.text.lines().enumerate().skip(from);
    let own = lines.take_while(|(at, _)| *at < block.last_line);
    own.filter_map(|(at, line)| {
        let started = pattern
            .captures(line)?
            .get(1)?
            .as_str()
            .parse::<f64>()
            .ok()?;
        Some((started, at + 1))
    })
    .max_by(|one, other| one.0.total_cmp(&other.0))
}
