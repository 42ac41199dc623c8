//! "A has a lower latency and a higher throughput", if A names one output and exactly one other
//! output is under the same parent headings.

use crate::block::Block;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Quantity, format_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static SUBJECT: Pattern = pattern!(
    r"(?i)^\W*(?:the )?([\w][\w .+/-]{1,40}?)\s+(?:has|had|shows|showed|achieves|achieved|delivers|delivered|offers|offered|gives|gave|provides|provided)\s+(.+)$"
);
static BETTER: Pattern = pattern!(
    r"(?i)\b(better|higher|greater|lower|worse|lesser|more|less)\s+(throughput|latency|latencies|requests per second|rps)\b"
);

pub fn check_sentence(report: &Report, sentence: &str, line: usize, findings: &mut Findings) {
    let lower = sentence.to_lowercase();
    let about = ["throughput", "latenc", "requests per second", "rps"];
    if !about.iter().any(|word| lower.contains(word)) {
        return;
    }
    if [
        "if ", "should", "would", "could", "can ", " not ", "n't ", "expect",
    ]
    .iter()
    .any(|word| lower.contains(word))
    {
        return;
    }
    let Some(found) = SUBJECT.first(sentence) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let claims = group(2);
    // A phrase "than X" may refer to a third block.
    if claims.to_lowercase().contains(" than ") || !BETTER.is_match(claims) {
        return;
    }
    let Some((one, other)) =
        find_block_titled(report, group(1)).and_then(|one| Some((one, find_rival(report, one)?)))
    else {
        return;
    };
    let figure = |block: &Block, of_rate: bool| {
        let mean = block.latency().and_then(|latency| latency.mean.clone());
        let figure = if of_rate { block.rate.clone() } else { mean };
        figure.filter(|figure| figure.value > 0.0)
    };
    for found in BETTER.all(claims).take(4) {
        let word = |at: usize| {
            found
                .get(at)
                .map_or("", |word| word.as_str())
                .to_lowercase()
        };
        let of_rate = !word(2).starts_with("latenc");
        let more = match word(1).as_str() {
            "better" => of_rate,
            "worse" => !of_rate,
            "higher" | "greater" | "more" => true,
            _ => false,
        };
        let (Some(a), Some(b)) = (figure(one, of_rate), figure(other, of_rate)) else {
            continue;
        };
        let ratio = a.value / b.value;
        let reversed = if more { ratio < 0.99 } else { ratio > 1.01 };
        if !reversed {
            continue;
        }
        findings.page(
            "comparison-reversed",
            Level::Warning,
            line,
            [
                format_contradiction(sentence, &a, &b),
                format!("{} ÷ {} = {}", a.text, b.text, format_number(ratio)),
                "Reverse the comparison, or name the figure that it describes.".to_owned(),
            ],
        );
    }
}

/// Formats the sentence, and the two figures that contradict it with their lines.
fn format_contradiction(sentence: &str, a: &Quantity, b: &Quantity) -> String {
    format!(
        "\"{}\"; {} (line {}) and {} (line {})",
        shorten(sentence),
        a.text,
        a.line,
        b.text,
        b.line
    )
}

/// The only other block of the tool under the same parent headings.
pub fn find_rival<'r>(report: &'r Report, one: &Block) -> Option<&'r Block> {
    let (_, above) = one.titles.split_last()?;
    let mut others = report.blocks.iter().filter(|other| {
        other.tool == one.tool
            && !std::ptr::eq(*other, one)
            && other
                .titles
                .split_last()
                .is_some_and(|(_, titles)| titles == above)
    });
    let other = others.next()?;
    others.next().is_none().then_some(other)
}

/// The only block whose innermost title contains these words.
pub fn find_block_titled<'r>(report: &'r Report, name: &str) -> Option<&'r Block> {
    let name = name.trim().to_lowercase();
    let name = name
        .rsplit([',', ':'])
        .next()
        .unwrap_or(&name)
        .trim()
        .trim_start_matches("the ");
    let plain = |text: &str| {
        let text = text.to_lowercase();
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let name = plain(name);
    if name.len() < 2 {
        return None;
    }
    let mut with = report.blocks.iter().filter(|block| {
        let title = block.titles.last();
        title.is_some_and(|title| plain(title).contains(&name))
    });
    let first = with.next()?;
    with.next().is_none().then_some(first)
}
