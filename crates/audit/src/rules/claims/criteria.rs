//! "Validated criteria: 5,000 RPS, stable for ten minutes" on a page whose outputs are all far
//! below these figures.

use crate::block::Block;
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{Unit, format_number, format_value, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static RATE: Pattern = pattern!(
    r"(?i)^\s*(?:\d+[.)]|[-*+])\s+\W{0,4}(?:(?:throughput|rate)\W{1,6})?(\d[\d,]*(?:\.\d+)?)(k?)\+?\s?(?:rps|tps|qps|req/s|req/sec|requests/s|requests/sec|requests per second)\b"
);
static TIME: Pattern = pattern!(
    r"(?i)^\s*(?:\d+[.)]|[-*+])\s+\W{0,4}(?:stable|sustained|steady|stability)\b[^\d]{0,20}(\d+(?:\.\d+)?)\s?(minutes?|mins?|hours?|h)\b"
);

const OF_AIMS: [&str; 5] = ["criteri", "goal", "objective", "requirement", "target"];
const MET: [&str; 6] = [
    "validated",
    "met",
    "achieved",
    "fulfilled",
    "reached",
    "verified",
];

/// Whether a heading states that the following criteria were met.
fn says_met(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let words: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .collect();
    OF_AIMS.iter().any(|aim| lower.contains(aim))
        && MET.iter().any(|word| words.contains(word))
        && !words.contains(&"not")
        && !words.contains(&"if")
}

pub fn check(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let Some(first) = report.blocks.first() else {
        return;
    };
    let headings = report.document.headings.iter().take(2000);
    let lines: Vec<&str> = report.text.lines().collect();
    for (line, _) in headings.filter(|(_, heading)| says_met(heading)) {
        for (at, text) in lines.iter().enumerate().skip(*line).take(30) {
            if text.starts_with('#') || report.is_output(at + 1) {
                break;
            }
            if text.len() > 200 {
                continue;
            }
            if let Some(claimed) = parse_rate(text) {
                check_outputs_below(first, report, (claimed, Unit::Rate), text, at + 1, findings);
            }
            if let Some(claimed) = parse_time(text) {
                check_outputs_below(first, report, (claimed, Unit::Time), text, at + 1, findings);
            }
        }
    }
}

fn parse_rate(line: &str) -> Option<f64> {
    let found = RATE.first(line)?;
    let scale = if found.get(2)?.as_str().is_empty() {
        1.0
    } else {
        1e3
    };
    Some(parse_number(found.get(1)?.as_str())?.0 * scale)
}

fn parse_time(line: &str) -> Option<f64> {
    let found = TIME.first(line)?;
    let hours = found.get(2)?.as_str().to_lowercase().starts_with('h');
    let unit = if hours { 3600.0 } else { 60.0 };
    Some(parse_number(found.get(1)?.as_str())?.0 * unit)
}

/// Whether every output is below half of the criterion.
fn check_outputs_below(
    first: &Block,
    report: &Report,
    (claimed, unit): (f64, Unit),
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let of = |block: &Block| match unit {
        Unit::Rate => block.rate.as_ref().map(|rate| rate.value),
        _ => block
            .elapsed
            .as_ref()
            .map(|time| time.value)
            .or(block.divisor_time()),
    };
    let mut highest = 0.0_f64;
    for block in &report.blocks {
        let Some(value) = of(block) else {
            return;
        };
        highest = highest.max(value);
    }
    if highest <= 0.0 || highest >= 0.5 * claimed {
        return;
    }
    findings.block(
        "objective-contradicted",
        Level::Warning,
        first,
        line,
        [
            format!(
                "\"{}\" among what was met; no output has more than {}",
                shorten(text.trim()),
                format_value(highest, unit)
            ),
            format!(
                "{} ÷ {} = {}",
                format_value(highest, unit),
                format_value(claimed, unit),
                format_number(highest / claimed)
            ),
            "State by how much it was missed, or show the run that met it.".to_owned(),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::{parse_rate, parse_time, says_met};

    #[test]
    fn only_headings_of_what_was_met_count() {
        assert!(says_met("Validated criteria:"));
        assert!(says_met("✅ Goals achieved"));
        assert!(!says_met("Criteria"));
        assert!(!says_met("Targets that were not met"));
        assert!(!says_met("Test methods and goals"));
    }

    #[test]
    fn items_name_a_rate_or_a_time() {
        assert_eq!(parse_rate("4. **5,000 RPS** - throughput"), Some(5000.0));
        assert_eq!(parse_rate("- Throughput: 2k req/s"), Some(2000.0));
        assert_eq!(parse_rate("- 10,000 users"), None);
        assert_eq!(parse_time("5. **Stable for 10 minutes**"), Some(600.0));
        assert_eq!(parse_time("- 10 minutes of warm-up"), None);
    }
}
