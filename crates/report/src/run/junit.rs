//! The verdict, thresholds and checks of a run as tests.

use plimsoll_plots::number;
use plimsoll_results::fail_on::unit_of_threshold;

use super::view::RunView;
use super::{RunReport, conclusion, conditions};
use crate::document::Words;
use crate::junit::{self, Case, Judged, Outcome, Suite};

pub fn suites(report: &RunReport<'_>, judged: &[Judged]) -> Vec<Suite> {
    let last = report.runs.len().saturating_sub(1);
    let runs = report.runs.iter().enumerate();
    runs.map(|(id, run)| {
        let mut cases = cases(run);
        // The conditions apply to the last run, or to its comparison with the first one.
        if id == last {
            cases.extend(junit::condition_cases(judged));
        }
        let points = conclusion::points(run);
        let lines: Vec<String> = points.iter().map(Words::to_text).collect();
        Suite {
            name: conditions::report_title(run),
            started: run.header.started.clone(),
            seconds: run.end.duration_seconds,
            properties: vec![
                ("plimsoll", run.header.plimsoll.clone()),
                ("configuration", run.header.configuration_hash.clone()),
                ("verdict", run.verdict().to_owned()),
            ],
            cases,
            output: lines.join("\n"),
        }
    })
    .collect()
}

fn cases(run: &RunView<'_>) -> Vec<Case> {
    let mut cases = vec![Case {
        class: "verdict",
        name: "the figures can be trusted".to_owned(),
        outcome: match run.verdict() {
            "valid" => Outcome::Passed,
            "suspect" => Outcome::Skipped(format!("suspect: {}", run.reasons())),
            verdict => Outcome::Failed(format!("{verdict}: {}", run.reasons())),
        },
    }];
    for (at, (metric, text, met)) in run.end.thresholds.iter().enumerate() {
        let measured = run.end.thresholds_measured.get(at).copied().flatten();
        let measured = measured.map_or(String::new(), |value| {
            let unit = unit_of_threshold(metric);
            format!(": measured {}{unit}", number::short(value))
        });
        cases.push(Case {
            class: "threshold",
            name: format!("{metric} {text}"),
            outcome: if *met {
                Outcome::Passed
            } else {
                Outcome::Failed(format!("{metric} {text} is missed{measured}"))
            },
        });
    }
    cases.extend(run.end.objectives_not_judged.iter().map(|text| Case {
        class: "threshold",
        name: text.split(':').next().unwrap_or_default().to_owned(),
        outcome: Outcome::Skipped(text.clone()),
    }));
    cases.extend(run.end.checks.iter().map(|(name, (passed, failed))| Case {
        class: "check",
        name: name.clone(),
        outcome: match failed {
            0 => Outcome::Passed,
            failed => Outcome::Failed(format!(
                "{} of {} failed",
                number::count(*failed),
                number::count(passed + failed)
            )),
        },
    }));
    cases
}
