use std::path::PathBuf;

use super::{IoArgs, OptionArgs, RecordArgs};

/// `plimsoll run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    plimsoll run script.js                           what the script asks for\n  \
    plimsoll run -u 50 -d 1m script.js               fifty users for a minute\n  \
    plimsoll run -s 30s:100 -s 1m:100 -s 10s:0 script.js   up, steady, down\n  \
    plimsoll run -e BASE=http://127.0.0.1:8080 script.js   __ENV.BASE in the script\n  \
    plimsoll run -o json=samples.gz --summary-export end.json script.js\n  \
    plimsoll run --rate 200 -d 1m script.js          two hundred iterations a second, whatever the script says\n  \
    plimsoll run --record run.jsonl script.js        every second, to compare and plot later\n  \
    plimsoll run tests.tar                           what plimsoll archive, or k6, packed\n  \
    echo 'export default function () {}' | plimsoll run -\n\n\
    Options come from, the later the stronger: the config file, the script, K6_* variables, flags.\n\n\
    Exit status: 0 run ended and thresholds held, 99 a threshold was crossed, \
    \
    100 setup or 101 teardown took too long, 104 invalid options, 105 stopped by a signal, 107 the script threw in its init code or set-up, \
    108 aborted by the script, 110 marked as failed by the script, 255 anything else.")]
pub struct RunArgs {
    /// The script (.js, .ts), its https:// address, an archive (.tar), or - for standard input
    pub script: String,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
    #[command(flatten)]
    pub options: Box<OptionArgs>,
    /// Send every sample there too: json[=FILE|-|FILE.gz], csv[=FILE]
    #[arg(
        short,
        long = "out",
        value_name = "OUTPUT",
        env = "K6_OUT",
        hide_env = true,
        help_heading = "Results",
        value_delimiter = ','
    )]
    pub out: Vec<String>,
    #[command(flatten)]
    pub record: RecordArgs,
    /// Print the summary and its verdict as one JSON document, and nothing else on stdout
    #[arg(long, help_heading = "Results")]
    pub json: bool,
    #[command(flatten)]
    pub io: IoArgs,
    /// Stay after the run until interrupted
    #[arg(short, long, help_heading = "Results")]
    pub linger: bool,
    /// No usage report is ever sent; accepted for compatibility
    #[arg(long, hide = true)]
    pub no_usage_report: bool,
    /// Address of the control API; not there yet
    #[arg(short, long, hide = true)]
    pub address: Option<String>,
    /// Accepted for compatibility
    #[arg(long, hide = true)]
    pub profiling_enabled: bool,
    /// Where secrets come from; not there yet
    #[arg(long, hide = true)]
    pub secret_source: Vec<String>,
    /// Traces; not there yet
    #[arg(long, hide = true)]
    pub traces_output: Option<String>,
}

/// `plimsoll inspect`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    plimsoll inspect script.js                            the options it exports\n  \
    plimsoll inspect --execution-requirements script.js   all layers, users and time needed\n  \
    plimsoll inspect tests.tar                            the options an archive holds")]
pub struct InspectArgs {
    /// The script, an archive, or - for standard input
    pub script: String,
    /// Also say how many users and how much time the run needs
    #[arg(long)]
    pub execution_requirements: bool,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
    #[command(flatten)]
    pub options: Box<OptionArgs>,
}

/// What bears on how a script is run but is not among its own options.
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
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        env = "K6_INCLUDE_SYSTEM_ENV_VARS", hide_env = true)]
    pub include_system_env_vars: Option<bool>,
    /// JavaScript dialect: extended, base
    #[arg(
        long,
        value_name = "MODE",
        env = "K6_COMPATIBILITY_MODE",
        hide_env = true
    )]
    pub compatibility_mode: Option<String>,
    /// What the file is: js, archive
    #[arg(
        short = 't',
        long = "type",
        value_name = "TYPE",
        env = "K6_TYPE",
        hide_env = true
    )]
    pub kind: Option<String>,
    /// Judge no thresholds
    #[arg(long, env = "K6_NO_THRESHOLDS", hide_env = true, value_parser = clap::builder::FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    pub no_thresholds: bool,
    /// Print no summary at the end
    #[arg(long)]
    pub no_summary: bool,
    /// The summary at the end: compact, full, legacy, disabled
    #[arg(long, value_name = "MODE", env = "K6_SUMMARY_MODE", hide_env = true)]
    pub summary_mode: Option<String>,
    /// Write the summary to this file as JSON
    #[arg(long, value_name = "FILE", env = "K6_SUMMARY_EXPORT", hide_env = true)]
    pub summary_export: Option<PathBuf>,
    /// Give handleSummary and --summary-export the newer JSON
    #[arg(long, env = "K6_NEW_MACHINE_READABLE_SUMMARY", hide_env = true, value_parser = clap::builder::FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    pub new_machine_readable_summary: bool,
    /// Load modules from the network's cache alone
    #[arg(long)]
    pub offline: bool,
    /// Import map (JSON) for bare module names
    #[arg(long, value_name = "FILE")]
    pub import_map: Option<PathBuf>,
    /// Worker threads; by default one for each processor this process may use
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
}
