//! Shares of requests above 100 %.

use super::report_contradiction;
use crate::pattern::{Pattern, group, named, pattern};
use crate::quantity::parse_number;
use crate::report::Findings;
use crate::rules::prose::is_conditional;

static RATE: Pattern = pattern!(
    r"(?i)\b(?:error|failure|fail|success|pass)[ -](?:rate|ratio)(?:\s+(?:of|was|is|reached|at)|\s*[:=])\s*(\d[\d.,]*)\s?%"
);
static PART: Pattern = pattern!(
    r"(?i)(?:^|[^\d.,/#])(?<part>\d[\d,]*)\s+(?:out\s+)?of\s+(?:the\s+|all\s+)?(?<whole>\d[\d,]*)\s+(?:http\s+)?(?:requests|iterations|transactions|messages|operations|queries|calls|checks|responses)\s+(?:have\s+|were\s+)?(?:succeeded|successful|failed|passed|completed|timed out)\b"
);

/// "The error rate was 120 %", and "120 of 100 requests failed".
pub fn check_sentence(sentence: &str, line: usize, findings: &mut Findings) {
    // "an error rate of 120 % of the baseline" is a ratio.
    const RATIOS: [&str; 9] = [
        "of ", "higher", "more", "lower", "less", "above", "increase", "worse", "that of",
    ];
    let advice = "Recalculate the share from the counts.";
    if is_conditional(sentence) {
        return;
    }
    if let Some(found) = RATE.first(sentence)
        && let Some(whole) = found.get(0)
        && let Some((share, step)) = parse_number(group(&found, 1).trim_matches(['.', ',']))
    {
        let rest = sentence[whole.end()..].trim_start();
        if share > 100.0 + step && !RATIOS.iter().any(|word| rest.starts_with(word)) {
            let arithmetic = format!("{} % > 100 %", group(&found, 1));
            let words = [arithmetic, advice.to_owned()];
            report_contradiction("ratio-misstated", sentence, line, words, findings);
        }
    }
    let Some(found) = PART.first(sentence) else {
        return;
    };
    let (part, whole) = (named(&found, "part"), named(&found, "whole"));
    let (Some((few, _)), Some((all, _))) = (parse_number(part), parse_number(whole)) else {
        return;
    };
    if few > all {
        let words = [format!("{part} > {whole}"), advice.to_owned()];
        report_contradiction("ratio-misstated", sentence, line, words, findings);
    }
}
