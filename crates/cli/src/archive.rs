//! `plimsoll archive`: a script and all that it loads, in one file.

use std::io::BufWriter;
use std::sync::Arc;

use plimsoll_run::Refusal;
use plimsoll_script::Archive;

use crate::args::{ArchiveArgs, GlobalArgs};
use crate::exit::Exit;
use crate::log::Log;
use crate::script_request::{Purpose, prepared};
use crate::talk::complain;

/// Writes the archive.
pub fn archive(args: &ArchiveArgs, global: &GlobalArgs) -> Exit {
    let log = match Log::new(global) {
        Ok(log) => Arc::new(log),
        Err(message) => {
            complain(&message);
            return Exit::GENERIC;
        }
    };
    match pack(args, &log) {
        Ok(()) => Exit::SUCCESS,
        Err(refusal) => log.refuse(&refusal),
    }
}

fn pack(args: &ArchiveArgs, log: &Arc<Log>) -> Result<(), Refusal> {
    let purpose = Purpose {
        keep_files: true,
        ..Purpose::default()
    };
    let prepared = prepared(&args.script, &args.runtime, &args.options, log, purpose)?;
    let mut options = prepared.options;
    options.fill_defaults();
    let archive = Archive {
        path: prepared.path,
        source: prepared.source,
        options: options.to_json(),
        env: (!args.exclude_env_vars).then_some(prepared.env),
        import_map: prepared.import_map,
        files: prepared.program.files(),
    };
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
