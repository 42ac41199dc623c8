//! `plimsoll lab`: a benchmark as one file.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_lab::run::keeper::{self, Ended};
use plimsoll_lab::run::store::{self, RunFile, Store};
use plimsoll_lab::{Lab, Problem, Which};
use plimsoll_results::lab::{CellState, LabResult};

use crate::args::{LabArgs, LabCommand, LabFile, LabPlanArgs, LabRunArgs};
use crate::exit::Exit;
use crate::talk;

/// Does what was asked.
pub fn lab(args: &LabArgs) -> Exit {
    match &args.command {
        LabCommand::Plan(args) => plan(args),
        LabCommand::Run(_) | LabCommand::Resume(_) => kept(args),
        LabCommand::Report(of) => report(&of.run),
        LabCommand::List(args) => list(&args.results),
    }
}

/// Set when a signal asks to stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// Runs this command again as a worker, so that nothing is left whatever ends either.
fn kept(args: &LabArgs) -> Exit {
    if let Some(private) = keeper::private_directory() {
        if let Err(why) = keeper::work(&private) {
            talk::complain(&why);
            return Exit::GENERIC;
        }
        let exit = match &args.command {
            LabCommand::Run(args) => run(args, &private),
            LabCommand::Resume(of) => resume(&of.run, &private),
            _ => Exit::GENERIC,
        };
        keeper::finish(&private);
        return exit;
    }
    if let Err(why) = stop_on_signals() {
        talk::complain(&why);
        return Exit::GENERIC;
    }
    match keeper::keep(std::env::args_os().skip(1), &STOP) {
        Ok(Ended::Status(code)) => Exit::from_code(code),
        Ok(Ended::Stopped) => {
            talk::say("stopped; what was measured is kept, and plimsoll lab resume goes on");
            Exit::SIGNAL
        }
        Ok(Ended::Killed) => {
            talk::complain(
                "the lab's worker was killed; what was measured is kept, and plimsoll lab resume goes on",
            );
            Exit::GENERIC
        }
        Err(why) => {
            talk::complain(&why);
            Exit::GENERIC
        }
    }
}

fn stop_on_signals() -> Result<(), String> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| format!("cannot listen for signals: {error}"))?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for _ in signals.forever() {
                STOP.store(true, Ordering::Relaxed);
            }
        })
        .map(drop)
        .map_err(|error| format!("cannot start a thread for signals: {error}"))
}

fn run(args: &LabRunArgs, private: &Path) -> Exit {
    let lab = match read(&args.file) {
        Ok(lab) => lab,
        Err(exit) => return exit,
    };
    if let Err(problems) = plimsoll_lab::run::check_programs(&lab) {
        return complain(&problems);
    }
    let opened = match plimsoll_lab::run::begin(&lab, &args.results) {
        // Read again by its whole path, as when it is resumed or concluded again.
        Ok(store) => plimsoll_lab::run::open(&store.directory),
        Err(why) => Err(vec![Problem::nowhere(why)]),
    };
    match opened {
        Ok((store, run, lab)) => go(&lab, &run, &store, private),
        Err(problems) => {
            complain(&problems);
            Exit::GENERIC
        }
    }
}

fn resume(directory: &Path, private: &Path) -> Exit {
    let (store, run, lab) = match plimsoll_lab::run::open_to_resume(directory) {
        Ok(opened) => opened,
        Err(problems) => return complain(&problems),
    };
    if let Err(problems) = plimsoll_lab::run::check_programs(&lab) {
        return complain(&problems);
    }
    go(&lab, &run, &store, private)
}

fn go(lab: &Lab, run: &RunFile, store: &Store, private: &Path) -> Exit {
    talk::say(&format!(
        "{}: {} form, {} runs, at least {}; results in {}",
        lab.title,
        lab.form.name(),
        plimsoll_lab::plan::runs(lab),
        plimsoll_units::duration::format(plimsoll_lab::plan::least(lab)),
        store.directory.display()
    ));
    let came = plimsoll_lab::run::run(lab, store, private, &mut talk::say);
    for problem in &came.problems {
        talk::complain(&problem.to_string());
    }
    match written(lab, run, store) {
        Ok(result) => tell(&result, store),
        Err(why) => {
            talk::complain(&why);
            Exit::GENERIC
        }
    }
}

