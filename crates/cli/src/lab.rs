//! `plimsoll lab`: a benchmark as one file.

use lab::{Lab, Problem, Which};

use crate::args::{LabArgs, LabCommand, LabFile, LabPlanArgs};
use crate::exit::Exit;
use crate::talk;

/// Does what was asked.
pub fn lab(args: &LabArgs) -> Exit {
    match &args.command {
        LabCommand::Plan(args) => plan(args),
    }
}

fn plan(args: &LabPlanArgs) -> Exit {
    let lab = match read(&args.file) {
        Ok(lab) => lab,
        Err(exit) => return exit,
    };
    let text = if args.json {
        format!("{:#}\n", lab::plan::json(&lab))
    } else {
        lab::plan::text(&lab)
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
