//! "✅ Error rate < 0.1 %: achieved (0-2 %)": the range of the results does not meet the limit.

use super::report_contradiction;
use crate::pattern::{Pattern, group, pattern};
use crate::records::{Figure, read};
use crate::report::Findings;

const RULE: &str = "objective-contradicted";
const UNIT: &str = r"(?:ms|µs|us|s|%|req/s|rps|RPS)";

/// A limit, words without a figure, and a range in parentheses.
static LIMIT: Pattern = pattern!(&format!(
    r"(<=|>=|[<≤>≥])\s*(\d[\d,]*(?:\.\d+)?\s?{UNIT})[^\d()<>]{{1,40}}\(\s*(\d[\d,]*(?:\.\d+)?)\s?{UNIT}?\s?(?:-|–|to|a|bis)\s?(\d[\d,]*(?:\.\d+)?)\s?({UNIT})"
));
/// A target range, words without a figure, and a range in parentheses.
static RANGE: Pattern = pattern!(
    r"^[^\d<>≤≥]{3,60}?\s(\d[\d,]*)\s?[-–]\s?(\d[\d,]*)\s?:[^\d()<>]{1,40}\(\s*(\d[\d,]*)\s?[-–]\s?(\d[\d,]*)\b"
);

/// Words for a goal that was met, in several languages.
const MET: [&str; 20] = [
    "✅",
    "✓",
    "✔",
    "achieved",
    "met",
    "passed",
    "reached",
    "exceeded",
    "alcanzado",
    "superado",
    "cumplido",
    "logrado",
    "atingido",
    "superada",
    "atteint",
    "dépassé",
    "erreicht",
    "достигнут",
    "达标",
    "達成",
];
const MISSED: [&str; 6] = ["❌", "✗", "⚠", "not ", "fail", "no alcanz"];
const ADVICE: &str = "State by how much it was missed, or correct the figures.";

pub fn check_sentence(sentence: &str, line: usize, findings: &mut Findings) {
    let lower = sentence.to_lowercase();
    if !sentence.contains('(')
        || !MET.iter().any(|word| lower.contains(word))
        || MISSED.iter().any(|word| lower.contains(word))
    {
        return;
    }
    let plain = sentence.replace(['*', '`'], "");
    let missed = match LIMIT.first(&plain) {
        Some(found) => find_exceeded_limit(&found),
        None => RANGE
            .first(&plain)
            .and_then(|found| find_exceeded_range(&found)),
    };
    if let Some(arithmetic) = missed {
        report_contradiction(
            RULE,
            sentence,
            line,
            [arithmetic, ADVICE.to_owned()],
            findings,
        );
    }
}

fn find_exceeded_limit(found: &regex_lite::Captures) -> Option<String> {
    let part = |at: usize| group(found, at);
    let of = |digits: &str| read(&format!("{digits} {}", part(5)));
    let limit = read(part(2))?;
    let (low, high) = (of(part(3))?, of(part(4))?);
    let below = part(1).starts_with(['<', '≤']);
    let worst: &Figure = if below { &high } else { &low };
    let misses = match below {
        true => worst.value > limit.value + 0.5 * limit.step,
        false => worst.value < limit.value - 0.5 * limit.step,
    };
    (worst.kind == limit.kind && low.value < high.value && misses)
        .then(|| format!("{} is not {} {}", worst.text, part(1), limit.text))
}

/// Finds a range of results whose ends are both below those of the target range.
fn find_exceeded_range(found: &regex_lite::Captures) -> Option<String> {
    let part = |at: usize| group(found, at);
    let of = |at: usize| crate::quantity::parse_number(part(at)).map(|(value, _)| value);
    let (from, to, low, high) = (of(1)?, of(2)?, of(3)?, of(4)?);
    (from < to && low < high && low < from && high < to).then(|| {
        format!(
            "{}–{} does not reach {}–{}",
            part(3),
            part(4),
            part(1),
            part(2)
        )
    })
}
