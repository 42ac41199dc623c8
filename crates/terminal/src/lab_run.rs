//! Runs a lab and shows its progress.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_lab::conclude::{first_look, until::is_enough};
use plimsoll_lab::fail_on::failures;
use plimsoll_lab::run::Step;
use plimsoll_lab::run::keeper::{self, WorkerEnd};
use plimsoll_lab::run::store::{RunFile, Store};
use plimsoll_lab::{FormName, Lab, Problem};
use plimsoll_live::CellsPage;
use plimsoll_results::fail_on::Condition;
use plimsoll_results::lab::{CellState, LabResult};

use crate::exit::Exit;
use crate::lab_page;
use crate::messages;
use crate::reporting::print_failures;
use crate::signals;
use crate::streams::{self, Stream};

/// Why a command failed.
pub struct Failure {
    exit: Exit,
    messages: Vec<String>,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure {
            exit: Exit::GENERIC,
            messages: vec![message],
        }
    }
}

/// A lab file or the directory of a run is invalid.
impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        Failure {
            exit: Exit::INVALID_CONFIG,
            messages: problems.iter().map(Problem::to_string).collect(),
        }
    }
}

impl Failure {
    /// An argument is invalid.
    pub fn of_argument(message: String) -> Failure {
        Failure {
            exit: Exit::INVALID_CONFIG,
            messages: vec![message],
        }
    }

    /// Prints the error. Returns the exit status.
    pub fn report(&self) -> Exit {
        self.messages
            .iter()
            .for_each(|message| messages::print_error(message));
        self.exit
    }
}

/// A lab run to begin or to continue.
pub struct LabRun {
    pub which: WhichRun,
    pub fail_on: Vec<Condition>,
    /// The live page, as in `--web`.
    pub page: Option<String>,
}

pub enum WhichRun {
    New {
        lab: PathBuf,
        form: FormName,
        /// The directory for runs.
        results: PathBuf,
        /// The seed for the order of cells.
        seed: Option<u64>,
    },
    Existing {
        directory: PathBuf,
        /// Whether to repeat runs that other programs disturbed.
        repeats_disturbed: bool,
    },
}

/// Set when a signal requests a stop.
static STOP: AtomicBool = AtomicBool::new(false);

impl LabRun {
    /// Runs the remaining cells. This program starts itself again as a worker, so that no process remains when either
    /// of them exits.
    ///
    /// # Errors
    /// If the run cannot begin or continue.
    pub fn run(&self) -> Result<Exit, Failure> {
        if let Some(private) = keeper::private_directory() {
            keeper::work(&private)?;
            let done = self.work(&private);
            keeper::finish(&private);
            return done;
        }
        signals::on_every_signal(|| STOP.store(true, Ordering::Relaxed))?;
        match keeper::keep(std::env::args_os().skip(1), &STOP)? {
            WorkerEnd::Status(code) => Ok(Exit::from_code(code)),
            WorkerEnd::Stopped => {
                messages::print_message(
                    "stopped. The measurements are kept; plimsoll lab resume continues the run",
                );
                Ok(Exit::SIGNAL)
            }
            WorkerEnd::Killed => Err(Failure::from(
                "the lab's worker was killed. The measurements are kept; plimsoll lab resume continues the run"
                    .to_owned(),
            )),
        }
    }

    fn work(&self, private: &Path) -> Result<Exit, Failure> {
        let (store, run, lab) = match &self.which {
            WhichRun::New {
                lab,
                form,
                results,
                seed,
            } => {
                let lab = Lab::read(lab, *form)?;
                plimsoll_lab::run::check_programs(&lab)?;
                let store = plimsoll_lab::run::begin(&lab, results, private, *seed)?;
                // Read it again by its absolute path, as when it is resumed or reported later.
                plimsoll_lab::run::open(&store.directory).map_err(|problems| Failure {
                    exit: Exit::GENERIC,
                    ..problems.into()
                })?
            }
            WhichRun::Existing { directory, .. } => {
                let opened = plimsoll_lab::run::open_to_resume(directory)?;
                plimsoll_lab::run::check_programs(&opened.2)?;
                opened
            }
        };
        measure(self, &lab, &run, &store, private)
    }
}

/// Runs one process for a lab on another host. Requests arrive on stdin, and replies go to stdout.
///
/// # Errors
/// If stdin or stdout fails.
pub fn keep() -> Result<Exit, Failure> {
    signals::on_every_signal(|| STOP.store(true, Ordering::Relaxed))?;
    plimsoll_lab::run::host::keep::keep(std::io::stdin(), &mut std::io::stdout(), &STOP)?;
    Ok(Exit::SUCCESS)
}

