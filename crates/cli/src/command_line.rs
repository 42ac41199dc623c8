//! The command line: the only source of help, manual pages and completions.

use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
#[cfg(feature = "fleet")]
use plimsoll_run::{Destination, ResolvedLoad};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::{messages, reference_systems};
use serde_json::json;

use crate::args::{GlobalArgs, ReportArgs, WebArgs};
#[cfg(feature = "fleet")]
use crate::fleet;
#[cfg(feature = "scripts")]
use crate::{args::RunArgs, run, script_files};
use crate::{
    attack, audit, certs, compare, control, find, flag_values, grpc, help, http, lab, link, new,
    probe, report, single_dash, throughput, vegeta,
};

/// Generates load, measures it accurately, and tells you whether to trust the numbers
#[derive(Debug, Parser)]
#[command(
    name = "plimsoll",
    version,
    arg_required_else_help = true,
    args_override_self = true
)]
#[command(after_help = include_str!("../help/top.txt"))]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a k6 script, or an archive of one
    #[cfg(feature = "scripts")]
    Run(Box<RunArgs>),
    /// Send HTTP requests to one URL, without a script
    Http(Box<http::HttpArgs>),
    /// Send requests to a list of targets, with vegeta's flags and results
    Attack(Box<attack::AttackArgs>),
    /// Call one gRPC method, without a script
    Grpc(Box<grpc::GrpcArgs>),
    /// Report, convert and plot results of attack, or of vegeta
    Vegeta(vegeta::VegetaArgs),
    /// Print a script's consolidated options as JSON
    #[cfg(feature = "scripts")]
    Inspect(Box<script_files::InspectArgs>),
    /// Pack a script and its files into one file
    #[cfg(feature = "scripts")]
    Archive(Box<script_files::ArchiveArgs>),
    /// Copy the modules that a script loads from the network
    #[cfg(feature = "scripts")]
    Vendor(Box<script_files::VendorArgs>),
    /// List a script's imports without running it
    #[cfg(feature = "scripts")]
    Deps(script_files::DepsArgs),
    /// List k6's features, which --features turns on
    #[cfg(feature = "scripts")]
    #[command(after_long_help = include_str!("../help/features.txt"))]
    Features(VersionArgs),
    /// Create a starter script
    New(new::NewArgs),
    /// Check load-test reports (k6, wrk, vegeta, …) for errors and contradictions
    Audit(audit::AuditArgs),
    /// Find the highest load at which a service meets an objective
    Find(Box<find::FindArgs>),
    /// Compare two runs or commands: how much they differ, and how certain that is
    Compare(Box<compare::CompareArgs>),
    /// Write the report of a run, or of two runs side by side
    Report(Box<report::ReportCommandArgs>),
    /// List stored runs, and show where a figure changed over time
    History(compare::HistoryArgs),
    /// Run a benchmark from one file: set up, check, measure and report
    Lab(lab::LabArgs),
    /// Run tests on many machines: start servers and agents, list agents, recover results
    #[cfg(feature = "fleet")]
    Fleet(fleet::FleetCommandArgs),
    /// Print the state of a run in progress
    Status(control::ApiArgs),
    /// Print the metrics of a run in progress
    Stats(control::ApiArgs),
    /// Pause a run's externally controlled scenarios
    Pause(control::ApiArgs),
    /// Resume a run, or start one that was created paused
    Resume(control::ApiArgs),
    /// Change the users of a run's externally controlled scenario
    Scale(control::ScaleArgs),
    /// Stop a run gracefully
    Stop(control::ApiArgs),
    /// Emulate a slow or distant network: latency, jitter, bandwidth, loss
    Link(link::LinkArgs),
    /// Measure a network path: connect, round trip, TLS handshake
    Probe(Box<probe::ProbeArgs>),
    /// Measure network throughput with iperf3's protocol
    Throughput(Box<throughput::ThroughputArgs>),
    /// Create a certificate authority and certificates for tests
    Certs(certs::CertsArgs),
    /// Start one of the reference systems (runs plimsoll-serve)
    #[command(disable_help_flag = true)]
    Serve(ServeArgs),
    /// Print the version
    Version(VersionArgs),
    /// Print shell completions
    #[command(after_long_help = include_str!("../help/completion.txt"))]
    Completion {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the program or of one command
    #[command(after_long_help = include_str!("../help/man.txt"))]
    Man {
        /// Command, with its subcommand if it has one: lab run
        command: Vec<String>,
    },
}

