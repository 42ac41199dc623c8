//! `plimsoll lab`: a benchmark as one file.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_lab::conclude::{first_look, until::is_enough};
use plimsoll_lab::fail_on::failures;
use plimsoll_lab::run::Step;
use plimsoll_lab::run::keeper::{self, Ended};
use plimsoll_lab::run::store::{self, RunFile, Store};
use plimsoll_lab::{Lab, Problem, Which};
use plimsoll_live::CellsPage;
use plimsoll_results::lab::{CellState, LabResult};
use plimsoll_terminal::streams::{self, Stream};
use plimsoll_terminal::{messages, signals};

use crate::args::{
    LabArgs, LabCommand, LabFile, LabGate, LabOfRun, LabPlanArgs, LabRunArgs, WebArgs,
};
use crate::exit::Exit;
use crate::lab_page;

/// Runs the command.
pub fn lab(args: &LabArgs) -> Exit {
    let done = match &args.command {
        LabCommand::New(args) => match crate::lab_new::new(args) {
            Ok(()) => Ok(Exit::SUCCESS),
            Err(message) => Err(Failure::Other(message)),
        },
        LabCommand::Plan(args) => plan(args),
        LabCommand::Run(_) | LabCommand::Resume(_) => supervise(args),
        LabCommand::Report(of) => report(of),
        LabCommand::List(args) => {
            list(&args.results);
            Ok(Exit::SUCCESS)
        }
        LabCommand::Keep => keep(),
    };
    done.unwrap_or_else(|failure| {
        match &failure {
            Failure::Wrong(problems) | Failure::Failed(problems) => {
                for problem in problems {
                    messages::complain(&problem.to_string());
                }
            }
            Failure::Other(message) => messages::complain(message),
        }
        match failure {
            Failure::Wrong(_) => Exit::INVALID_CONFIG,
            Failure::Failed(_) | Failure::Other(_) => Exit::GENERIC,
        }
    })
}

/// Why a command failed.
enum Failure {
    /// The lab file or a run's directory is wrong.
    Wrong(Vec<Problem>),
    /// A run could not begin.
    Failed(Vec<Problem>),
    Other(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Other(message)
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        Failure::Wrong(problems)
    }
}

/// Runs one process for a lab on another host: requests come from stdin, replies go to stdout.
fn keep() -> Result<Exit, Failure> {
    signals::on_every_signal(|| STOP.store(true, Ordering::Relaxed))?;
    plimsoll_lab::run::host::keep::keep(std::io::stdin(), &mut std::io::stdout(), &STOP)?;
    Ok(Exit::SUCCESS)
}

/// Set when a signal asks to stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// Runs this command again as a worker, so that no process is left, whichever of the two ends.
fn supervise(args: &LabArgs) -> Result<Exit, Failure> {
    if let Some(private) = keeper::private_directory() {
        keeper::work(&private)?;
        let done = match &args.command {
            LabCommand::Run(args) => run(args, &private),
            LabCommand::Resume(of) => resume(of, &private),
            _ => Ok(Exit::GENERIC),
        };
        keeper::finish(&private);
        return done;
    }
    signals::on_every_signal(|| STOP.store(true, Ordering::Relaxed))?;
    match keeper::keep(std::env::args_os().skip(1), &STOP)? {
        Ended::Status(code) => Ok(Exit::from_code(code)),
        Ended::Stopped => {
            messages::say("stopped. The measurements are kept; plimsoll lab resume continues the run");
            Ok(Exit::SIGNAL)
        }
        Ended::Killed => Err(Failure::Other(
            "the lab's worker was killed. The measurements are kept; plimsoll lab resume continues the run"
                .to_owned(),
        )),
    }
}

fn run(args: &LabRunArgs, private: &Path) -> Result<Exit, Failure> {
    let lab = read(&args.file)?;
    plimsoll_lab::run::check_programs(&lab)?;
    let store = plimsoll_lab::run::begin(&lab, &args.results, private, args.seed)?;
    // Read again by its whole path, as when it is resumed or reported again.
    let (store, run, lab) = plimsoll_lab::run::open(&store.directory).map_err(Failure::Failed)?;
    measure(&lab, &run, &store, private, &args.gate, &args.web)
}