/// Prints every cell and effective value of a lab.
///
/// # Errors
/// If the lab file is invalid.
pub fn plan(lab: &Path, form: FormName, is_json: bool) -> Result<Exit, Failure> {
    let lab = Lab::read(lab, form)?;
    let (json, text) = (plimsoll_lab::plan::json, plimsoll_lab::plan::text);
    messages::print_result(is_json, || json(&lab), || text(&lab));
    Ok(Exit::SUCCESS)
}

/// Lists the runs in a directory.
pub fn list(results: &Path) -> Exit {
    let runs = plimsoll_lab::run::store::list(results);
    if runs.is_empty() {
        messages::print_message(&format!("there is no run in {}", results.display()));
    }
    for line in runs {
        messages::print_stdout(format!("{line}\n").as_bytes());
    }
    Exit::SUCCESS
}

/// Writes the report of a run again, or that of a result file without its run.
///
/// # Errors
/// If the run cannot be read, or a file cannot be written.
pub fn report(directory: &Path, fail_on: &[Condition]) -> Result<Exit, Failure> {
    let alone = Store {
        directory: directory.to_owned(),
    };
    if let Some(result) = alone.only_result() {
        alone.write_pages(plimsoll_report::pages(&result))?;
        return Ok(finish(&result, &alone, fail_on, None));
    }
    let (store, run, lab) = plimsoll_lab::run::open(directory)?;
    Ok(conclude(&lab, &run, &store, fail_on, None)?)
}

/// Measures the remaining cells, writes the result and its pages, and prints their conclusions.
fn measure(
    what: &LabRun,
    lab: &Lab,
    run: &RunFile,
    store: &Store,
    private: &Path,
) -> Result<Exit, Failure> {
    let mut page = lab_page::open(what.page.as_deref(), lab, run.seed, store)?;
    messages::print_message(&format!(
        "{}: {} form, {} runs, at least {}, seed {}; results in {}",
        lab.title,
        lab.form.name(),
        plimsoll_lab::plan::runs(lab),
        plimsoll_units::duration::format(plimsoll_lab::plan::least(lab)),
        run.seed,
        store.directory.display()
    ));
    let mut show = |step: Step<'_>| {
        show(step);
        if let Some(page) = &mut page {
            lab_page::show(page, step);
        }
    };
    let reading = plimsoll_lab::run::Reading {
        look: first_look,
        is_enough,
        repeats_disturbed: matches!(
            what.which,
            WhichRun::Existing {
                repeats_disturbed: true,
                ..
            }
        ),
    };
    let outcome = plimsoll_lab::run::run(lab, run.seed, store, private, reading, &mut show);
    streams::clear();
    for problem in &outcome.problems {
        messages::print_error(&problem.to_string());
    }
    Ok(conclude(lab, run, store, &what.fail_on, page)?)
}

/// Prints finished cells and, on a terminal, started cells.
fn show(step: Step<'_>) {
    match step {
        Step::Done(line) => messages::print_message(line),
        Step::Measured {
            text,
            figures,
            time,
            ..
        } => {
            let comma = if figures.is_empty() { "" } else { ", " };
            messages::print_message(&format!("{text}{comma}{figures} ({time})"));
        }
        Step::Now(line) => streams::draw(Stream::Stderr, &[line.to_owned()]),
    }
}

/// Writes the result and its pages, and prints their conclusions.
fn conclude(
    lab: &Lab,
    run: &RunFile,
    store: &Store,
    fail_on: &[Condition],
    page: Option<CellsPage>,
) -> Result<Exit, String> {
    let result = plimsoll_lab::conclude::conclude(lab, run, store);
    store.write_report(&result, plimsoll_report::pages(&result))?;
    Ok(finish(&result, store, fail_on, page))
}

/// Prints the conclusions of a result whose pages have been written.
fn finish(
    result: &LabResult,
    store: &Store,
    fail_on: &[Condition],
    page: Option<CellsPage>,
) -> Exit {
    let measured = cells(result, |state| matches!(state, CellState::Measured));
    let wanted = cells(result, |state| !matches!(state, CellState::LeftOut));
    let sentences = plimsoll_report::answer(result);
    for sentence in &sentences {
        messages::print_message(sentence);
    }
    if let Some(page) = page {
        page.end(sentences);
    }
    messages::print_message(&format!("{measured} of {wanted} cells measured"));
    messages::print_stdout(format!("{}\n", store.directory.join("report.md").display()).as_bytes());
    let failures = failures(fail_on, result);
    print_failures(&failures);
    match (failures.found.len(), failures.open.len()) {
        (1.., _) => Exit::FAILED_ON,
        (0, 1..) => Exit::NOT_JUDGED,
        _ if measured == wanted => Exit::SUCCESS,
        _ => Exit::SOME_FAILED,
    }
}

fn cells(result: &LabResult, is_counted: fn(&CellState) -> bool) -> usize {
    let cells = result.cells.iter();
    cells.filter(|cell| is_counted(&cell.state)).count()
}
