//! The load that agents share: a script, or a command without a script.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plimsoll_plan::{Division, Plan, Scenario, Segment, SegmentSequence};
use plimsoll_run::{FileSet, PreparedScript, ResolvedLoad, TlsFiles, files_of_flags};

use crate::assignment::{Assignment, MAX_PACKAGE_LENGTH};
use crate::messages::SetupData;

/// The file name of a script's archive.
pub const ARCHIVE: &str = "/script.tar";

/// The load of a run.
#[derive(Clone)]
pub enum FleetLoad {
    Script(Arc<ScriptLoad>),
    Command(Arc<CommandLoad>),
}

/// A script and the flags that agents need.
pub struct ScriptLoad {
    /// The script, including its files.
    pub prepared: Arc<PreparedScript>,
    pub tls: TlsFiles,
    /// Sources of secrets, in the form of `--secret-source`.
    pub secret_sources: Vec<String>,
    /// Whether to judge thresholds.
    pub thresholds: bool,
}

/// A command without a script.
pub struct CommandLoad {
    /// Its arguments, without the name of the program.
    pub words: Vec<String>,
    /// The files that it reads.
    pub files: FileSet,
    /// The scenario of the whole test.
    pub scenario: Scenario,
}

/// The arguments of a command, as agents get them.
///
/// # Errors
/// If one of them is not UTF-8 text.
pub fn words_for_agents(words: impl Iterator<Item = OsString>) -> Result<Vec<String>, String> {
    words
        .map(OsString::into_string)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|word| format!("{} is not UTF-8 text, which agents need", word.display()))
}

/// A function that resolves the arguments of a command on an agent.
pub type Resolve = fn(&[String]) -> Result<ResolvedLoad, String>;

impl FleetLoad {
    /// The plan of the whole test.
    pub fn plan(&self) -> Plan {
        match self {
            FleetLoad::Script(script) => script.prepared.plan.clone(),
            FleetLoad::Command(command) => Plan::single(command.scenario.clone(), Vec::new()),
        }
    }

    /// The plan of a part of the test.
    pub fn part(&self, segment: Segment, sequence: &SegmentSequence) -> Result<Plan, String> {
        match self {
            FleetLoad::Script(script) => {
                let plan = script.prepared.plan_in(segment, sequence.clone());
                plan.map_err(|refusal| refusal.message)
            }
            FleetLoad::Command(command) => {
                let division =
                    Division::of(segment, sequence).map_err(|fault| fault.to_string())?;
                Ok(Plan::single(command.scenario.part(&division), Vec::new()))
            }
        }
    }

    /// Everything that an agent needs of this load, and the files.
    ///
    /// # Errors
    /// If a file cannot be read, or if the data is too large.
    pub fn describe(&self) -> Result<(Assignment, FileSet), String> {
        match self {
            FleetLoad::Command(command) => {
                let assignment = Assignment {
                    command: command.words.clone(),
                    ..Assignment::default()
                };
                Ok((assignment, command.files.clone()))
            }
            FleetLoad::Script(script) => {
                let mut files = files_of_flags(&script.tls, &script.secret_sources)?;
                let mut archive = Vec::new();
                (script.prepared.archive().write(&mut archive))
                    .map_err(|error| format!("cannot pack the script: {error}"))?;
                files.insert(PathBuf::from(ARCHIVE), archive);
                let assignment = Assignment {
                    insecure: script.tls.insecure,
                    ca: script.tls.ca.clone(),
                    cert: script.tls.cert.clone(),
                    key: script.tls.key.clone(),
                    secret_sources: script.secret_sources.clone(),
                    thresholds: script.thresholds,
                    ..Assignment::default()
                };
                Ok((assignment, files))
            }
        }
    }

    /// Sets the result of `setup` on an agent.
    pub fn set_setup_data(&self, data: &SetupData) {
        if let FleetLoad::Script(script) = self {
            data.apply_to(&script.prepared);
        }
    }

    /// Whether agents receive data that must be encrypted in transit.
    pub fn is_secret(&self) -> bool {
        match self {
            FleetLoad::Script(script) => {
                !script.secret_sources.is_empty() || script.tls.cert.is_some()
            }
            FleetLoad::Command(command) => {
                let mut words = command.words.iter();
                words.any(|word| {
                    let word = word.to_ascii_lowercase();
                    word == "--cert"
                        || word.starts_with("--cert=")
                        || word.contains("authorization:")
                })
            }
        }
    }
}

/// Packs files. The length of each name and of each content precedes it.
///
/// # Errors
/// If the result is too large.
pub fn pack(files: &FileSet) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for (name, content) in files {
        let name = name.as_os_str().as_encoded_bytes();
        for part in [name, content] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part);
        }
    }
    if bytes.len() as u64 > MAX_PACKAGE_LENGTH {
        return Err(format!(
            "the script and its files have {} MB; the agents of a fleet accept at most {} MB",
            bytes.len() >> 20,
            MAX_PACKAGE_LENGTH >> 20
        ));
    }
    Ok(bytes)
}

/// Unpacks files.
///
/// # Errors
/// If the bytes do not contain valid files.
pub fn unpack(mut bytes: &[u8]) -> Result<FileSet, String> {
    let mut files = FileSet::new();
    while !bytes.is_empty() {
        let [name, content] = [take(&mut bytes)?, take(&mut bytes)?];
        let name = String::from_utf8(name).map_err(|_| "a file has an invalid name")?;
        files.insert(Path::new(&name).to_owned(), content);
    }
    Ok(files)
}

fn take(bytes: &mut &[u8]) -> Result<Vec<u8>, String> {
    let broken = "the files of the run are incomplete";
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or(broken)?;
    let length = usize::try_from(u64::from_be_bytes(*length)).map_err(|_| broken)?;
    let (part, rest) = rest.split_at_checked(length).ok_or(broken)?;
    *bytes = rest;
    Ok(part.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_files_are_unpacked() {
        let mut files = FileSet::new();
        files.insert(PathBuf::from("a"), vec![1, 2]);
        files.insert(PathBuf::from("b/c"), Vec::new());
        let bytes = pack(&files).unwrap();
        assert_eq!(unpack(&bytes), Ok(files));
        for length in 1..bytes.len() {
            // Every prefix is either a whole number of files, or an error.
            let read = unpack(&bytes[..length]);
            assert!(read.is_err() || read.unwrap().len() == 1, "{length}");
        }
        assert!(unpack(&[0xff; 16]).is_err());
    }
}
