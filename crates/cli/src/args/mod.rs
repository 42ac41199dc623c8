//! The command line: the only source of help, manual pages and completions.

mod attack;
mod audit;
mod certs;
mod compare;
mod connection;
mod control;
mod find;
mod fleet;
mod grpc;
mod help;
mod history;
mod http;
mod lab;
mod link;
mod load;
mod new;
#[cfg(feature = "scripts")]
mod options;
mod probe;
mod record;
mod report;
#[cfg(feature = "scripts")]
mod run;
mod single_dash;
mod stored;
mod throughput;
mod vegeta;
mod web;

use clap::{Parser, Subcommand};
#[cfg(feature = "scripts")]
use plimsoll_terminal::log::{Log, Settings};
use plimsoll_terminal::messages;

pub use attack::AttackArgs;
pub use audit::{AuditArgs, AuditFormat};
pub use certs::CertsArgs;
pub use compare::CompareArgs;
pub use connection::{ConnectionArgs, HttpVersionArgs, IoArgs, TlsArgs};
pub use control::{ApiArgs, ControlArgs, ScaleArgs};
pub use find::FindArgs;
#[cfg(feature = "fleet")]
pub use fleet::{
    FleetAgentArgs, FleetCommand, FleetLoss, FleetRecoverArgs, FleetServeArgs, FleetStatusArgs,
    FleetUpArgs,
};
pub use fleet::{FleetArgs, FleetCommandArgs};
pub use grpc::GrpcArgs;
pub use help::command;
pub use history::HistoryArgs;
pub use http::HttpArgs;
pub use lab::{LabArgs, LabCommand, LabFile, LabNewArgs, LabPlanArgs};
pub use link::{LinkArgs, LinkProtocol};
pub use load::LoadArgs;
#[cfg(feature = "scripts")]
pub use load::{MaxUsersArgs, ThreadArgs};
pub use new::NewArgs;
#[cfg(feature = "scripts")]
pub use options::OptionArgs;
pub use probe::ProbeArgs;
pub use record::RecordArgs;
pub use report::{ObjectiveArgs, ReportArgs, ReportCommandArgs};
#[cfg(feature = "scripts")]
pub use run::{InspectArgs, ProgressForm, RunArgs, RuntimeArgs};
pub use single_dash::translate;
pub use stored::StoredArgs;
pub use throughput::ThroughputArgs;
pub use vegeta::{VegetaArgs, VegetaCommand};
pub use web::WebArgs;

/// Generates load, measures it accurately, and tells you whether to trust the numbers
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, arg_required_else_help = true)]
#[command(after_help = include_str!("../../help/top.txt"))]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "All commands")]
pub struct GlobalArgs {
    /// Use no colors (also with NO_COLOR or K6_NO_COLOR set)
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Print debug messages too
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Show no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show passwords, tokens and API keys instead of ***
    #[arg(long, global = true, hide_short_help = true, env = "PLIMSOLL_SHOW_SECRETS", hide_env = true, value_parser = clap::builder::FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    pub show_secrets: bool,
    /// Destination of log lines: stderr, stdout, none, file=PATH
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "WHERE",
        env = "K6_LOG_OUTPUT",
        hide_env = true
    )]
    pub log_output: Option<String>,
    /// Format of log lines: text, json, raw
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "FORMAT",
        env = "K6_LOG_FORMAT",
        hide_env = true
    )]
    pub log_format: Option<String>,
}

impl GlobalArgs {
    /// The log of a script's run.
    ///
    /// # Errors
    /// If a flag is invalid.
    #[cfg(feature = "scripts")]
    pub fn log(&self) -> Result<Log, String> {
        Log::new(Settings {
            verbose: self.verbose,
            no_color: self.no_color(),
            output: self.log_output.as_deref(),
            format: self.log_format.as_deref(),
        })
    }

