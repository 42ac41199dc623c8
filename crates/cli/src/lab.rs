//! `plimsoll lab`: runs a benchmark that one file describes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_lab::FormName;
use plimsoll_results::fail_on::Condition;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::lab_run::{self, LabRun, WhichRun};
use plimsoll_terminal::new_files::{self, NewLab};

use crate::args::WebArgs;

/// Run a benchmark from one file: set up, check, measure and report a matrix of cells
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../help/lab.txt"))]
pub struct LabArgs {
    #[command(subcommand)]
    pub command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Create a lab file to start from
    #[command(after_long_help = include_str!("../help/lab_new.txt"))]
    New(LabNewArgs),
    /// Print every cell and effective value, without running anything
    #[command(
        after_long_help = "Example:\n  plimsoll lab plan labs/payload --quick --json | jq '.cells[].name'"
    )]
    Plan(LabPlanArgs),
    /// Run the lab: start the systems, seed, check, load and observe them, and report
    #[command(after_long_help = include_str!("../help/lab_run.txt"))]
    Run(LabRunArgs),
    /// Continue an interrupted run
    #[command(
        after_long_help = "Example:\n  plimsoll lab resume results/payload-quick-20260101T120000Z"
    )]
    Resume(LabResumeArgs),
    /// Write the report of a run again, without running anything
    #[command(
        after_long_help = "Example:\n  plimsoll lab report results/payload-quick-20260101T120000Z"
    )]
    Report(LabOfRun),
    /// List runs
    #[command(after_long_help = "Example:\n  plimsoll lab list --results out")]
    List(LabListArgs),
    /// Run one process for a lab on another host, which starts this command over SSH
    #[command(hide = true)]
    Keep,
}

/// `plimsoll lab new`.
#[derive(Debug, Args)]
pub struct LabNewArgs {
    /// File to write, or its directory
    #[arg(default_value = "lab.toml")]
    pub file: PathBuf,
    /// Command that starts the service; {port} is a free port
    #[arg(long, value_name = "COMMAND", conflicts_with = "url")]
    pub command: Option<String>,
    /// Port on which the command listens, if it is fixed
    #[arg(long, value_name = "PORT", requires = "command")]
    pub port: Option<u16>,
    /// URL of a service that is already running
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
}

/// `plimsoll lab run`.
#[derive(Debug, Args)]
pub struct LabRunArgs {
    #[command(flatten)]
    pub file: LabFile,
    /// Directory of runs
    #[arg(long, value_name = "DIRECTORY", default_value = "results")]
    pub results: PathBuf,
    /// Seed for the random order of cells, to repeat an earlier order
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub gate: LabGate,
    #[command(flatten)]
    pub web: WebArgs,
}

/// Flags for the conditions under which a lab fails.
#[derive(Debug, Args)]
pub struct LabGate {
    /// Exit with status 1 on: invalid, suspect, objective, regression, difference, uncertain
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = Condition::parse_name)]
    pub fail_on: Vec<Condition>,
}

/// Directory argument of a run.
#[derive(Debug, Args)]
pub struct LabOfRun {
    /// Directory of the run
    pub run: PathBuf,
    #[command(flatten)]
    pub gate: LabGate,
}

/// `plimsoll lab resume`.
#[derive(Debug, Args)]
pub struct LabResumeArgs {
    #[command(flatten)]
    pub of: LabOfRun,
    /// Repeat runs that other programs disturbed
    #[arg(long)]
    pub disturbed: bool,
}

/// `plimsoll lab list`.
#[derive(Debug, Args)]
pub struct LabListArgs {
    /// Directory of runs
    #[arg(long, value_name = "DIRECTORY", default_value = "results")]
    pub results: PathBuf,
}

/// A lab file and its form.
#[derive(Clone, Debug, Args)]
pub struct LabFile {
    /// Lab file, or a directory with a lab.toml
    pub lab: PathBuf,
    /// Quick form: short runs of some cells
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Full form: the durations in the file
    #[arg(long)]
    pub full: bool,
}

/// `plimsoll lab plan`.
#[derive(Debug, Args)]
pub struct LabPlanArgs {
    #[command(flatten)]
    pub file: LabFile,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl LabFile {
    fn form(&self) -> FormName {
        match (self.quick, self.full) {
            (true, _) => FormName::Quick,
            (_, true) => FormName::Full,
            _ => FormName::Standard,
        }
    }
}

/// Runs the command.
pub fn lab(args: LabArgs) -> Exit {
    let done = match args.command {
        LabCommand::New(args) => new_files::lab(&NewLab {
            file: &args.file,
            command: args.command.as_deref(),
            port: args.port,
            url: args.url.as_deref(),
            force: args.force,
        }),
        LabCommand::Plan(args) => lab_run::plan(&args.file.lab, args.file.form(), args.json),
        LabCommand::Run(args) => LabRun {
            which: WhichRun::New {
                form: args.file.form(),
                lab: args.file.lab,
                results: args.results,
                seed: args.seed,
            },
            fail_on: args.gate.fail_on,
            page: args.web.web,
        }
        .run(),
        LabCommand::Resume(args) => LabRun {
            which: WhichRun::Existing {
                directory: args.of.run,
                repeats_disturbed: args.disturbed,
            },
            fail_on: args.of.gate.fail_on,
            page: None,
        }
        .run(),
        LabCommand::Report(of) => lab_run::report(&of.run, &of.gate.fail_on),
        LabCommand::List(args) => Ok(lab_run::list(&args.results)),
        LabCommand::Keep => lab_run::keep(),
    };
    done.unwrap_or_else(|failure| failure.report())
}
