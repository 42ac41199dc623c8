//! Packs prepared scripts as archives. Archives that are written to files contain no secret that the script has read.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use log::Level;
use plimsoll_script::Archive;
use serde_json::Value;

use crate::Refusal;
use crate::prepare::{PreparedScript, ScriptLog};

impl PreparedScript {
    /// Writes an archive to a file, without the variables given to the script unless `has_env` is set.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_archive(
        &self,
        file: &Path,
        has_env: bool,
        log: &ScriptLog,
    ) -> Result<(), Refusal> {
        let archive = self.archive_for_file(has_env, log);
        let written = File::create(file).and_then(|file| archive.write(BufWriter::new(file)));
        written.map_err(|error| {
            let file = file.display();
            Refusal::other(format!("cannot write the archive {file}: {error}"))
        })
    }

    /// The archive for the agents of a fleet: the script and all files that it loaded, with the variables given to it. Only
    /// complete if `keep_files` was set.
    pub fn archive(&self) -> Archive {
        let mut options = self.options.clone();
        options.fill_defaults();
        Archive {
            path: self.path.clone(),
            source: self.source.clone(),
            options: options.to_json(),
            script_options: Vec::new(),
            env: Some(self.env.clone()),
            import_map: self.import_map.clone(),
            files: self.program.files(),
        }
    }

    /// The archive for a file. It lacks the options in which the script uses a secret that it has read: a run of the archive
    /// takes them from the script, whose secrets may have changed. `log` receives a warning about them.
    fn archive_for_file(&self, has_env: bool, log: &ScriptLog) -> Archive {
        let mut archive = self.archive();
        if !has_env {
            archive.env = None;
        }
        let options = archive.options.as_object_mut();
        for (name, value) in options.into_iter().flatten() {
            // Other options may contain the same text by chance.
            let is_of_script = self.program.options().get(name).is_some();
            if is_of_script && self.masked(value.clone()) != *value {
                *value = Value::Null;
                archive.script_options.push(name.clone());
            }
        }
        if !archive.script_options.is_empty() {
            let text = format!(
                "the archive does not contain these options, because the script uses a secret in them: {}. `plimsoll run` \
                 takes them from the script; k6 runs without them",
                archive.script_options.join(", ")
            );
            log(Level::Warn, &text, &[]);
        }
        archive
    }
}