impl Command {
    /// The flags for the live page and for reports, if the command has both. `run` also reads the config file.
    pub fn page_and_report(&mut self) -> Option<(&WebArgs, &mut ReportArgs)> {
        match self {
            Command::Http(args) => Some((&args.web, &mut args.record.report)),
            Command::Attack(args) => Some((&args.web, &mut args.record.report)),
            Command::Grpc(args) => Some((&args.web, &mut args.record.report)),
            Command::Find(args) => Some((&args.web, &mut args.report)),
            _ => None,
        }
    }

    /// Runs the command.
    pub fn run(self, global: &GlobalArgs) -> Exit {
        match self {
            #[cfg(feature = "scripts")]
            Command::Run(args) => run::run(&args, global),
            #[cfg(feature = "scripts")]
            Command::Inspect(args) => script_files::inspect(&args, global),
            #[cfg(feature = "scripts")]
            Command::Archive(args) => script_files::archive(&args, global),
            #[cfg(feature = "scripts")]
            Command::Vendor(args) => script_files::vendor(&args, global),
            #[cfg(feature = "scripts")]
            Command::Deps(args) => script_files::deps(&args, global),
            #[cfg(feature = "scripts")]
            Command::Features(args) => Exit::of_text(Ok(plimsoll_run::Features::list(args.json))),
            Command::Http(args) => http::http(&args, global),
            Command::Attack(args) => attack::attack(&args, global),
            Command::Grpc(args) => grpc::grpc(&args, global),
            Command::Vegeta(args) => vegeta::vegeta(&args),
            Command::New(args) => new::new(&args),
            Command::Audit(args) => audit::audit(&args),
            Command::Find(args) => find::find(*args, global),
            Command::Compare(args) => compare::compare(*args),
            Command::Report(args) => report::report(&args),
            Command::History(args) => compare::history(args),
            Command::Lab(args) => lab::lab(args),
            #[cfg(feature = "fleet")]
            Command::Fleet(args) => fleet::fleet(&args, resolve),
            Command::Status(args) => args.run().get("/v1/status"),
            Command::Stats(args) => args.run().get("/v1/metrics"),
            Command::Pause(args) => args.run().change(json!({ "paused": true })),
            Command::Resume(args) => args.run().change(json!({ "paused": false })),
            Command::Scale(args) => control::scale(&args),
            Command::Stop(args) => args.run().change(json!({ "stopped": true })),
            Command::Link(args) => link::link(&args),
            Command::Probe(args) => probe::probe(&args),
            Command::Throughput(args) => throughput::throughput(&args),
            Command::Certs(args) => certs::certs(&args),
            Command::Serve(args) => reference_systems::serve(&args.args),
            Command::Version(args) => Exit::of_text(Ok(messages::version(args.json))),
            Command::Completion { shell } => {
                let mut text = Vec::new();
                clap_complete::generate(shell, &mut command(), "plimsoll", &mut text);
                messages::print_stdout(&text);
                Exit::SUCCESS
            }
            Command::Man { command } => Exit::of_text(man(&command)),
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Name of the system, and its flags; `plimsoll serve --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub struct VersionArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Parses a command line.
///
/// # Errors
/// The requested help, or the error in the command line.
pub fn parse(words: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let plain = command();
    let words = single_dash::translate(&plain, words);
    let mut program = flag_values::accept_values(plain.clone());
    let matches = program.try_get_matches_from_mut(&words);
    let matches = matches.map_err(|error| flag_values::explain(error, plain, &program, &words))?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    cli.global.given = flag_values::given(&matches);
    Ok(cli)
}

fn command() -> clap::Command {
    help::arrange(Cli::command())
}

/// Resolves a command on an agent, using the files that the coordinator sent.
#[cfg(feature = "fleet")]
fn resolve(words: &[String]) -> Result<ResolvedLoad, String> {
    let words = std::iter::once("plimsoll").chain(words.iter().map(String::as_str));
    let cli = parse(words.map(OsString::from)).map_err(|error| error.to_string())?;
    match cli.command {
        Command::Http(args) => args.options().resolve(),
        Command::Grpc(args) => args.options().resolve(),
        Command::Attack(args) => args.options()?.resolve(Destination::Nowhere),
        _ => Err("agents cannot run this command".to_owned()),
    }
}

fn man(names: &[String]) -> Result<String, String> {
    let mut program = command();
    program.build();
    let mut page = &program;
    for name in names {
        page = page.find_subcommand(name).ok_or_else(|| {
            let above = page
                .get_display_name()
                .unwrap_or("plimsoll")
                .replace('-', " ");
            format!("unknown command {above} {name}; {above} --help lists them")
        })?;
    }
    let page = page.clone();
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut text);
    rendered.map_err(|error| format!("cannot write the manual page: {error}"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
