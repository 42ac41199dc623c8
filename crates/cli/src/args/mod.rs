//! The command line: the one source of help, man page and completions.

mod attack;
mod audit;
mod certs;
mod compare;
mod connections;
mod find;
mod grpc;
mod history;
mod http;
mod io;
mod lab;
mod link;
mod options;
mod probe;
mod record;
mod run;
mod single_dash;
mod stored;
mod throughput;
mod vegeta;

use clap::{Parser, Subcommand};

pub use attack::AttackArgs;
pub use audit::{AuditArgs, AuditFormat};
pub use certs::CertsArgs;
pub use compare::CompareArgs;
pub use connections::{ConnectionUse, ConnectionsFlag};
pub use find::FindArgs;
pub use grpc::GrpcArgs;
pub use history::HistoryArgs;
pub use http::HttpArgs;
pub use io::IoArgs;
pub use lab::{LabArgs, LabCommand, LabFile, LabPlanArgs, LabRunArgs};
pub use link::{LinkArgs, LinkProtocol};
pub use options::OptionArgs;
pub use probe::ProbeArgs;
pub use record::RecordArgs;
pub use run::{InspectArgs, RunArgs, RuntimeArgs};
pub use single_dash::translate;
pub use stored::StoredArgs;
pub use throughput::ThroughputArgs;
pub use vegeta::{EncodeArgs, PlotArgs, ReportArgs, VegetaArgs, VegetaCommand};

/// Plimsoll: how much load a service carries, and the proof.
#[derive(Debug, Parser)]
#[command(
    name = "plimsoll",
    version,
    arg_required_else_help = true,
    after_help = "Start here:\n  \
        plimsoll http -c 100 -d 10s http://127.0.0.1:8080/   one address, no script\n  \
        plimsoll new script.js && plimsoll run script.js      a k6 script, unchanged\n  \
        plimsoll archive script.js                            it and its files in one\n  \
        plimsoll serve payload                                a server to try it on\n\n\
        plimsoll COMMAND --help has examples of each.\n\
        Results go to standard output, talk to standard error."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command understands.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub struct GlobalArgs {
    /// Write no colours (also with NO_COLOR or K6_NO_COLOR set)
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Say more: debug messages too
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Show no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show passwords, tokens and API keys, which are *** by default in everything displayed
    #[arg(long, global = true, env = "PLIMSOLL_SHOW_SECRETS", hide_env = true, value_parser = clap::builder::FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    pub show_secrets: bool,
    /// Where log lines go: stderr, stdout, none, file=PATH
    #[arg(
        long,
        global = true,
        value_name = "WHERE",
        env = "K6_LOG_OUTPUT",
        hide_env = true
    )]
    pub log_output: Option<String>,
    /// How log lines look: text, json, raw
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        env = "K6_LOG_FORMAT",
        hide_env = true
    )]
    pub log_format: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a k6 script, or an archive of one
    Run(Box<RunArgs>),
    /// Load one address, without a script
    Http(Box<HttpArgs>),
    /// Load a list of targets, with vegeta's flags and results
    Attack(Box<AttackArgs>),
    /// Load one gRPC method, without a script
    Grpc(Box<GrpcArgs>),
    /// Report, convert and draw results of attack, or of vegeta
    Vegeta(VegetaArgs),
    /// Print a script's consolidated options as JSON
    Inspect(Box<InspectArgs>),
    /// Pack a script with all it loads into one file
    Archive(Box<ArchiveArgs>),
    /// Write a new script to start from
    New(NewArgs),
    /// Say what does not hold in a load test's report, of any tool
    Audit(AuditArgs),
    /// Find the highest load that keeps an objective
    Find(Box<FindArgs>),
    /// Say whether B differs from A, by how much, and how surely
    Compare(Box<CompareArgs>),
    /// List the runs that were kept, with one figure over time and where it changed
    History(HistoryArgs),
    /// A benchmark as one file: set up, checked, measured and reported
    Lab(LabArgs),
    /// Emulate a slow or distant network: latency, jitter, bandwidth, loss
    Link(LinkArgs),
    /// Measure the way to a server: connect, round trip, TLS handshake
    Probe(Box<ProbeArgs>),
    /// Measure how many bytes a way carries, by iperf3's protocol
    Throughput(Box<ThroughputArgs>),
    /// Make an authority and certificates for tests
    Certs(CertsArgs),
    /// Start one of the reference systems (runs plimsoll-serve)
    #[command(disable_help_flag = true)]
    Serve(ServeArgs),
    /// Print the version
    Version(VersionArgs),
    /// Print completions for a shell
    #[command(after_help = "Examples:\n  \
        source <(plimsoll completion bash)\n  \
        plimsoll completion zsh > ~/.zfunc/_plimsoll\n  \
        plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish")]
    Completion {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of all or of one command
    #[command(after_help = "Examples:\n  \
        plimsoll man | man -l -\n  \
        plimsoll man run > plimsoll-run.1")]
    Man {
        /// Which command
        command: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The archive holds the script, what it imports and opens, its consolidated options \
    and the variables given with -e. Nothing else is read when it runs.\n\n\
    Examples:\n  \
    plimsoll archive script.js -O tests.tar\n  \
    plimsoll archive -e BASE=http://127.0.0.1:8080 -u 50 -d 1m script.js\n  \
    plimsoll run tests.tar"
)]
pub struct ArchiveArgs {
    /// The script, or - for standard input
    pub script: String,
    /// Where to write the archive
    #[arg(
        short = 'O',
        long = "archive-out",
        value_name = "FILE",
        default_value = "archive.tar"
    )]
    pub out: std::path::PathBuf,
    /// Leave the environment variables given with -e out of it
    #[arg(long)]
    pub exclude_env_vars: bool,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
    #[command(flatten)]
    pub options: Box<OptionArgs>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    plimsoll new                                   script.js, a few lines\n  \
    plimsoll new --template protocol checkout.js   set-up, groups, metrics of its own\n  \
    plimsoll new --template team.js mine.js        a copy of a script of yours")]
pub struct NewArgs {
    /// The file to write
    #[arg(default_value = "script.js")]
    pub file: std::path::PathBuf,
    /// Write over an existing file
    #[arg(short, long)]
    pub force: bool,
    /// What to start from: minimal, protocol, or the path of a script
    #[arg(long, default_value = "minimal")]
    pub template: String,
}

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The system and its flags; `plimsoll serve --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<std::ffi::OsString>,
}

#[derive(Debug, clap::Args)]
pub struct VersionArgs {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// A length of time, with its unit.
fn time(text: &str) -> Result<std::time::Duration, String> {
    plimsoll_units::duration::parse_with_unit(text)
}
