//! `plimsoll report`: the report of runs that have ended.

use plimsoll_compare::{Differences, judge};
use plimsoll_report::Report;
use plimsoll_report::run::RunReport;
use plimsoll_results::objectives;
use plimsoll_results::record::Record;
use plimsoll_run::Refusal;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{complain, put};
use plimsoll_terminal::reporting::{self, Reporting, comparison};

use crate::args::ReportCommandArgs;

/// Writes the report.
pub fn report(args: &ReportCommandArgs) -> Exit {
    let mut records = Vec::new();
    for name in &args.runs {
        match plimsoll_compare::open(args.store.as_deref(), name) {
            Ok(mut record) => {
                if let Some(end) = &mut record.end {
                    objectives::judge(&args.objectives.list, end);
                }
                records.push(record);
            }
            Err(error) => {
                complain(&error);
                return Exit::UNREADABLE;
            }
        }
    }
    let written = match records.as_slice() {
        [a, b] => pair(args, (&args.runs[0], a), (&args.runs[1], b)),
        [record] => one(args, record),
        _ => Ok(Exit::SUCCESS),
    };
    written.unwrap_or_else(|refusal| Exit::refuse(&refusal))
}

fn one(args: &ReportCommandArgs, record: &Record) -> Result<Exit, Refusal> {
    let reporting = Reporting::of_one_run(&args.report.request(), args.store.as_deref())?;
    if !reporting.has_files() {
        put(RunReport::of(record).markdown().as_bytes());
    }
    Ok(reporting.finish(Some(record), Exit::SUCCESS))
}

fn pair(args: &ReportCommandArgs, a: (&str, &Record), b: (&str, &Record)) -> Result<Exit, Refusal> {
    let reporting = Reporting::open(&args.report.request())?;
    let judged = judge(&args.report.fail_on, b, Some(a), Differences::Listed);
    let compared = comparison(a, b);
    let report = RunReport::pair(a.1, b.1, &compared);
    if !reporting.has_files() {
        put(report.markdown().as_bytes());
    }
    reporting.write(&report, &judged);
    Ok(reporting::exit(Exit::SUCCESS, &judged))
}
