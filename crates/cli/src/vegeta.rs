//! `plimsoll vegeta`: reports of results, ours and vegeta's.

use std::io::{ErrorKind, Write};

use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{complain, lose, say};
use plimsoll_vegeta::tasks::{self, Encoding, Failure, Inputs, Report};

use crate::args::{VegetaArgs, VegetaCommand};

/// Runs the command.
pub fn vegeta(args: &VegetaArgs) -> Exit {
    let (files, place) = match &args.command {
        VegetaCommand::Report(args) => (&args.files, &args.output),
        VegetaCommand::Encode(args) => (&args.files, &args.output),
        VegetaCommand::Plot(args) => (&args.files, &args.output),
    };
    let mut inputs = Inputs {
        files: files.clone(),
        notes: Vec::new(),
    };
    let done = run(&args.command, &mut inputs, place);
    inputs.notes.iter().for_each(|note| say(note));
    match done {
        Ok(()) => Exit::SUCCESS,
        // It is fine if the reader has closed the pipe (`| head`).
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Exit::SUCCESS,
        Err(Failure::Output(error)) => {
            lose(&format!("cannot write to {place}: {error}"));
            Exit::LOST_OUTPUT
        }
        Err(Failure::Input(message)) => {
            complain(&message);
            Exit::INVALID_CONFIG
        }
    }
}

fn run(command: &VegetaCommand, inputs: &mut Inputs, place: &str) -> Result<(), Failure> {
    let mut output;
    match command {
        VegetaCommand::Report(args) => {
            let (buckets, every) = (args.buckets.as_deref(), args.every.as_deref());
            let report = Report::parse(&args.kind, buckets, every, args.service_time)?;
            output = tasks::open_output(place)?;
            report.run(inputs, &mut output)?;
        }
        VegetaCommand::Encode(args) => {
            let encoding = Encoding::parse(&args.to)?;
            output = tasks::open_output(place)?;
            encoding.run(inputs, &mut output)?;
        }
        VegetaCommand::Plot(args) => {
            output = tasks::open_output(place)?;
            tasks::plot(&args.title, args.threshold, inputs, &mut output)?;
        }
    }
    Ok(output.flush()?)
}
