//! `plimsoll archive`: a script and all that it loads, in one file.

use std::io::BufWriter;
use std::sync::Arc;

use plimsoll_run::Refusal;
use plimsoll_terminal::log::Log;
use plimsoll_terminal::messages::complain;

use crate::args::{ArchiveArgs, GlobalArgs};
use crate::exit::Exit;
use crate::script_request::{Purpose, prepared};

/// Writes the archive.
pub fn archive(args: &ArchiveArgs, global: &GlobalArgs) -> Exit {
    let log = match global.log() {
        Ok(log) => Arc::new(log),
        Err(message) => {
            complain(&message);
            return Exit::GENERIC;
        }
    };
    match pack(args, &log) {
        Ok(()) => Exit::SUCCESS,
        Err(refusal) => Exit::of_refusal(&refusal, &log),
    }
}

fn pack(args: &ArchiveArgs, log: &Arc<Log>) -> Result<(), Refusal> {
    let purpose = Purpose {
        keep_files: true,
        ..Purpose::default()
    };
    let prepared = prepared(&args.script, &args.runtime, &args.options, log, purpose)?;
    let archive = prepared.into_archive(args.exclude_env_vars);
    let out = &args.out;
    std::fs::File::create(out)
        .and_then(|file| archive.write(BufWriter::new(file)))
        .map_err(|error| {
            Refusal::other(format!(
                "cannot write the archive {}: {error}",
                out.display()
            ))
        })
}
