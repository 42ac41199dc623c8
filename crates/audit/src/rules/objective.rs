//! Objectives, and whether the run met them.

use crate::block::{Block, quantile_name};
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{Quantity, Unit, format_number, format_value, parse_duration};
use crate::report::{Findings, Report};

/// A limit on a percentile, as stated in prose.
struct Objective {
    line: usize,
    limit: Quantity,
    quantile: f64,
}

static LIMIT: Pattern = pattern!(
    r"(?i)(?:(?:SLA|SLO|objective|target)s?\s+(?:of|is|was)\s+(\d+(?:\.\d+)?\s?m?s)\b)|(?:(\d+(?:\.\d+)?\s?m?s)\s+(?:as|is)\s+(?:our|the)\s+(?:new\s+)?(?:SLA|SLO|objective|target))"
);
static PERCENTILE: Pattern =
    pattern!(r"(?i)\b(?:p\s?(\d\d(?:\.\d+)?)|(\d\d(?:\.\d+)?)\s?(?:th)?[ -]?percentile)");
static MET: Pattern = pattern!(
    r"(?i)\b(?:sustains?|manages?|reach(?:es|ed)?|meets?|met|within|holds?|keeps?|kept|fulfil(?:ls|led)?|satisf(?:y|ies|ied))\b"
);
static NOT: Pattern = pattern!(
    r"(?i)\b(?:not|cannot|n't|never|might|could|would|if|fails?|failed|breaking|exceeds?)\b"
);

pub fn check_objectives(report: &Report, findings: &mut Findings) {
    check_thresholds(report, findings);
    let mut objective: Option<Objective> = None;
    let mut judged: Vec<usize> = Vec::new();
    for prose in report.prose() {
        for sentence in super::prose::sentences(&prose.text) {
            // The last stated limit applies until another limit replaces it.
            if let Some(found) = LIMIT.all(sentence).last() {
                let text = found
                    .get(1)
                    .or_else(|| found.get(2))
                    .map_or("", |group| group.as_str());
                let named = PERCENTILE.first(sentence).and_then(|found| {
                    let group = found.get(1).or_else(|| found.get(2))?;
                    group.as_str().parse::<f64>().ok()
                });
                let known = objective.as_ref().map(|objective| objective.quantile);
                let quantile = named.map(|percent| percent / 100.0).or(known);
                let fresh = !sentence.contains("old SLA");
                if let (Some(limit), Some(quantile), true) =
                    (parse_duration(text, prose.line), quantile, fresh)
                {
                    objective = Some(Objective {
                        line: prose.line,
                        limit,
                        quantile,
                    });
                }
            }
            let Some(objective) = &objective else {
                continue;
            };
            let about = ["SLA", "SLO", "objective", "target"]
                .iter()
                .any(|word| sentence.contains(word));
            // A negated or hypothetical clause claims nothing. A clause ends at a comma.
            let claim = sentence
                .split([',', ';'])
                .find(|clause| MET.is_match(clause) && !NOT.is_match(clause));
            if !about || claim.is_none() {
                continue;
            }
            // A claim below a heading refers to the next block below the same heading.
            let block = report.blocks.iter().find(|block| {
                block.first_line > prose.line && starts_with(&block.titles, &prose.titles)
            });
            if let Some(block) = block.filter(|block| !judged.contains(&block.first_line)) {
                judged.push(block.first_line);
                judge(block, objective, sentence, prose.line, findings);
            }
        }
    }
}

fn starts_with(titles: &[String], head: &[String]) -> bool {
    !head.is_empty() && titles.len() >= head.len() && titles[..head.len()] == *head
}

fn judge(
    block: &Block,
    objective: &Objective,
    sentence: &str,
    line: usize,
    findings: &mut Findings,
) {
    let Some(figure) = block
        .latency()
        .and_then(|latency| latency.at(objective.quantile))
    else {
        return;
    };
    if figure.bounds().0 <= objective.limit.value {
        return;
    }
    let within =
        samples_within(block, objective.limit.value).map_or(String::new(), |(count, total)| {
            format!(
                "; by the buckets {} of {} = {} were within {}, below {}",
                format_number(count),
                format_number(total),
                format_value(count / total, Unit::Share),
                objective.limit.text,
                format_value(objective.quantile, Unit::Share)
            )
        });
    findings.block(
        "objective-contradicted",
        Level::Error,
        block,
        figure.line,
        [
            format!(
                "\"{}\" (line {line}), the limit {} from line {}; {} {}",
                super::prose::shorten(sentence),
                objective.limit.text,
                objective.line,
                quantile_name(objective.quantile),
                figure.text
            ),
            format!("{} > {}{within}", figure.text, objective.limit.text),
            "State by how much it was missed, or search for the highest rate that meets it."
                .to_owned(),
        ],
    );
}

/// The number of samples at or below the limit, if a histogram bucket ends there.
fn samples_within(block: &Block, limit: f64) -> Option<(f64, f64)> {
    let end = block
        .histogram
        .iter()
        .position(|bucket| (bucket.upper - limit).abs() < 1e-9)?;
    let count = block.histogram[..=end]
        .iter()
        .map(|bucket| bucket.count)
        .sum();
    let total = block.histogram.iter().map(|bucket| bucket.count).sum();
    Some((count, total))
}

static RULED: Pattern = pattern!(r"'?p\((\d+(?:\.\d+)?)\)\s*<=?\s*(\d+(?:\.\d+)?)'?");

/// Reports a ✓ next to a threshold that the printed percentile exceeds.
fn check_thresholds(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        for threshold in block.thresholds.iter().filter(|threshold| threshold.passed) {
            let Some(found) = RULED.first(&threshold.text) else {
                continue;
            };
            let number = |at: usize| {
                found
                    .get(at)
                    .and_then(|group| group.as_str().parse::<f64>().ok())
            };
            let (Some(percent), Some(limit)) = (number(1), number(2)) else {
                continue;
            };
            // Only for the main latency, and only if the line contains no other figure.
            let own = threshold
                .text
                .split_whitespace()
                .last()
                .and_then(|word| parse_duration(word.split_once('=')?.1, threshold.line));
            if let Some(figure) = own
                && figure.bounds().0 > limit / 1e3
            {
                findings.block(
                    "objective-contradicted",
                    Level::Error,
                    block,
                    threshold.line,
                    [
                        format!("✓ {}", threshold.text),
                        format!("p({percent}) is {}, above {limit} ms", figure.text),
                        "Show the tool's threshold unchanged.".to_owned(),
                    ],
                );
            }
        }
    }
}
