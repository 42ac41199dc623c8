//! Flags that several commands share.

mod connection;
mod fleet;
mod load;
#[cfg(feature = "scripts")]
mod options;
mod record;
mod report;
#[cfg(feature = "scripts")]
mod run;

#[cfg(feature = "scripts")]
use plimsoll_terminal::log::Settings;
use plimsoll_terminal::messages;

pub use connection::{ConnectionArgs, HttpVersionArgs, IoArgs, TlsArgs};
pub use fleet::FleetArgs;
#[cfg(feature = "fleet")]
pub use fleet::FleetLoss;
pub use load::LoadArgs;
#[cfg(feature = "scripts")]
pub use load::{MaxUsersArgs, ThreadArgs};
#[cfg(feature = "scripts")]
pub use options::OptionArgs;
pub use record::{RecordArgs, WebArgs};
pub use report::{ObjectiveArgs, ReportArgs};
#[cfg(feature = "scripts")]
pub use run::{ProgressForm, RunArgs, RuntimeArgs};

/// Flags that every command accepts.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "All commands")]
pub struct GlobalArgs {
    /// The flags that the user wrote, with their values.
    #[arg(skip)]
    pub given: Vec<(String, String)>,
    /// Disable colors (also with NO_COLOR or K6_NO_COLOR set)
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Also print debug messages
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Hide progress
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
    /// Settings for the log of a script's run.
    #[cfg(feature = "scripts")]
    pub fn log(&self) -> Settings<'_> {
        Settings {
            verbose: self.verbose,
            no_color: self.no_color(),
            output: self.log_output.as_deref(),
            format: self.log_format.as_deref(),
        }
    }

    /// Whether colors are disabled.
    pub fn no_color(&self) -> bool {
        messages::no_color(self.no_color)
    }
}

/// Parses a duration with its unit.
pub fn time(text: &str) -> Result<std::time::Duration, String> {
    plimsoll_units::duration::parse_with_unit(text)
}
