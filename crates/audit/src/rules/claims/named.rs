//! "A is N times faster than B", where A and B each name one block.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::block::Block;
use crate::finding::Level;
use crate::quantity::digits;
use crate::report::{Findings, Report};
use crate::rules::prose::shortened;

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b([\w][\w .+/-]{1,40}?)\s+(?:is|was|are|handles?|handled|achieves?|achieved|serves?|served|delivers?|reaches)\s+(about |around |~|roughly |up to |nearly |almost |over |more than )?(\d+(?:\.\d+)?)\s?(?:x|×|times)\s+(?:faster|quicker|more requests(?: per second)?|(?:the|higher|more) throughput)\s*(?:than|of|compared (?:to|with))\s+([\w][\w .+/-]{1,40})").ok()
});

pub fn sentence(report: &Report, sentence: &str, line: usize, findings: &mut Findings) {
    let Some(found) = CLAIM
        .as_ref()
        .and_then(|pattern| pattern.captures(sentence))
    else {
        return;
    };
    let group = |at: usize| found.get(at).map_or("", |group| group.as_str());
    let (Some(one), Some(other)) = (only(report, group(1)), only(report, group(4))) else {
        return;
    };
    let (Some(a), Some(b), Ok(said)) = (&one.rate, &other.rate, group(3).parse::<f64>()) else {
        return;
    };
    if std::ptr::eq(one, other) || a.value <= 0.0 || b.value <= 0.0 {
        return;
    }
    let rates = a.value / b.value;
    let means = one
        .latency()
        .and_then(|t| t.mean.as_ref())
        .zip(other.latency().and_then(|t| t.mean.as_ref()));
    let latencies = means.map_or(rates, |(a, b)| b.value / a.value);
    let near = |right: f64| (said - right).abs() <= 0.15 * right;
    if near(rates) || near(latencies) {
        return;
    }
    let reversed = rates < 1.0 && latencies < 1.0;
    findings.page(
        if reversed {
            "comparison-reversed"
        } else {
            "ratio-misstated"
        },
        Level::Warning,
        line,
        [
            format!(
                "\"{}\"; {} (line {}) and {} (line {})",
                shortened(sentence),
                a.text,
                a.line,
                b.text,
                b.line
            ),
            format!(
                "{} ÷ {} = {}, not {}",
                a.text,
                b.text,
                digits(rates),
                digits(said)
            ),
            "Compute the factor from the two blocks, and name the figure.".to_owned(),
        ],
    );
}

/// The only block whose innermost title has these words.
fn only<'r>(report: &'r Report, name: &str) -> Option<&'r Block> {
    let name = name.trim().to_lowercase();
    let name = name
        .rsplit([',', ':'])
        .next()
        .unwrap_or(&name)
        .trim()
        .trim_start_matches("the ");
    if name.len() < 2 {
        return None;
    }
    let mut with = report.blocks.iter().filter(|block| {
        block.titles.last().is_some_and(|title| {
            title
                .to_lowercase()
                .split(|letter: char| !letter.is_alphanumeric())
                .collect::<Vec<_>>()
                .join(" ")
                .contains(name)
        })
    });
    let first = with.next()?;
    with.next().is_none().then_some(first)
}