    /// Whether to use no colors.
    pub fn no_color(&self) -> bool {
        messages::no_color(self.no_color)
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a k6 script, or an archive of one
    #[cfg(feature = "scripts")]
    Run(Box<RunArgs>),
    /// Send HTTP requests to one URL, without a script
    Http(Box<HttpArgs>),
    /// Send requests to a list of targets, with vegeta's flags and results
    Attack(Box<AttackArgs>),
    /// Call one gRPC method, without a script
    Grpc(Box<GrpcArgs>),
    /// Report, convert and plot results of attack, or of vegeta
    Vegeta(VegetaArgs),
    /// Print a script's consolidated options as JSON
    #[cfg(feature = "scripts")]
    Inspect(Box<InspectArgs>),
    /// Pack a script and its files into one file
    #[cfg(feature = "scripts")]
    Archive(Box<ArchiveArgs>),
    /// Create a script to start from
    New(NewArgs),
    /// Check load-test reports (k6, wrk, vegeta, …) for errors and contradictions
    Audit(AuditArgs),
    /// Find the highest load at which a service meets an objective
    Find(Box<FindArgs>),
    /// Compare two runs or commands: how much they differ, and how certain that is
    Compare(Box<CompareArgs>),
    /// Write the report of a run, or of two runs side by side
    Report(Box<ReportCommandArgs>),
    /// List kept runs, with one figure over time and where it changed
    History(HistoryArgs),
    /// Run a benchmark from one file: set up, check, measure and report
    Lab(LabArgs),
    /// Run tests on many machines: server, agents, their state and what they keep
    Fleet(FleetCommandArgs),
    /// Print the state of a run in another process
    Status(ControlArgs),
    /// Print the metrics of a run in another process
    Stats(ControlArgs),
    /// Pause a run's externally controlled scenarios
    Pause(ControlArgs),
    /// Resume a run, or start one that waits
    Resume(ControlArgs),
    /// Change the users of a run's externally controlled scenario
    Scale(ScaleArgs),
    /// End a run gracefully
    Stop(ControlArgs),
    /// Emulate a slow or distant network: latency, jitter, bandwidth, loss
    Link(LinkArgs),
    /// Measure a network path: connect, round trip, TLS handshake
    Probe(Box<ProbeArgs>),
    /// Measure network throughput with iperf3's protocol
    Throughput(Box<ThroughputArgs>),
    /// Create a certificate authority and certificates for tests
    Certs(CertsArgs),
    /// Start one of the reference systems (runs plimsoll-serve)
    #[command(disable_help_flag = true)]
    Serve(ServeArgs),
    /// Print the version
    Version(VersionArgs),
    /// Print shell completions
    #[command(after_long_help = include_str!("../../help/completion.txt"))]
    Completion {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the program or of one command
    #[command(after_long_help = include_str!("../../help/man.txt"))]
    Man {
        /// Command
        command: Option<String>,
    },
}

impl Command {
    /// The flags of the live page and of reports, of a command that has both.
    pub fn page_and_report(&mut self) -> Option<(&WebArgs, &mut ReportArgs)> {
        match self {
            #[cfg(feature = "scripts")]
            Command::Run(args) => Some((&args.web, &mut args.record.report)),
            Command::Http(args) => Some((&args.web, &mut args.record.report)),
            Command::Attack(args) => Some((&args.web, &mut args.record.report)),
            Command::Grpc(args) => Some((&args.web, &mut args.record.report)),
            Command::Find(args) => Some((&args.web, &mut args.report)),
            _ => None,
        }
    }
}

#[cfg(feature = "scripts")]
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/archive.txt"))]
pub struct ArchiveArgs {
    /// Script, or - for stdin
    pub script: String,
    /// File to write the archive to
    #[arg(
        short = 'O',
        long = "archive-out",
        value_name = "FILE",
        default_value = "archive.tar"
    )]
    pub out: std::path::PathBuf,
    /// Leave out the variables given with -e
    #[arg(long)]
    pub exclude_env_vars: bool,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
    #[command(flatten)]
    pub options: Box<OptionArgs>,
}

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// System and its flags; `plimsoll serve --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<std::ffi::OsString>,
}

#[derive(Debug, clap::Args)]
pub struct VersionArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A length of time, with its unit.
fn time(text: &str) -> Result<std::time::Duration, String> {
    plimsoll_units::duration::parse_with_unit(text)
}
