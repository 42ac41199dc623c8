//! What is searched with: a command of this program that can make load at a rate.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use results::record::{self, Record};

/// A command, and the words that set its rate and its length.
struct Kind {
    name: &'static str,
    /// Flags that the search sets itself.
    ours: &'static [&'static str],
    /// Flags that keep it quiet.
    quiet: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        name: "http",
        ours: &[
            "-r",
            "--rate",
            "-d",
            "--duration",
            "-n",
            "--requests",
            "--json",
            "--record",
        ],
        quiet: &["--quiet", "--json"],
    },
    Kind {
        name: "run",
        ours: &[
            "--rate",
            "-d",
            "--duration",
            "-i",
            "--iterations",
            "-s",
            "--stage",
            "--record",
        ],
        quiet: &["--quiet", "--summary-mode", "disabled"],
    },
];

/// The command, and where its runs leave their record.
pub struct Subject<'a> {
    command: &'a [String],
    kind: &'static Kind,
    record: PathBuf,
}

impl Subject<'_> {
    /// # Errors
    /// What is wrong with the command, with the way out.
    pub fn of(command: &[String]) -> Result<Subject<'_>, String> {
        let Some(name) = command.first() else {
            return Err("after -- comes the command, like: http http://127.0.0.1:8080/".to_owned());
        };
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
            return Err(format!(
                "find cannot search with {name:?}; after -- comes: http URL, or run script.js"
            ));
        };
        let set = command.iter().find(|word| {
            kind.ours
                .iter()
                .any(|flag| word == flag || word.starts_with(&format!("{flag}=")))
        });
        if let Some(word) = set {
            return Err(format!(
                "{word} is what find sets itself, by --start, --trial and --soak: leave it out"
            ));
        }
        // A folder that is ours alone, for others may write to the system's.
        let folder = std::env::temp_dir().join(format!("plimsoll-find-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| {
            format!(
                "cannot make the folder {} for the trials' records: {error}; set TMPDIR",
                folder.display()
            )
        })?;
        Ok(Subject {
            command,
            kind,
            record: folder.join("trial.jsonl"),
        })
    }

    /// Runs the command once at `rate` for `length`.
    pub fn run(&self, rate: u64, length: Duration) -> Result<Record, String> {
        let program = std::env::current_exe()
            .map_err(|error| format!("cannot find this program: {error}"))?;
        // The record of the trial before must not be taken for this one's.
        let _ = std::fs::remove_file(&self.record);
        let mut child = Command::new(program)
            .args(self.command)
            .args(self.kind.quiet)
            .args(["--rate", &rate.to_string()])
            .args(["--duration", &units::duration::format(length)])
            .arg("--record")
            .arg(&self.record)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run a trial: {error}"))?;
        let mut talk = Vec::new();
        if let Some(errors) = child.stderr.take() {
            // What was said is for a trial that failed; the end of much of it is left out.
            let _ = errors.take(1 << 20).read_to_end(&mut talk);
        }
        let status = child
            .wait()
            .map_err(|error| format!("a trial was lost: {error}"))?;
        let record = File::open(&self.record)
            .map_err(record::ReadError::from)
            .and_then(|file| record::read(BufReader::new(file)));
        // A run that was broken off by a threshold has an end too, and is a trial.
        match record {
            Ok(record) if record.end.is_some() && status.code() != Some(105) => Ok(record),
            _ => Err(format!(
                "the trial at {rate}/s gave no result ({status}): {}",
                String::from_utf8_lossy(&talk).trim()
            )),
        }
    }
}

impl Drop for Subject<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.record);
        if let Some(folder) = self.record.parent() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}
