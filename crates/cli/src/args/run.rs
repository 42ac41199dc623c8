use std::path::PathBuf;

use plimsoll_run::{SourceKind, SummaryMode, compatibility_mode};

use super::{FleetArgs, OptionArgs, RecordArgs, ThreadArgs, WebArgs};

/// Flags of `plimsoll run`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/run.txt"))]
pub struct RunArgs {
    /// Script (.js, .ts), its https:// address, an archive (.tar), or - for stdin
    pub script: String,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
    #[command(flatten)]
    pub options: Box<OptionArgs>,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub web: WebArgs,
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Progress on a terminal: k6's bars with the current figures, or only the bars
    #[arg(
        long,
        value_name = "FORM",
        default_value = "full",
        help_heading = "Results"
    )]
    pub progress: ProgressForm,
    /// Keep running after the test until interrupted
    #[arg(short, long, help_heading = "Results")]
    pub linger: bool,
    /// Accepted for compatibility; no usage report is ever sent
    #[arg(long, hide = true)]
    pub no_usage_report: bool,
    /// Address of k6's REST API, for status, pause, resume, scale, stats and stop (default if needed: 127.0.0.1:6565)
    #[arg(
        short,
        long,
        value_name = "[HOST:]PORT",
        env = "K6_ADDRESS",
        hide_env = true,
        help_heading = "Results"
    )]
    pub address: Option<String>,
    /// Accepted for compatibility
    #[arg(long, hide = true)]
    pub profiling_enabled: bool,
    /// Send a span of each HTTP request to an OpenTelemetry collector, and pass its context on to the server:
    /// otel[=HOST:PORT][,proto=grpc|http][,header.NAME=VALUE] (see docs/guide/outputs.md)
    #[arg(
        long,
        value_name = "TRACES",
        default_value = "none",
        env = "K6_TRACES_OUTPUT",
        hide_env = true,
        help_heading = "Results"
    )]
    pub traces_output: String,
}

/// The progress that `plimsoll run` shows on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressForm {
    Full,
    K6,
}

/// Options for running a script, in addition to those in the script.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Script")]
pub struct RuntimeArgs {
    /// JSON file with default options
    #[arg(short, long, value_name = "FILE", env = "K6_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,
    /// Set a variable for the script's __ENV
    #[arg(short = 'e', long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Pass the system's environment variables to the script
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = crate::single_dash::go_bool,
        env = "K6_INCLUDE_SYSTEM_ENV_VARS", hide_env = true)]
    pub include_system_env_vars: Option<bool>,
    /// Source of the script's secrets: file=PATH, url=urlTemplate=URL or mock=KEY=VALUE; can be repeated
    #[arg(long, value_name = "KIND=…", env = "K6_SECRET_SOURCE", hide_env = true)]
    pub secret_source: Vec<String>,
    /// k6 features to enable; plimsoll features lists them
    #[arg(
        long,
        value_name = "NAME,…",
        env = "K6_FEATURES",
        hide_env = true,
        value_delimiter = ','
    )]
    pub features: Vec<String>,
    /// JavaScript dialect: extended, base
    #[arg(
        long,
        value_name = "MODE",
        env = "K6_COMPATIBILITY_MODE",
        hide_env = true,
        value_parser = compatibility_mode
    )]
    pub compatibility_mode: Option<String>,
    /// Type of the file: js, archive
    #[arg(
        short = 't',
        long = "type",
        value_name = "TYPE",
        env = "K6_TYPE",
        hide_env = true,
        value_parser = SourceKind::parse
    )]
    pub kind: Option<SourceKind>,
    /// Ignore thresholds
    #[arg(long, env = "K6_NO_THRESHOLDS", hide_env = true, value_parser = plimsoll_run::parse_bool, action = clap::ArgAction::SetTrue)]
    pub no_thresholds: bool,
    /// Print no summary at the end
    #[arg(long, env = "K6_NO_SUMMARY", hide_env = true, value_parser = plimsoll_run::parse_bool, action = clap::ArgAction::SetTrue)]
    pub no_summary: bool,
    /// Summary at the end: compact, full, legacy, disabled
    #[arg(long, value_name = "MODE", env = "K6_SUMMARY_MODE", hide_env = true, value_parser = SummaryMode::parse)]
    pub summary_mode: Option<SummaryMode>,
    /// Write the summary to this file as JSON
    #[arg(long, value_name = "FILE", env = "K6_SUMMARY_EXPORT", hide_env = true)]
    pub summary_export: Option<PathBuf>,
    /// Use the newer JSON for handleSummary and --summary-export
    #[arg(long, env = "K6_NEW_MACHINE_READABLE_SUMMARY", hide_env = true, value_parser = plimsoll_run::parse_bool, action = clap::ArgAction::SetTrue)]
    pub new_machine_readable_summary: bool,
    /// Load remote modules from the cache only
    #[arg(long)]
    pub offline: bool,
    /// Import map (JSON) for bare module names
    #[arg(long, value_name = "FILE")]
    pub import_map: Option<PathBuf>,
    #[command(flatten)]
    pub threads: ThreadArgs,
}
