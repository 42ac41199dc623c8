//! Writes the reports of a run and its results for CI, and judges `--fail-on`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use plimsoll_compare::{Differences, judge, two_runs};
use plimsoll_report::run::{RunComparison, RunReport};
use plimsoll_report::{Judged, Report, ReportFile, ReportFormat};
use plimsoll_results::fail_on::{Condition, Failures, Judgment};
use plimsoll_results::record::Record;
use plimsoll_run::{ExportFile, Refusal};

use crate::exit::Exit;
use crate::messages::{print_message, print_stderr, report_lost};

/// The requested reports, and the conditions under which the command fails.
#[derive(Clone, Debug, Default)]
pub struct ReportRequest {
    pub reports: Vec<ReportFile>,
    pub markdown: Option<PathBuf>,
    pub junit: Option<PathBuf>,
    /// Whether to write annotations and a summary for GitHub Actions. By default, true if GitHub's variable is set.
    pub github: Option<bool>,
    pub fail_on: Vec<Condition>,
    /// The run to compare with.
    pub baseline: Option<String>,
}

/// The reports to write after a run. Their files are opened before the run.
pub struct Reporting {
    reports: Vec<(ReportFormat, Destination)>,
    markdown: Option<Destination>,
    junit: Option<Destination>,
    is_github: bool,
    conditions: Vec<Condition>,
    baseline: Option<(String, Record)>,
}

struct Destination {
    flag: &'static str,
    path: PathBuf,
    file: ExportFile,
}

impl Destination {
    fn open(flag: &'static str, path: &Path) -> Result<Destination, Refusal> {
        Ok(Destination {
            flag,
            path: path.to_owned(),
            file: ExportFile::open(flag, path)?,
        })
    }

    fn write(self, text: &str) {
        let path = self.path.display();
        match self.file.write(text) {
            Ok(()) => print_message(&format!("wrote {path}")),
            Err(error) => report_lost(&format!("{} {path}: cannot write it: {error}", self.flag)),
        }
    }
}

impl Reporting {
    /// Opens the files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn open(request: &ReportRequest) -> Result<Reporting, Refusal> {
        let reports = request.reports.iter().map(|report| {
            let destination = Destination::open("--report", &report.path)?;
            Ok((report.format, destination))
        });
        let optional = |flag, path: &Option<PathBuf>| {
            let path = path.as_deref();
            path.map(|path| Destination::open(flag, path)).transpose()
        };
        Ok(Reporting {
            reports: reports.collect::<Result<_, Refusal>>()?,
            markdown: optional("--export-markdown", &request.markdown)?,
            junit: optional("--junit", &request.junit)?,
            is_github: request.github.unwrap_or_else(is_in_github_actions),
            conditions: request.fail_on.clone(),
            baseline: None,
        })
    }

    /// Opens the files, and the record or stored run to compare with.
    ///
    /// # Errors
    /// If a file cannot be written, if the other run cannot be read, or if a condition needs another run and there is
    /// none.
    pub fn of_one_run(request: &ReportRequest, store: Option<&Path>) -> Result<Reporting, Refusal> {
        needs_baseline(request)?;
        needs_condition(request)?;
        let baseline = match &request.baseline {
            Some(name) => {
                let record = plimsoll_compare::open(store, name)
                    .map_err(|error| Refusal::config(format!("--baseline: {error}")))?;
                Some((name.clone(), record))
            }
            None => None,
        };
        Ok(Reporting {
            baseline,
            ..Reporting::open(request)?
        })
    }

    /// Whether reports need the record of the run.
    pub fn needs_record(&self) -> bool {
        !self.reports.is_empty()
            || self.markdown.is_some()
            || self.junit.is_some()
            || self.is_github
            || !self.conditions.is_empty()
    }

    /// Whether a report goes to a file.
    pub fn has_files(&self) -> bool {
        !self.reports.is_empty() || self.markdown.is_some() || self.junit.is_some()
    }

    /// Judges the run and writes everything. `own` is the exit status without reports; it takes precedence if it is a
    /// failure.
    pub fn finish(mut self, record: Option<&Record>, own: Exit) -> Exit {
        let Some(record) = record else {
            if self.conditions.is_empty() {
                return own;
            }
            print_message("not judged: --fail-on: the run has no record");
            return own.or(Exit::NOT_JUDGED);
        };
        let baseline = self.baseline.take();
        let baseline = baseline
            .as_ref()
            .map(|(name, record)| (name.as_str(), record));
        let run = ("the run", record);
        let judged = judge(&self.conditions, run, baseline, Differences::Refused);
        self.write(&RunReport::of(record), &judged);
        exit(own, &judged)
    }

    pub fn write(self, report: &dyn Report, judged: &[Judged]) {
        for (format, destination) in self.reports {
            destination.write(&format.render(report));
        }
        if let Some(destination) = self.markdown {
            destination.write(&report.summary());
        }
        if let Some(destination) = self.junit {
            destination.write(&report.junit(judged));
        }
        if self.is_github {
            for line in report.annotations(judged) {
                // GitHub's runner reads commands at the start of a line, on both streams.
                print_stderr(&format!("{line}\n"));
            }
            add_to_step_summary(&report.summary());
        }
    }
}

