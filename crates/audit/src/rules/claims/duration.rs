//! "Test Duration: ~30 seconds", "Rate: 1000", "Total Requests: 5000" above a block with a
//! different duration, rate or count.

use super::adjacent_numbers::is_in_commands;
use crate::block::{Block, Tool};
use crate::document::Prose;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Unit, format_number, format_value, parse_duration, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::{is_conditional, shorten};

static LINE: Pattern = pattern!(
    r"(?i)^\W*(?:test |run )?duration\W{0,4}(?:about |around |~|≈)?\s*(\d+(?:\.\d+)?)\s?(s|sec|secs|seconds?|m|min|mins|minutes?)\b(?:\s+(?:in )?total)?\s*(?:\([^()]*\))?\W*$"
);

static RATE: Pattern = pattern!(
    r"(?i)(?:\b(?:rps|qps)\s*[=:]\s*~?\s*(\d[\d,]*)\b)|(?:^\W*(?:request |target |arrival )?rate\W{0,4}~?\s*(\d[\d,]*)\s?(?:req/s|rps|requests/s|requests/second|requests per second|req/sec|/s)\b)"
);

/// Checks a requested rate in the text above the only block of a section.
fn check_rates(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    for (at, line) in report.text.lines().enumerate().take(50_000) {
        if line.len() > 120 || report.is_output(at + 1) {
            continue;
        }
        let Some(claimed) = RATE
            .first(line)
            .and_then(|found| found.get(1).or_else(|| found.get(2)))
            .and_then(|digits| parse_number(digits.as_str()))
            .map(|(value, _)| value)
        else {
            continue;
        };
        let titles = headings_above(report, at + 1);
        let mut below = report
            .blocks
            .iter()
            .filter(|block| block.first_line > at + 1)
            .filter(|block| headings_above(report, block.first_line).starts_with(&titles));
        let (Some(block), None) = (below.next(), below.next()) else {
            continue;
        };
        let Some(rate) = block
            .rate
            .as_ref()
            .filter(|rate| rate.value > 0.0 && claimed > 0.0)
        else {
            continue;
        };
        if rate.value >= 0.9 * claimed {
            continue;
        }
        findings.block(
            "generator-saturated",
            Level::Warning,
            block,
            rate.line,
            [
                format!("\"{}\" (line {}); {}", shorten(line.trim()), at + 1, rate.text),
                format!(
                    "{} ÷ {} = {} of the requested rate",
                    rate.text,
                    format_number(claimed),
                    format_value(rate.value / claimed, Unit::Share)
                ),
                "State that the rate was not reached, and find out whether the generator or the system was the limit.".to_owned(),
            ],
        );
    }
}

pub fn check_lines(report: &Report, findings: &mut Findings) {
    check_rates(report, findings);
    if !report.document.markdown {
        return;
    }
    for (at, line) in report.text.lines().enumerate().take(50_000) {
        if line.len() > 120 || report.is_output(at + 1) {
            continue;
        }
        // An option of a command is not a statement of the text.
        let option = line.trim().trim_start_matches('-');
        if option.len() < line.trim().len() && option.starts_with(|c: char| c.is_alphabetic()) {
            continue;
        }
        let Some(found) = LINE.first(line) else {
            continue;
        };
        let group = |at: usize| group(&found, at);
        let unit = if group(2).to_lowercase().starts_with('m') {
            "m"
        } else {
            "s"
        };
        let Some(claimed) = parse_duration(&format!("{}{unit}", group(1)), at + 1) else {
            continue;
        };
        let titles = headings_above(report, at + 1);
        let mut below = report
            .blocks
            .iter()
            .filter(|block| headings_above(report, block.first_line) == titles);
        let (Some(block), None) = (below.next(), below.next()) else {
            continue;
        };
        judge(block, line.trim(), claimed.value, at + 1, findings);
    }
}

static LASTS: Pattern = pattern!(
    r"(?i)\b(?:benchmark|test|load|attack|run)(?:s|ed|ing)?\b[^.;]{0,40}?\bfor\s+(\d+)\s?(s|seconds|m|minutes)\b"
);
/// The test duration in other languages: a word for a test or for "during", followed by a time.
static OTHER_LASTS: Pattern = pattern!(
    r"(?i)(?:压测|压力测试|压力測試|测试时间|持续|跑了?|負荷テスト|부하 테스트|durante|pendant|в течение|boyunca)[^。；.;\d]{0,12}?(\d+)\s?(s|秒|초|секунд|segundos|secondes|m|min|分|분|минут|minutos|minutes)"
);

