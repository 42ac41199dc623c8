//! Reads a figure that its column name follows: "3.10 ms (p50)".

use crate::document::Prose;
use crate::pattern::{Pattern, pattern};
use crate::quantity::parse_duration;
use crate::report::{Findings, Report};
use crate::rules::prose::{SETTINGS, check_quoted_column};

static BEHIND: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,<>≤≥-])(\d+(?:\.\d+)?\s?(?:ms|µs|us|seconds|secs|s))\s*\(\s*(?:the )?(?:(median|mean|average|maximum|minimum)|p\(?(\d\d(?:\.\d+)?)\)?|(\d\d(?:\.\d+)?)(?:th)?[ -]percentile)\b"
);

pub fn check_sentence(report: &Report, prose: &Prose, sentence: &str, findings: &mut Findings) {
    if !sentence.contains('(') {
        return;
    }
    let lower = sentence.to_lowercase();
    if SETTINGS.iter().any(|word| lower.contains(word)) {
        return;
    }
    for found in BEHIND.all(sentence).take(8) {
        let Some(figure) = found
            .get(1)
            .and_then(|group| parse_duration(group.as_str(), prose.line))
        else {
            continue;
        };
        let name = match (found.get(2), found.get(3).or_else(|| found.get(4))) {
            (Some(word), _) => match word.as_str().to_lowercase().as_str() {
                "average" => "mean".to_owned(),
                "maximum" => "max".to_owned(),
                "minimum" => "min".to_owned(),
                other => other.to_owned(),
            },
            (None, Some(percent)) => format!("p{}", percent.as_str()),
            _ => continue,
        };
        check_quoted_column(report, prose, sentence, &name, &figure, findings);
    }
}