/// Rejects conditions that need another run, if there is none to compare with.
///
/// # Errors
/// Names the condition that needs another run.
pub fn needs_baseline(request: &ReportRequest) -> Result<(), Refusal> {
    let compares = request
        .fail_on
        .iter()
        .find(|condition| condition.compares());
    match compares.filter(|_| request.baseline.is_none()) {
        Some(condition) => Err(Refusal::config(format!(
            "--fail-on {}: there is no run to compare with; name one with --baseline RECORD",
            condition.name()
        ))),
        None => Ok(()),
    }
}

/// Rejects a run to compare with, if no condition compares.
fn needs_condition(request: &ReportRequest) -> Result<(), Refusal> {
    let mut conditions = request.fail_on.iter();
    match &request.baseline {
        Some(name) if !conditions.any(Condition::compares) => Err(Refusal::config(format!(
            "--baseline {name} has no effect without a condition that compares, such as --fail-on regression; to print a \
             comparison, run plimsoll compare {name} RECORD afterwards"
        ))),
        _ => Ok(()),
    }
}

/// Two runs side by side, for their report: the name and the record of each.
pub fn comparison(a: (&str, &Record), b: (&str, &Record)) -> RunComparison {
    match two_runs(&[], a, b, Differences::Listed) {
        Ok(comparison) => RunComparison {
            compared: comparison.compared,
            method: comparison.method,
            differences: comparison.differences,
            doubts: comparison.doubts,
        },
        Err(error) => RunComparison {
            method: error,
            ..RunComparison::default()
        },
    }
}

/// Prints the results of conditions. Returns the exit status.
pub fn exit(own: Exit, judged: &[Judged]) -> Exit {
    let mut all = Failures::default();
    for (_, failures) in judged {
        all.add(failures.clone());
    }
    print_failures(&all);
    match all.judgment() {
        Judgment::Passed => own,
        Judgment::Failed => own.or(Exit::FAILED_ON),
        Judgment::Open => own.or(Exit::NOT_JUDGED),
    }
}

/// Prints the results of conditions.
pub fn print_failures(failures: &Failures) {
    for (title, sentences) in [("failed", &failures.found), ("not judged", &failures.open)] {
        for sentence in sentences {
            print_message(&format!("{title}: {sentence}"));
        }
    }
}

fn is_in_github_actions() -> bool {
    std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

/// Appends to the summary of a job's step, if the runner has such a summary.
fn add_to_step_summary(text: &str) {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return;
    };
    let written = File::options()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()));
    if let Err(error) = written {
        report_lost(&format!(
            "GITHUB_STEP_SUMMARY {}: cannot write it: {error}",
            path.display()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_needs_a_condition_that_compares() {
        let request = |fail_on: &[&str]| ReportRequest {
            baseline: Some("before.jsonl".to_owned()),
            fail_on: fail_on
                .iter()
                .map(|text| Condition::parse(text).unwrap())
                .collect(),
            ..ReportRequest::default()
        };
        let error = needs_condition(&request(&[])).unwrap_err();
        assert!(
            error.message.contains("--fail-on regression"),
            "{}",
            error.message
        );
        assert!(needs_condition(&request(&["invalid"])).is_err());
        assert!(needs_condition(&request(&["invalid", "regression"])).is_ok());
        assert!(needs_condition(&ReportRequest::default()).is_ok());
    }
}