/// Checks "This runs a benchmark for 30 seconds" directly above an output of a different duration.
pub fn check_sentence(report: &Report, prose: &Prose, sentence: &str, findings: &mut Findings) {
    if is_conditional(sentence) {
        return;
    }
    let english = sentence.contains(" for ").then(|| LASTS.first(sentence));
    let Some(found) = english.flatten().or_else(|| OTHER_LASTS.first(sentence)) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let unit = if group(2).to_lowercase().starts_with(['m', 'м', '分', '분']) {
        "m"
    } else {
        "s"
    };
    let Some(claimed) = parse_duration(&format!("{}{unit}", group(1)), prose.line) else {
        return;
    };
    let titles = headings_above(report, prose.line);
    let mut own = report
        .blocks
        .iter()
        .filter(|block| headings_above(report, block.first_line) == titles)
        .skip_while(|block| block.first_line < prose.line);
    let Some(block) = own.next() else {
        return;
    };
    // A time on the page may belong to a run that is not shown.
    let known = report.blocks.iter().any(|block| {
        let times = [&block.declared, &block.elapsed];
        let mut times = times.into_iter().flatten().map(|time| time.value);
        times.any(|time| time > claimed.value / 1.6 && time < claimed.value * 1.6)
            || block
                .divisor_time()
                .is_some_and(|time| time > claimed.value / 1.6 && time < claimed.value * 1.6)
    }) || is_in_commands(
        report,
        parse_number(group(1)).map_or(0.0, |(claimed, _)| claimed),
    );
    let timed = block.declared.as_ref().or(block.elapsed.as_ref());
    let (Some(time), false) = (timed, known) else {
        return;
    };
    if block.first_line > prose.line + ABOVE {
        return;
    }
    // If the same sentence is above several outputs, report it once.
    let arithmetic = format!(
        "{} ÷ {} = {:.2}",
        time.text,
        format_value(claimed.value, Unit::Time),
        time.value / claimed.value
    );
    let mut before = findings.found.iter();
    if before.any(|found| found.rule == "declared-vs-counted" && found.arithmetic == arithmetic) {
        return;
    }
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        prose.line,
        [
            format!(
                "\"{}\"; the output is of {} (line {})",
                shorten(sentence),
                time.text,
                time.line
            ),
            arithmetic,
            "State how long the run took.".to_owned(),
        ],
    );
}

/// Maximum distance in lines of a sentence above the output that it describes.
const ABOVE: usize = 30;

/// The headings above a line, without the title that the text directly above a code fence provides.
pub fn headings_above(report: &Report, line: usize) -> Vec<String> {
    let paths = &report.document.paths;
    let at = paths.partition_point(|(heading, _)| *heading <= line);
    at.checked_sub(1)
        .and_then(|at| paths.get(at))
        .map_or_else(Vec::new, |(_, titles)| titles.clone())
}

fn judge(block: &Block, line_text: &str, claimed: f64, line: usize, findings: &mut Findings) {
    let count = block
        .requests
        .as_ref()
        .map(|n| n.value)
        .or(block.requested_count.as_ref().map(|n| n.value));
    let (Some(count), Some(rate)) = (count, &block.rate) else {
        return;
    };
    if rate.value <= 0.0 || block.first_line < line {
        return;
    }
    let waited = block.last_wait.as_ref().map_or(0.0, |wait| wait.value);
    let elapsed = block
        .elapsed
        .as_ref()
        .map_or(count / rate.value, |time| time.value - waited);
    // "About" allows a wide range. k6 divides by the duration of the whole run, which is at least
    // the configured duration.
    let whole = block.tool == Tool::K6;
    let about = ["about", "around", "~", "≈", "approx"];
    let exact = whole && !about.iter().any(|word| line_text.contains(word));
    let min_elapsed = if exact { 0.75 * claimed } else { claimed / 1.6 };
    if elapsed > min_elapsed && (whole || elapsed < claimed * 1.6) {
        return;
    }
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        line,
        [
            format!(
                "\"{}\"; {} requests at {} (line {})",
                shorten(line_text),
                format_number(count),
                rate.text,
                rate.line
            ),
            format!(
                "{} ÷ {} = {}, not {}",
                format_number(count),
                rate.text,
                format_value(count / rate.value, Unit::Time),
                format_value(claimed, Unit::Time)
            ),
            "State how long the run took.".to_owned(),
        ],
    );
}
