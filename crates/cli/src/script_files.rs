//! Commands that inspect or copy a script without running it.

use std::path::PathBuf;

use clap::Args;
use plimsoll_run::script_files::{copy_modules, dependencies, describe};
use plimsoll_run::{ScriptOptions, needed_json, prepare};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::print_message;
use plimsoll_terminal::script_command;

use crate::args::{GlobalArgs, OptionArgs, RuntimeArgs};
use crate::script_options;

/// `plimsoll inspect`.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../help/inspect.txt"))]
pub struct InspectArgs {
    /// Script, archive, or - for stdin
    pub script: String,
    /// Include the number of users and the time that the run needs
    #[arg(long)]
    pub execution_requirements: bool,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
    #[command(flatten)]
    pub options: Box<OptionArgs>,
}

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../help/archive.txt"))]
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
    pub out: PathBuf,
    /// Exclude the variables set with -e
    #[arg(long)]
    pub exclude_env_vars: bool,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
    #[command(flatten)]
    pub options: Box<OptionArgs>,
}

/// `plimsoll deps`.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../help/deps.txt"))]
pub struct DepsArgs {
    /// Script, archive, or - for stdin
    pub script: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
}

/// `plimsoll vendor`.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../help/vendor.txt"))]
pub struct VendorArgs {
    /// Script, or - for stdin
    pub script: String,
    /// Folder for the copies and the import map
    #[arg(short = 'O', long, value_name = "FOLDER", default_value = "vendor")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
    #[command(flatten)]
    pub options: Box<OptionArgs>,
}

/// Prints the options as JSON: only the script's own, or with `--execution-requirements` all layers combined, and the
/// resources that they need.
pub fn inspect(args: &InspectArgs, global: &GlobalArgs) -> Exit {
    script_command::run(global.log(), None, |log| {
        let script = ScriptOptions {
            is_only_read: !args.execution_requirements,
            ..script_options::read(&args.script, &args.runtime, &args.options, global, log)?
        };
        let prepared = prepare(script.resolve()?, &log.sink())?;
        let options = match args.execution_requirements {
            true => needed_json(&prepared.plan),
            false => prepared.own_options.to_json(),
        };
        let text = plimsoll_output::option_json(&prepared.masked(options));
        Ok(Exit::of_text(Ok(format!("{text}\n"))))
    })
}

/// Writes the archive.
pub fn archive(args: &ArchiveArgs, global: &GlobalArgs) -> Exit {
    script_command::run(global.log(), None, |log| {
        let script = ScriptOptions {
            keep_files: true,
            ..script_options::read(&args.script, &args.runtime, &args.options, global, log)?
        };
        let prepared = prepare(script.resolve()?, &log.sink())?;
        prepared.write_archive(&args.out, !args.exclude_env_vars, &log.sink())?;
        Ok(Exit::SUCCESS)
    })
}

/// Prints the dependencies of a script.
pub fn deps(args: &DepsArgs, global: &GlobalArgs) -> Exit {
    script_command::run(global.log(), None, |log| {
        let map = args.runtime.import_map.as_deref();
        let found = dependencies(&args.script, map, args.runtime.offline, &log.sink())?;
        Ok(Exit::of_text(Ok(describe(&found, args.json))))
    })
}

/// Writes copies of the modules that a script loads from the network.
pub fn vendor(args: &VendorArgs, global: &GlobalArgs) -> Exit {
    script_command::run(global.log(), None, |log| {
        let script = ScriptOptions {
            keep_files: true,
            is_only_read: true,
            ..script_options::read(&args.script, &args.runtime, &args.options, global, log)?
        };
        let prepared = prepare(script.resolve()?, &log.sink())?;
        print_message(&copy_modules(&prepared, &args.script, &args.folder)?);
        Ok(Exit::SUCCESS)
    })
}