fn resume(of: &LabOfRun, private: &Path) -> Result<Exit, Failure> {
    let (store, run, lab) = plimsoll_lab::run::open_to_resume(&of.run)?;
    plimsoll_lab::run::check_programs(&lab)?;
    measure(&lab, &run, &store, private, &of.gate, &WebArgs::default())
}

fn measure(
    lab: &Lab,
    run: &RunFile,
    store: &Store,
    private: &Path,
    gate: &LabGate,
    web: &WebArgs,
) -> Result<Exit, Failure> {
    let mut page = lab_page::open(web, lab, run.seed, store)?;
    messages::say(&format!(
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
    };
    let outcome = plimsoll_lab::run::run(lab, run.seed, store, private, reading, &mut show);
    streams::clear();
    for problem in &outcome.problems {
        messages::complain(&problem.to_string());
    }
    conclude(lab, run, store, gate, page)
}

/// Prints what has ended and, on a terminal, what has started.
fn show(step: Step<'_>) {
    match step {
        Step::Done(line) => messages::say(line),
        Step::Measured {
            text,
            figures,
            time,
            ..
        } => {
            let comma = if figures.is_empty() { "" } else { ", " };
            messages::say(&format!("{text}{comma}{figures} ({time})"));
        }
        Step::Now(line) => streams::draw(Stream::Stderr, &[line.to_owned()]),
    }
}

fn report(of: &LabOfRun) -> Result<Exit, Failure> {
    let (store, run, lab) = plimsoll_lab::run::open(&of.run)?;
    conclude(&lab, &run, &store, &of.gate, None)
}

/// Writes the result and its pages, and prints their conclusions.
fn conclude(
    lab: &Lab,
    run: &RunFile,
    store: &Store,
    gate: &LabGate,
    page: Option<CellsPage>,
) -> Result<Exit, Failure> {
    let result = plimsoll_lab::conclude::conclude(lab, run, store);
    store.write_report(&result, plimsoll_report::pages(&result))?;
    let measured = cells(&result, |state| matches!(state, CellState::Measured));
    let wanted = cells(&result, |state| !matches!(state, CellState::LeftOut));
    let sentences = plimsoll_report::answer(&result);
    for sentence in &sentences {
        messages::say(sentence);
    }
    if let Some(page) = page {
        page.end(sentences);
    }
    messages::say(&format!("{measured} of {wanted} cells measured"));
    messages::put(format!("{}\n", store.directory.join("report.md").display()).as_bytes());
    let failures = failures(&gate.fail_on, &result);
    for (title, sentences) in [("failed", &failures.found), ("not judged", &failures.open)] {
        for sentence in sentences {
            messages::say(&format!("{title}: {sentence}"));
        }
    }
    Ok(match (failures.found.len(), failures.open.len()) {
        (1.., _) => Exit::FAILED_ON,
        (0, 1..) => Exit::NOT_JUDGED,
        _ if measured == wanted => Exit::SUCCESS,
        _ => Exit::SOME_FAILED,
    })
}

fn cells(result: &LabResult, is_counted: fn(&CellState) -> bool) -> usize {
    let cells = result.cells.iter();
    cells.filter(|cell| is_counted(&cell.state)).count()
}

fn list(results: &Path) {
    let runs = store::list(results);
    if runs.is_empty() {
        messages::say(&format!("there is no run in {}", results.display()));
    }
    for line in runs {
        messages::put(format!("{line}\n").as_bytes());
    }
}

fn plan(args: &LabPlanArgs) -> Result<Exit, Failure> {
    let lab = read(&args.file)?;
    let text = if args.json {
        format!("{:#}\n", plimsoll_lab::plan::json(&lab))
    } else {
        plimsoll_lab::plan::text(&lab)
    };
    messages::put(text.as_bytes());
    Ok(Exit::SUCCESS)
}

fn read(file: &LabFile) -> Result<Lab, Failure> {
    let which = match (file.quick, file.full) {
        (true, _) => Which::Quick,
        (_, true) => Which::Full,
        _ => Which::Standard,
    };
    Ok(Lab::read(&file.lab, which)?)
}
