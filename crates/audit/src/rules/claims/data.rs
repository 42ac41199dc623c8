//! "reads 1.2 KB per second" next to an output with 1.22 MB per second: the same digits with a
//! different multiple of the unit.

use super::find_nearest_block_above;
use crate::block::Block;
use crate::document::Prose;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Quantity, parse_number, split_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static DATA: Pattern =
    pattern!(r"(?i)(?:^|[^\w.,])(\d[\d,]*(?:\.\d+)?)\s?([kmg])i?(b|byte|bytes|bits?)\b");

/// Words of a sentence about the total data of a run, not about the size of one response.
const PER_TIME: [&str; 16] = [
    "per second",
    "/s",
    "a second",
    "transfer",
    "throughput",
    "bandwidth",
    "每秒",
    "吞吐",
    "传输",
    "毎秒",
    "초당",
    "por segundo",
    "par seconde",
    "в секунду",
    "pro sekunde",
    "saniyede",
];

pub fn check_sentence(report: &Report, prose: &Prose, sentence: &str, findings: &mut Findings) {
    let lower = sentence.to_lowercase();
    if !PER_TIME.iter().any(|word| lower.contains(word)) {
        return;
    }
    let Some(block) = find_nearest_block_above(report, prose.line) else {
        return;
    };
    for found in DATA.all(sentence).take(4) {
        let group = |at: usize| group(&found, at);
        let (Some((claimed, step)), Some(multiple)) =
            (parse_number(group(1)), group(2).chars().next())
        else {
            continue;
        };
        let digits = group(1).chars().filter(char::is_ascii_digit).count();
        let bits = group(3).to_lowercase().starts_with("bit") || group(3) == "b" && multiple == 'M';
        if digits < 2 || bits || claimed <= 0.0 {
            continue;
        }
        let written = format!("{} {}{}", group(1), group(2), group(3));
        let multiple = multiple.to_ascii_lowercase();
        // The digits are those of the output, either rounded or truncated.
        let same = |figure: &&Quantity| {
            number_and_prefix(figure).is_some_and(|(value, unit)| {
                unit == multiple && (value - claimed).abs() <= step.max(0.05 * value)
            })
        };
        let other = |figure: &&Quantity| {
            number_and_prefix(figure).is_some_and(|(value, unit)| {
                let cut = value >= claimed && value < claimed + step;
                unit != multiple && ((value - claimed).abs() <= 0.5 * step || cut)
            })
        };
        if report
            .blocks
            .iter()
            .flat_map(printed_amounts)
            .any(|figure| same(&figure))
        {
            continue;
        }
        let Some(shown) = printed_amounts(block)
            .into_iter()
            .find(|figure| other(figure))
        else {
            continue;
        };
        findings.block(
            "unit-mismatch",
            Level::Warning,
            block,
            prose.line,
            [
                format!(
                    "\"{}\"; the output has {} (line {})",
                    shorten(sentence),
                    shown.text,
                    shown.line
                ),
                format!(
                    "{written} and {} have the same digits, but different units",
                    shown.text
                ),
                "Use the unit of the output.".to_owned(),
            ],
        );
        return;
    }
}

/// The amounts of data that an output prints.
fn printed_amounts(block: &Block) -> Vec<&Quantity> {
    let sides = [&block.received, &block.sent];
    sides
        .into_iter()
        .flat_map(|side| [&side.rate, &side.total])
        .flatten()
        .collect()
}

/// The number as written, and the prefix letter of its unit.
fn number_and_prefix(figure: &Quantity) -> Option<(f64, char)> {
    let (digits, unit) = split_number(&figure.text)?;
    let unit = unit.trim();
    let letter = unit.chars().next()?.to_ascii_lowercase();
    let bytes = unit.contains('B');
    (bytes && matches!(letter, 'k' | 'm' | 'g')).then_some((parse_number(digits)?.0, letter))
}
