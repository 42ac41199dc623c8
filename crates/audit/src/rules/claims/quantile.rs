//! "P95 latency: 456 ms" below a block that prints another p95, or prints this value for a phase of
//! the request.

use crate::block::Role;
use crate::document::Prose;
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::Unit;
use crate::records::{Figure, Kind, read};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static QUOTED: Pattern = pattern!(
    r"(?i)\bp\(?(\d\d(?:\.\d+)?)\)?(?:\s+(?:response time|latency|duration|time))?\s*(?:of|is|was|at|=|:|：|가|이|은|는|为|是|が|は)\s*\W{0,3}(\d[\d,]*(?:\.\d+)?\s?(?:ms|µs|us|s|seconds))\b"
);

pub fn check_sentence(report: &Report, prose: &Prose, sentence: &str, findings: &mut Findings) {
    let lower = sentence.to_lowercase();
    if [
        "target",
        "threshold",
        "sla",
        "slo",
        "expected",
        "should",
        "goal",
        "limit",
    ]
    .iter()
    .any(|word| lower.contains(word))
        && !lower.contains('(')
    {
        return;
    }
    if !QUOTED.is_match(sentence) {
        return;
    }
    check_quantile_of_phase(report, prose, sentence, findings);
    let Some(block) = super::find_linked_block(report, prose) else {
        return;
    };
    for found in QUOTED.all(sentence).take(8) {
        let (Some(percent), Some(claimed)) = (
            found.get(1).and_then(|p| p.as_str().parse::<f64>().ok()),
            found.get(2).and_then(|text| read(text.as_str())),
        ) else {
            continue;
        };
        let Some(shown) = block
            .latency()
            .and_then(|latency| latency.at(percent / 100.0))
        else {
            continue;
        };
        // A rounded, truncated or slightly different number still means the same figure.
        let near = (claimed.value - shown.value).abs()
            <= claimed.step.max(shown.step) + 0.05 * shown.value;
        let known = report.blocks.iter().any(|block| {
            block
                .trends
                .iter()
                .flat_map(|trend| trend.figures())
                .any(|(_, figure)| {
                    figure.unit == Unit::Time
                        && (figure.value - claimed.value).abs() <= claimed.step + figure.step
                })
        }) || is_in_table(report, &claimed);
        if near || known || claimed.kind != Kind::Time {
            continue;
        }
        findings.block(
            "stale-prose",
            Level::Warning,
            block,
            prose.line,
            [
                format!(
                    "\"{}\"; p{percent} {} (line {})",
                    shorten(sentence),
                    shown.text,
                    shown.line
                ),
                format!(
                    "{} is not {}, and the page contains no such figure",
                    claimed.text, shown.text
                ),
                "Copy the figure from the output, or show the output that it is from.".to_owned(),
            ],
        );
        return;
    }
}

/// Words for the phases of a request.
const PARTS: [&str; 15] = [
    "receiving",
    "received",
    "send",
    "wait",
    "connect",
    "block",
    "tls",
    "handshake",
    "ttfb",
    "first byte",
    "iteration",
    "수신",
    "接收",
    "送信",
    "受信",
];

/// Checks whether a quantile quoted for the whole request is the quantile of a phase, such as
/// receiving the response.
fn check_quantile_of_phase(
    report: &Report,
    prose: &Prose,
    sentence: &str,
    findings: &mut Findings,
) {
    let lower = sentence.to_lowercase();
    if PARTS.iter().any(|word| lower.contains(word)) {
        return;
    }
    let Some(block) = super::find_nearest_block_above(report, prose.line) else {
        return;
    };
    let Some(latency) = block.latency() else {
        return;
    };
    for found in QUOTED.all(sentence).take(8) {
        let (Some(percent), Some(claimed)) = (
            found.get(1).and_then(|p| p.as_str().parse::<f64>().ok()),
            found.get(2).and_then(|text| read(text.as_str())),
        ) else {
            continue;
        };
        let few = claimed.text.chars().filter(char::is_ascii_digit).count() < 3;
        let near = |value: f64| (claimed.value - value).abs() <= claimed.step.max(0.01 * value);
        let own = report.blocks.iter().any(|block| {
            let latency = block.latency().into_iter();
            let mut figures = latency.flat_map(|latency| latency.figures());
            figures.any(|(_, figure)| near(figure.value))
        });
        let Some(right) = latency.at(percent / 100.0).filter(|_| !few && !own) else {
            continue;
        };
        let part = block
            .trends
            .iter()
            .filter(|trend| !matches!(trend.role, Role::Request | Role::Expected | Role::Own))
            .find_map(|trend| {
                let figure = trend.at(percent / 100.0)?;
                near(figure.value).then_some((trend, figure))
            });
        let Some((trend, figure)) = part else {
            continue;
        };
        findings.block(
            "percentile-misquoted",
            Level::Error,
            block,
            prose.line,
            [
                format!("\"{}\"", shorten(sentence)),
                format!(
                    "{} is the p{percent} of {} (line {}); that of the requests is {} (line {})",
                    figure.text, trend.name, figure.line, right.text, right.line
                ),
                "Quote the row of the whole request.".to_owned(),
            ],
        );
        return;
    }
}

fn is_in_table(report: &Report, claimed: &Figure) -> bool {
    report
        .document
        .tables
        .iter()
        .flat_map(|table| &table.rows)
        .flat_map(|(_, row)| row)
        .any(|cell| {
            read(cell).is_some_and(|figure| {
                (figure.value - claimed.value).abs() <= claimed.step + figure.step
                    || figure.kind == Kind::Plain
                        && (figure.value / 1e3 - claimed.value).abs()
                            <= claimed.step + figure.step / 1e3
            })
        })
}
