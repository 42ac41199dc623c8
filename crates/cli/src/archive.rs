//! `plimsoll archive`: a script and all that it loads, in one file.

use std::io::BufWriter;

use plimsoll_run::Refusal;
use plimsoll_terminal::exit::Exit;

use crate::args::{ArchiveArgs, GlobalArgs};
use crate::script_request::{Purpose, prepared, with_log};

/// Writes the archive.
pub fn archive(args: &ArchiveArgs, global: &GlobalArgs) -> Exit {
    let purpose = Purpose {
        keep_files: true,
        ..Purpose::default()
    };
    with_log(global, |log| {
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
            })?;
        Ok(Exit::SUCCESS)
    })
}
