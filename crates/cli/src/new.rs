//! `plimsoll new`: creates a starter script.

use std::path::PathBuf;

use plimsoll_import::NewScript;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::new_files;

#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/new.txt"))]
pub struct NewArgs {
    /// URL to load; a terminal prompts for it. With --from, the server to use instead of the one in the file
    pub url: Option<String>,
    /// File to write [default: script.js]
    pub file: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
    /// Convert a file: its format (har, openapi, postman, curl or jmx) and the file (- for stdin)
    #[arg(long, num_args = 2, value_names = ["FORMAT", "SOURCE"], conflicts_with = "template")]
    pub from: Option<Vec<String>>,
    /// With --from har, also convert requests to this host and its subdomains
    #[arg(long, value_name = "NAME", requires = "from")]
    pub host: Vec<String>,
    /// With --from, write the script without running it
    #[arg(long, requires = "from")]
    pub no_smoke: bool,
    /// Template: minimal, protocol, or the path of a script
    #[arg(long, default_value = "minimal")]
    pub template: String,
}

/// Writes the file, unless it already exists.
pub fn new(args: &NewArgs) -> Exit {
    let script = NewScript {
        url: args.url.as_deref(),
        file: args.file.as_deref(),
        template: &args.template,
        from: match args.from.as_deref() {
            Some([format, source]) => Some((format, source)),
            _ => None,
        },
        hosts: &args.host,
        force: args.force,
        no_smoke: args.no_smoke,
    };
    new_files::script(&script)
}
