//! Checks on response contents.

use crate::block::Tool;
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

use super::prose::sentences;

/// Reports checks that pass on failed requests and are therefore useless, and runs with only a
/// status check or no check, which ignore the content of responses.
pub fn check_vacuous_checks(report: &Report, findings: &mut Findings) {
    const RULE: &str = "vacuous-check";
    let (mut none, mut status) = (Vec::new(), Vec::new());
    let expected = expects_refusals(report);
    for block in report.blocks.iter().filter(|block| block.tool == Tool::K6) {
        match &block.checks {
            None => none.push(block),
            Some(tally) => {
                let failed = block.failed();
                // With a check like "is 201 or 409", a request that k6 counts as failed is acceptable.
                let accepts = expected
                    || block
                        .check_names
                        .iter()
                        .any(|(name, _)| names_refusals(name));
                if tally.failed == 0.0 && failed > 0.0 && tally.passed > 0.0 && !accepts {
                    findings.block(
                        RULE,
                        Level::Warning,
                        block,
                        tally.line,
                        [
                            format!("checks: {} passed, 0 failed; http_req_failed: {}", format_number(tally.passed), format_number(failed)),
                            format!("{} requests failed, but no check did: the checks pass on any response, or did not run on the failed requests", format_number(failed)),
                            "Check the content of responses, and make sure that the check can fail.".to_owned(),
                        ],
                    );
                }
                let only_status = !block.check_names.is_empty()
                    && block
                        .check_names
                        .iter()
                        .all(|(name, _)| name.to_lowercase().contains("status"));
                if only_status {
                    status.push(block);
                }
            }
        }
    }
    check_marks(report, findings);
    let count = |n: usize| {
        if n == 1 {
            "1 block".to_owned()
        } else {
            format!("{n} blocks")
        }
    };
    if let Some(block) = none.first() {
        findings.block(
            RULE,
            Level::Note,
            block,
            block.first_line,
            [
                format!("no `checks` line in {}", count(none.len())),
                "cannot tell whether the responses were correct: no checks are printed".to_owned(),
                "Check the content of responses.".to_owned(),
            ],
        );
    }
    if let Some((block, (name, line))) = status
        .first()
        .and_then(|block| Some((block, block.check_names.first()?)))
    {
        findings.block(
            RULE,
            Level::Note,
            block,
            *line,
            [
                format!("`{name}`, the only check in {}", count(status.len())),
                "cannot tell whether the responses were correct: no check of their content is printed".to_owned(),
                "Check a field of the response, and test the check with a wrong response.".to_owned(),
            ],
        );
    }
}

/// k6 marks a check that failed at least once. If every check is marked as passed, none failed.
fn check_marks(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some(tally) = block.checks.as_ref().filter(|tally| tally.failed > 0.0) else {
            continue;
        };
        let printed = block.check_names.len();
        if printed == 0 || block.failed_marks > 0 || !block.check_counts.is_empty() {
            continue;
        }
        findings.block(
            "total-mismatch",
            Level::Warning,
            block,
            tally.line,
            [
                format!(
                    "checks: {} passed, {} failed; {} of {printed} checks are marked as failed",
                    format_number(tally.passed),
                    format_number(tally.failed),
                    block.failed_marks
                ),
                format!(
                    "{} failures belong to a check that is not printed",
                    format_number(tally.failed)
                ),
                "Show the failed check as the tool printed it.".to_owned(),
            ],
        );
    }
}

/// Whether a sentence on the page declares these responses as expected: "401 is accepted here".
fn expects_refusals(report: &Report) -> bool {
    // Statuses that are not round numbers, because a round number may be a count.
    const STATUSES: [&str; 9] = [
        "401", "403", "404", "409", "422", "423", "429", "4xx", "4XX",
    ];
    const EXPECTED: [&str; 6] = [
        "expected",
        "accept",
        "on purpose",
        "intended",
        "by design",
        "deliberate",
    ];
    let mut sentences = report.prose().flat_map(|prose| sentences(&prose.text));
    sentences.any(|sentence| {
        let lower = sentence.to_lowercase();
        let named = sentence
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .any(|word| STATUSES.contains(&word));
        named && !lower.contains("unexpected") && EXPECTED.iter().any(|word| lower.contains(word))
    })
}

/// Whether the name of a check contains a status of 400 or above.
fn names_refusals(name: &str) -> bool {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|word| {
            word.len() == 3
                && word.starts_with(['4', '5'])
                && word[1..]
                    .chars()
                    .all(|letter| letter.is_ascii_digit() || letter == 'x')
        })
}

/// Reports outputs in which checks ran less often than requests, so that some requests were not checked.
pub fn check_partial_checks(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some(tally), Some(requests)) = (&block.checks, &block.requests) else {
            continue;
        };
        let names = block.check_names.len();
        if names == 0 || requests.value <= 0.0 {
            continue;
        }
        let runs = tally.passed + tally.failed;
        // Count complete runs of one check: more check names mean more runs. A script may have a
        // separate check for each kind of request, so with several names only one run per request
        // is certain.
        let share = runs / requests.value;
        if share < 0.99 {
            findings.block(
                "partial-check",
                // A script may check only the important requests, but less than half is too few.
                if share < 0.5 {
                    Level::Warning
                } else {
                    Level::Note
                },
                block,
                tally.line,
                [
                    format!(
                        "{} runs of {}, {} requests",
                        format_number(runs),
                        match names {
                            1 => "1 check".to_owned(),
                            names => format!("{names} checks"),
                        },
                        requests.text
                    ),
                    format!(
                        "at most {} ÷ {} = {} of the requests were checked, {} were not",
                        format_number(runs),
                        requests.text,
                        format_value(share, Unit::Share),
                        format_value(1.0 - share, Unit::Share)
                    ),
                    "Check every request, or state which share was checked.".to_owned(),
                ],
            );
        }
    }
}

/// Reports a small remainder of requests beyond the same number for each iteration, if no iteration was interrupted.
pub fn check_setup_requests(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some(requests), Some(iterations), Some(0.0)) =
            (&block.requests, &block.iterations, block.interrupted)
        else {
            continue;
        };
        if iterations.value < 20.0 || block.trend(crate::block::Role::Request).is_none() {
            continue;
        }
        let each = (requests.value / iterations.value).floor();
        let rest = requests.value - each * iterations.value;
        if each >= 1.0 && rest >= 1.0 && rest / iterations.value < 0.05 {
            findings.block(
                "setup-in-metrics",
                Level::Warning,
                block,
                requests.line,
                [
                    format!("http_reqs {}, iterations {}, none interrupted", requests.text, iterations.text),
                    format!(
                        "{} − {} × {} = {} requests belong to setup, teardown, redirects or a first iteration, but the rate and the latency include them",
                        requests.text,
                        format_number(each),
                        iterations.text,
                        format_number(rest)
                    ),
                    "Tag these requests, and report only the figures of the scenario.".to_owned(),
                ],
            );
        }
    }
}
