//! `plimsoll vegeta`: reports on results of attacks, our own and vegeta's.

use std::io::{ErrorKind, Write};

use clap::Subcommand;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{print_error, print_message, report_lost};
use plimsoll_vegeta::tasks::{self, Encoding, Failure, Inputs, Report};

/// `plimsoll vegeta`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/vegeta.txt"))]
pub struct VegetaArgs {
    #[command(subcommand)]
    pub command: VegetaCommand,
}

#[derive(Debug, Subcommand)]
pub enum VegetaCommand {
    /// Summarize results
    Report(ReportArgs),
    /// Convert results to another format
    Encode(EncodeArgs),
    /// Plot results
    Plot(PlotArgs),
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct ReportArgs {
    /// Result files (default: stdin)
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// text, json, hist[0,1ms,10ms] or hdrplot
    #[arg(long = "type", value_name = "TYPE", default_value = "text")]
    pub kind: String,
    /// Bounds of the histogram's buckets, like [0,1ms,10ms]
    #[arg(long, value_name = "BOUNDS")]
    pub buckets: Option<String>,
    /// Interval between reports while results arrive
    #[arg(long, value_name = "TIME")]
    pub every: Option<String>,
    /// Use service times, from the actual send, instead of latencies from the scheduled start
    #[arg(long)]
    pub service_time: bool,
    /// Destination of the report
    #[arg(long, value_name = "FILE", default_value = "stdout")]
    pub output: String,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct EncodeArgs {
    /// Result files (default: stdin)
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Format: json, csv, or plimsoll for the format of plimsoll attack
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    pub to: String,
    /// Destination of the results
    #[arg(long, value_name = "FILE", default_value = "stdout")]
    pub output: String,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct PlotArgs {
    /// Result files (default: stdin)
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "Plimsoll Plot")]
    pub title: String,
    /// Maximum number of points in a series
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub threshold: usize,
    /// Destination of the page
    #[arg(long, value_name = "FILE", default_value = "stdout")]
    pub output: String,
}

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
    inputs.notes.iter().for_each(|note| print_message(note));
    match done {
        Ok(()) => Exit::SUCCESS,
        // A reader may close the pipe early (`| head`).
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Exit::SUCCESS,
        Err(Failure::Output(error)) => {
            report_lost(&format!("cannot write to {place}: {error}"));
            Exit::LOST_OUTPUT
        }
        Err(Failure::Input(message)) => {
            print_error(&message);
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
