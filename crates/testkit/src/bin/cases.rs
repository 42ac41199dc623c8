//! Runs and records the cases under `cases/`.
//!
//! ```text
//! cases run PROGRAM [NAME-PREFIX…]        compare a program with the recordings
//! cases pending PROGRAM                   write the names of those that differ to cases/pending.txt
//! cases record [NAME-PREFIX…]             record with k6 again ($K6, or ~/go/bin/k6)
//! cases keep PROGRAM [NAME-PREFIX…]       record how a program differs from k6 on purpose
//! ```
//!
//! The program uses the directory `cases` in the current directory. A name is `area/case`, for
//! example `http/redirects`. Only failures are printed, and a last line with the counts.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plimsoll_testkit::cases::case::Case;
use plimsoll_testkit::cases::suite;

fn main() -> io::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let order = arguments.next().unwrap_or_default();
    let outcomes = match order.as_str() {
        "run" | "pending" | "keep" => {
            let program = arguments.next().map(PathBuf::from).unwrap_or_default();
            let program = program.canonicalize()?;
            let cases = chosen(&arguments.collect::<Vec<_>>())?;
            match order.as_str() {
                "keep" => suite::keep(cases, &program, 2)?,
                _ => suite::run(cases, &program, 2)?,
            }
        }
        "record" => {
            let k6 = std::env::var_os("K6")
                .map(PathBuf::from)
                .unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join("go/bin/k6"));
            suite::record(chosen(&arguments.collect::<Vec<_>>())?, &k6, 2)?
        }
        _ => {
            writeln!(
                io::stderr(),
                "usage: `cases run PROGRAM [NAME…]`, `cases pending PROGRAM`, `cases record [NAME…]` or `cases keep PROGRAM [NAME…]`"
            )?;
            return Ok(ExitCode::from(2));
        }
    };
    let mut stdout = io::stdout();
    if order == "pending" {
        let names = outcomes.iter().filter(|outcome| !outcome.passed());
        let names: String = names
            .map(|outcome| format!("{}\n", outcome.case.name))
            .collect();
        fs::write("cases/pending.txt", names)?;
    }
    for outcome in outcomes.iter().filter(|outcome| !outcome.passed()) {
        writeln!(
            stdout,
            "{}: {}",
            outcome.case.name, outcome.case.settings.about
        )?;
        for difference in &outcome.differences {
            writeln!(stdout, "    {difference}")?;
        }
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.passed()).count();
    writeln!(
        stdout,
        "{} of {} cases as expected",
        outcomes.len() - failed,
        outcomes.len()
    )?;
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn chosen(names: &[String]) -> io::Result<Vec<Case>> {
    Case::read_all(Path::new("cases"), names).map_err(io::Error::other)
}
