//! `plimsoll new`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/new.txt"))]
pub struct NewArgs {
    /// URL to load; asked for on a terminal
    pub url: Option<String>,
    /// File to write [default: script.js]
    pub file: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
    /// Template: minimal, protocol, or the path of a script
    #[arg(long, default_value = "minimal")]
    pub template: String,
}
