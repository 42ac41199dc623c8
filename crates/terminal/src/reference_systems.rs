//! Starts the reference systems. They are a separate program, so that the load generator does not contain them.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Exit;
use crate::messages::print_error;

const PROGRAM: &str = "plimsoll-serve";

/// Runs `plimsoll-serve` with `args` and returns its exit status.
pub fn serve(args: &[OsString]) -> Exit {
    let program = find_next_to_this_program().unwrap_or_else(|| PathBuf::from(PROGRAM));
    match run(&program, args) {
        Ok(exit) => exit,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            print_error(&missing());
            Exit::GENERIC
        }
        Err(error) => {
            print_error(&format!("cannot run {}: {error}", program.display()));
            Exit::GENERIC
        }
    }
}

/// Explains how to get the program.
fn missing() -> String {
    let us = std::env::current_exe().ok();
    let folder = us.as_deref().and_then(Path::parent);
    let folder = folder.map_or_else(String::new, |folder| format!(" ({})", folder.display()));
    format!(
        "the reference systems are in a separate program, {PROGRAM}, which is neither next to \
         plimsoll{folder} nor in a directory of PATH. The release archive has both: copy {PROGRAM} from it. \
         In the sources, build it with: cargo build --release --manifest-path reference-systems/Cargo.toml"
    )
}

/// The program next to this one, in the same directory.
fn find_next_to_this_program() -> Option<PathBuf> {
    let us = std::env::current_exe().ok()?;
    let sibling = us.parent().unwrap_or(Path::new(".")).join(PROGRAM);
    sibling.is_file().then_some(sibling)
}

/// Replaces this process with the program, so that signals reach it.
#[cfg(unix)]
fn run(program: &Path, args: &[OsString]) -> std::io::Result<Exit> {
    use std::os::unix::process::CommandExt;
    Err(Command::new(program).args(args).exec())
}

#[cfg(not(unix))]
fn run(program: &Path, args: &[OsString]) -> std::io::Result<Exit> {
    let status = Command::new(program).args(args).status()?;
    Ok(Exit::from_code(status.code().unwrap_or(1)))
}
