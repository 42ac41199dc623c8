//! Reports and results for CI: the same flags in every command that has a run.

use std::path::PathBuf;

use clap::Args;
use plimsoll_report::ReportFile;
use plimsoll_results::fail_on::Condition;
use plimsoll_results::objective::Objective;
use plimsoll_terminal::reporting::ReportRequest;

/// Reports of a run, and conditions under which the command fails.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reports and CI")]
pub struct ReportArgs {
    /// Write a report after the run: FILE.html, FILE.md or FILE.json; can be repeated
    #[arg(long = "report", value_name = "FILE", value_parser = ReportFile::parse)]
    pub reports: Vec<ReportFile>,
    /// Write a short Markdown summary of the result, such as for a CI job
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
    /// Write the verdict, thresholds and checks as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write annotations and a summary for GitHub Actions (default: if GITHUB_ACTIONS is true)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub github: Option<bool>,
    /// Exit with status 1 on: invalid, suspect, objective; with --baseline also regression, difference, uncertain, or a
    /// figure outside a bound, like p95:+10%
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = Condition::parse)]
    pub fail_on: Vec<Condition>,
    /// Run to compare with: a record, or a stored run (number, latest, latest~1); for find, an earlier search's JSON
    #[arg(long, value_name = "RECORD|RUN")]
    pub baseline: Option<String>,
}

impl ReportArgs {
    /// The requested reports and conditions.
    pub fn request(&self) -> ReportRequest {
        ReportRequest {
            reports: self.reports.clone(),
            markdown: self.export_markdown.clone(),
            junit: self.junit.clone(),
            github: self.github,
            fail_on: self.fail_on.clone(),
            baseline: self.baseline.clone(),
        }
    }
}

/// Objectives of one run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reports and CI")]
pub struct ObjectiveArgs {
    /// Objective for reports and --fail-on, like 'p95<50ms': p50, p90, p95, p99, p999, mean or max
    #[arg(id = "objective", long = "objective", value_name = "OBJECTIVE", value_parser = Objective::parse)]
    pub list: Vec<Objective>,
}
