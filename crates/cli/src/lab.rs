//! `plimsoll lab`: a benchmark as one file.

use std::path::Path;

use plimsoll_lab::run::store;
use plimsoll_lab::{Lab, Which};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::lab_run::{self, Failure, LabRun, WhichRun};
use plimsoll_terminal::messages;

use crate::args::{LabArgs, LabCommand, LabFile, LabPlanArgs};
use crate::lab_new;

/// Runs the command.
pub fn lab(args: &LabArgs) -> Exit {
    let done = match &args.command {
        LabCommand::New(args) => lab_new::new(args).map_err(Failure::from),
        LabCommand::Plan(args) => plan(args),
        LabCommand::Run(args) => LabRun {
            which: WhichRun::New {
                lab: args.file.lab.clone(),
                form: form(&args.file),
                results: args.results.clone(),
                seed: args.seed,
            },
            fail_on: args.gate.fail_on.clone(),
            page: args.web.web.clone(),
        }
        .run(),
        LabCommand::Resume(of) => LabRun {
            which: WhichRun::Interrupted(of.run.clone()),
            fail_on: of.gate.fail_on.clone(),
            page: None,
        }
        .run(),
        LabCommand::Report(of) => lab_run::report(&of.run, &of.gate.fail_on),
        LabCommand::List(args) => {
            list(&args.results);
            Ok(Exit::SUCCESS)
        }
        LabCommand::Keep => lab_run::keep(),
    };
    done.unwrap_or_else(|failure| failure.report())
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
    let lab = Lab::read(&args.file.lab, form(&args.file))?;
    let text = if args.json {
        format!("{:#}\n", plimsoll_lab::plan::json(&lab))
    } else {
        plimsoll_lab::plan::text(&lab)
    };
    messages::put(text.as_bytes());
    Ok(Exit::SUCCESS)
}

fn form(file: &LabFile) -> Which {
    match (file.quick, file.full) {
        (true, _) => Which::Quick,
        (_, true) => Which::Full,
        _ => Which::Standard,
    }
}