fn report(directory: &Path) -> Exit {
    let (store, run, lab) = match plimsoll_lab::run::open(directory) {
        Ok(opened) => opened,
        Err(problems) => return complain(&problems),
    };
    match written(&lab, &run, &store) {
        Ok(result) => tell(&result, &store),
        Err(why) => {
            talk::complain(&why);
            Exit::GENERIC
        }
    }
}

/// Concludes, and writes the result and its pages.
fn written(lab: &Lab, run: &RunFile, store: &Store) -> Result<LabResult, String> {
    write_all(lab, run, store).map_err(|why| {
        format!(
            "{why}. The measurements are kept. When the files can be written, run: plimsoll lab report {}",
            store.directory.display()
        )
    })
}

fn write_all(lab: &Lab, run: &RunFile, store: &Store) -> Result<LabResult, String> {
    let result = plimsoll_lab::conclude::conclude(lab, run, store);
    let path = |name: &str| store.directory.join(name);
    store::write(&path("result.json"), &result)?;
    let mut pages = plimsoll_report::assets(&result);
    pages.push(("report.md".to_owned(), plimsoll_report::markdown(&result)));
    pages.push(("report.html".to_owned(), plimsoll_report::html(&result)));
    for (name, text) in pages {
        let path = path(&name);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        written
            .and_then(|()| store::write_text(&path, text.as_bytes()))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(result)
}

fn tell(result: &LabResult, store: &Store) -> Exit {
    let of = |wanted: fn(&CellState) -> bool| {
        result
            .cells
            .iter()
            .filter(|cell| wanted(&cell.state))
            .count()
    };
    let measured = of(|state| matches!(state, CellState::Measured));
    let left_out = of(|state| matches!(state, CellState::LeftOut));
    let wanted = result.cells.len() - left_out;
    for sentence in plimsoll_report::answer(result) {
        talk::say(&sentence);
    }
    talk::say(&format!("{measured} of {wanted} cells measured"));
    talk::put(format!("{}\n", store.directory.join("report.md").display()).as_bytes());
    if measured == wanted {
        Exit::SUCCESS
    } else {
        Exit::SOME_FAILED
    }
}

fn list(results: &Path) -> Exit {
    let mut runs: Vec<(String, String)> = Vec::new();
    for entry in std::fs::read_dir(results).into_iter().flatten().flatten() {
        let directory = entry.path();
        let Ok(run) = store::read::<RunFile>(&directory.join("run.json")) else {
            continue;
        };
        let result = store::read::<LabResult>(&directory.join("result.json")).ok();
        let state = match result {
            Some(result) if result.ended.is_some() => format!("{} cells", result.cells.len()),
            Some(_) => "incomplete".to_owned(),
            None => "interrupted".to_owned(),
        };
        runs.push((
            run.started.clone(),
            format!(
                "{}  {}  {}  {state}\n",
                run.started,
                run.form,
                directory.display()
            ),
        ));
    }
    runs.sort();
    if runs.is_empty() {
        talk::say(&format!("there is no run in {}", results.display()));
    }
    for (_, line) in runs {
        talk::put(line.as_bytes());
    }
    Exit::SUCCESS
}

fn plan(args: &LabPlanArgs) -> Exit {
    let lab = match read(&args.file) {
        Ok(lab) => lab,
        Err(exit) => return exit,
    };
    let text = if args.json {
        format!("{:#}\n", plimsoll_lab::plan::json(&lab))
    } else {
        plimsoll_lab::plan::text(&lab)
    };
    talk::put(text.as_bytes());
    Exit::SUCCESS
}

fn read(file: &LabFile) -> Result<Lab, Exit> {
    let which = match (file.quick, file.full) {
        (true, _) => Which::Quick,
        (_, true) => Which::Full,
        _ => Which::Standard,
    };
    Lab::read(&file.lab, which).map_err(|problems| complain(&problems))
}

/// Says all that is wrong in a lab file.
fn complain(problems: &[Problem]) -> Exit {
    for problem in problems {
        talk::complain(&problem.to_string());
    }
    Exit::INVALID_CONFIG
}
