//! Annotations of a run: errors for missed thresholds, warnings for failed checks and for figures that cannot be trusted, and
//! a notice with the result.

use super::{RunReport, conclusion, conditions};
use crate::annotations::workflow_command;
use crate::document::Words;
use crate::naming::capitalize;

/// The lines about each run.
pub fn lines(report: &RunReport<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for run in &report.runs {
        let title = match run.label {
            "" => conditions::report_title(run),
            label => format!("{label}: {}", conditions::report_title(run)),
        };
        let mut add = |level: &str, text: &str| lines.push(workflow_command(level, &title, text));
        match run.verdict() {
            "valid" => {}
            "suspect" => add("warning", &format!("Suspect: {}", run.reasons())),
            verdict => add(
                "error",
                &format!("{}: {}", capitalize(verdict), run.reasons()),
            ),
        }
        for (metric, text, met) in &run.end.thresholds {
            if !met {
                add("error", &format!("Missed: {metric} {text}"));
            }
        }
        for (name, (passed, failed)) in &run.end.checks {
            if *failed > 0 {
                let all = passed + failed;
                add(
                    "warning",
                    &format!("The check {name} failed {failed} of {all} times"),
                );
            }
        }
        let points = conclusion::points(run);
        let sentences: Vec<String> = points.iter().map(Words::to_text).collect();
        add("notice", &sentences.join("\n"));
    }
    lines
}
