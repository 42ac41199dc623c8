//! "A slight increase from 211 ms to 691 ms": two figures that differ by far more than the word says.

use super::report_contradiction;
use crate::pattern::{Pattern, pattern};
use crate::quantity::format_number;
use crate::records::{Figure, Kind};
use crate::report::Findings;
use crate::rules::records::is_uncertain;

const CHANGED: &str = r"(?:increas\w*|decreas\w*|higher|lower|slower|faster|exceed\w*|drop\w*|rise\w*|rose|grew|grows|above|below|worse|better|improve\w*|degrad\w*|differen\w*|overhead|chang\w*|mov\w*)";

static SLIGHT: Pattern = pattern!(&format!(
    r"(?i)\b(?:(?:slight|slightly|marginal|marginally|minor|minimal|minimally|negligible|negligibly|barely|hardly)\s+(?:[\w-]+\s+)?{CHANGED}|{CHANGED}\s+(?:only\s+)?(?:slightly|marginally|minimally|negligibly))\b"
));
/// Words that make the figures those of something else than the change.
const OTHER: [&str; 8] = [
    "target",
    "limit",
    "threshold",
    "slo",
    "sla",
    "budget",
    "goal",
    "%",
];
/// Factor from which a change is not slight.
const LARGE: f64 = 1.5;

/// Whether a passage calls a change slight.
pub fn is_slight(text: &str) -> bool {
    SLIGHT.is_match(text)
}

/// Checks two figures of a clause that calls their difference slight.
pub fn judge(
    sentence: &str,
    line: usize,
    (one, other): (&Figure, &Figure),
    findings: &mut Findings,
) {
    let lower = sentence.to_lowercase();
    let known = matches!(one.kind, Kind::Time | Kind::Rate) && one.kind == other.kind;
    if !known
        || one.value <= 0.0
        || other.value <= 0.0
        || OTHER.iter().any(|word| lower.contains(word))
        || is_uncertain(sentence)
    {
        return;
    }
    let ratio = (one.value / other.value).max(other.value / one.value);
    if ratio < LARGE {
        return;
    }
    report_contradiction(
        "ratio-misstated",
        sentence,
        line,
        [
            format!(
                "{} and {} differ by a factor of {}, which is not slight",
                one.text.trim(),
                other.text.trim(),
                format_number(ratio)
            ),
            "State the change as a number.".to_owned(),
        ],
        findings,
    );
}
