//! Writes the report of runs that have ended.

use std::path::Path;

use plimsoll_compare::{Differences, judge};
use plimsoll_report::Report;
use plimsoll_report::run::RunReport;
use plimsoll_results::objective::Objective;
use plimsoll_results::objectives;
use plimsoll_results::record::Record;
use plimsoll_run::Refusal;

use crate::exit::Exit;
use crate::messages::{print_error, print_stdout};
use crate::reporting::{self, ReportRequest, Reporting, comparison};

/// The report of one run, or of two runs side by side.
#[derive(Clone, Copy, Debug)]
pub struct StoredReport<'a> {
    /// Records or stored runs.
    pub runs: &'a [String],
    pub store: Option<&'a Path>,
    pub objectives: &'a [Objective],
    pub request: &'a ReportRequest,
}

impl StoredReport<'_> {
    /// Writes the report to its files. Without files, writes it to stdout.
    pub fn write(&self) -> Exit {
        let mut records = Vec::new();
        for name in self.runs {
            match self.open(name) {
                Ok(record) => records.push((name.as_str(), record)),
                Err(error) => {
                    print_error(&error);
                    return Exit::UNREADABLE;
                }
            }
        }
        let written = match records.as_slice() {
            [(a_name, a), (b_name, b)] => self.pair((a_name, a), (b_name, b)),
            [(_, record)] => self.one(record),
            _ => Ok(Exit::SUCCESS),
        };
        written.unwrap_or_else(|refusal| Exit::refuse(&refusal))
    }

    /// The record, judged by the objectives.
    fn open(&self, name: &str) -> Result<Record, String> {
        let mut record = plimsoll_compare::open(self.store, name)?;
        if let Some(end) = &mut record.end {
            objectives::judge(self.objectives, end);
        }
        Ok(record)
    }

    fn one(&self, record: &Record) -> Result<Exit, Refusal> {
        let reporting = Reporting::of_one_run(self.request, self.store)?;
        if !reporting.has_files() {
            print_stdout(RunReport::of(record).markdown().as_bytes());
        }
        Ok(reporting.finish(Some(record), Exit::SUCCESS))
    }

    fn pair(&self, a: (&str, &Record), b: (&str, &Record)) -> Result<Exit, Refusal> {
        let reporting = Reporting::open(self.request)?;
        let judged = judge(&self.request.fail_on, b, Some(a), Differences::Listed);
        let compared = comparison(a, b);
        let report = RunReport::pair(a.1, b.1, &compared);
        if !reporting.has_files() {
            print_stdout(report.markdown().as_bytes());
        }
        reporting.write(&report, &judged);
        Ok(reporting::exit(Exit::SUCCESS, &judged))
    }
}
