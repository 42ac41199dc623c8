//! "7500 requests per second" directly below an output with another rate, and "generate 300
//! requests" directly above outputs with other counts.

use super::duration::headings_above;
use super::total::has_count;
use super::words::is_of_another_run;
use crate::block::Block;
use crate::document::Prose;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::{is_conditional, sentences, shorten};

/// A number, with any kind of digit grouping, and the rest of a short text.
static NUMBER: Pattern = pattern!(r"^[^\w]{0,4}(\d[\d.,]*)\s?(k?)\s+(.+?)\W*$");

/// Names of a rate that may form the rest of the text.
const RATES: [&str; 14] = [
    "requests per second",
    "requests/sec",
    "requests/s",
    "requests/second",
    "req/s",
    "req/sec",
    "rps",
    "peticiones por segundo",
    "solicitudes por segundo",
    "requisições por segundo",
    "requêtes par seconde",
    "anfragen pro sekunde",
    "запросов в секунду",
    "запросов/сек",
];

/// Checks a paragraph that contains only a rate and is between an output and the next output or heading.
pub fn check_rates(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let prose: Vec<&Prose> = report.prose().collect();
    for (at, block) in report.blocks.iter().enumerate() {
        let until = report
            .blocks
            .get(at + 1)
            .map_or(usize::MAX, |next| next.first_line);
        let titles = headings_above(report, block.first_line);
        let below = prose.partition_point(|prose| prose.line <= block.last_line);
        let Some(prose) = prose.get(below).filter(|prose| prose.line < until) else {
            continue;
        };
        let (Some(rate), true) = (&block.rate, headings_above(report, prose.line) == titles) else {
            continue;
        };
        let Some(claimed) = parse_lone_rate(&prose.text) else {
            continue;
        };
        let near = |rate: f64, share: f64| {
            // A dot or a comma may group thousands.
            [claimed, claimed * 1e3]
                .iter()
                .any(|claimed| (claimed - rate).abs() <= share * rate)
        };
        let of_another = report.blocks.iter().any(|other| {
            let rates = [&other.rate, &other.iteration_rate];
            rates
                .into_iter()
                .flatten()
                .any(|rate| near(rate.value, 0.03))
        });
        if rate.value <= 0.0 || near(rate.value, 0.15) || of_another {
            continue;
        }
        findings.block(
            "stale-prose",
            Level::Warning,
            block,
            prose.line,
            [
                format!(
                    "\"{}\" below an output with {} (line {})",
                    shorten(&prose.text),
                    rate.text,
                    rate.line
                ),
                format!(
                    "{} ÷ {} = {:.2}",
                    rate.text,
                    format_number(claimed),
                    rate.value / claimed
                ),
                "Copy the rate from the output.".to_owned(),
            ],
        );
    }
}

/// The number in a passage that contains only a rate.
fn parse_lone_rate(text: &str) -> Option<f64> {
    let found = NUMBER.first(text).filter(|_| text.len() < 80)?;
    let unit = found.get(3)?.as_str().to_lowercase();
    let scale = if found.get(2)?.as_str().is_empty() {
        1.0
    } else {
        1e3
    };
    let (value, _) = parse_number(found.get(1)?.as_str().trim_end_matches(['.', ',']))?;
    (RATES.contains(&unit.as_str()) && value > 0.0).then_some(value * scale)
}

static REQUESTS: Pattern = pattern!(
    r"(?i)\b(?:generate|send|make|issue|fire|perform|execute|launch|run)s?\s+(?:a total of )?(\d[\d,]*)\s+(?:http |get |post |total )?requests\b([^.;]{0,30})"
);
/// Words after a number of requests that show that it does not cover the whole run.
const PART: [&str; 12] = [
    "per",
    "/",
    "each",
    "every",
    "a second",
    "a minute",
    "at once",
    "at a time",
    "at the same",
    "concurrent",
    "parallel",
    "simultan",
];

/// Checks the last sentence above the outputs of a section if it requests a number that none of
/// them counts.
pub fn check_requested_number(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    // The limit is far above the number of such sentences on any page.
    let mut left = 64;
    for prose in report.prose() {
        if left == 0 || !prose.text.contains("requests") {
            continue;
        }
        let titles = headings_above(report, prose.line);
        if titles.iter().any(|title| is_of_another_run(title)) {
            continue;
        }
        left -= 1;
        for sentence in sentences(&prose.text) {
            let Some(found) = REQUESTS.first(sentence) else {
                continue;
            };
            let group = |at: usize| group(&found, at);
            let after = group(2).to_lowercase();
            let lower = sentence.to_lowercase();
            if PART.iter().any(|word| after.contains(word))
                || lower.contains("warm")
                || is_conditional(sentence)
            {
                continue;
            }
            let Some((claimed, step)) =
                parse_number(group(1)).filter(|(claimed, _)| *claimed >= 50.0)
            else {
                continue;
            };
            let own: Vec<&Block> = report
                .blocks
                .iter()
                .filter(|block| block.first_line > prose.line)
                .filter(|block| headings_above(report, block.first_line) == titles)
                .collect();
            let Some(first) = own.first() else {
                continue;
            };
            let counted = own.iter().all(|block| block.requests.is_some());
            // The number may be that of another output, or of a command that each user runs.
            let known = report
                .blocks
                .iter()
                .any(|block| has_count(block, claimed, step))
                || is_in_commands(report, claimed);
            if !counted || known {
                continue;
            }
            let texts: Vec<&str> = own
                .iter()
                .take(4)
                .filter_map(|block| Some(block.requests.as_ref()?.text.as_str()))
                .collect();
            findings.block(
                "declared-vs-counted",
                Level::Warning,
                first,
                prose.line,
                [
                    format!(
                        "\"{}\"; {} counted (line {})",
                        shorten(sentence),
                        texts.join(", "),
                        first.first_line
                    ),
                    format!(
                        "no output on the page has {} requests: {} ÷ {} = {:.2}",
                        format_number(claimed),
                        texts[0],
                        format_number(claimed),
                        first.requests.as_ref().map_or(0.0, |count| count.value) / claimed
                    ),
                    "Correct the number in the text, or show the run that it describes.".to_owned(),
                ],
            );
        }
    }
}

/// Whether a command contains this number, or two numbers whose product it is.
pub fn is_in_commands(report: &Report, claimed: f64) -> bool {
    report.commands.iter().take(200).any(|command| {
        let numbers: Vec<f64> = command
            .text
            .split(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
            .filter_map(|word| word.parse::<f64>().ok())
            .take(32)
            .collect();
        numbers
            .iter()
            .any(|one| *one == claimed || numbers.iter().any(|other| one * other == claimed))
    })
}
