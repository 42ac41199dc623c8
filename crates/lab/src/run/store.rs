//! The directory of a run. Results are written to it as soon as they exist.
//!
//! `run.json` describes the run. `cells/N/R/facts.json` exists when repeat R of cell N is done. It
//! is created atomically, so however the lab ends, a repeat is either done or will be run again.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use plimsoll_results::environment::Environment;
use plimsoll_results::lab::{CellState, LabResult, LinkFigures, Placed};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::host::HostUse;
use super::observe::Observed;
use super::sources::SourceFile;

/// The description of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunFile {
    /// `plimsoll/lab-run/2`.
    pub schema: String,
    /// The version of the program that started the run.
    pub plimsoll: String,
    /// The lab file.
    pub file: PathBuf,
    /// The text of the lab file at the start of the run.
    pub text: String,
    pub form: String,
    /// The time of the start (RFC 3339).
    pub started: String,
    /// The seed of the random order of cells.
    #[serde(default)]
    pub seed: u64,
    /// The machine.
    pub environment: Environment,
    /// The commit of the lab file's repository, followed by ` (changed)` if the repository had
    /// uncommitted changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The other input files, as they were at the start of the run.
    #[serde(default)]
    pub sources: Vec<SourceFile>,
}

/// The value of [`RunFile::schema`] in this version.
pub const SCHEMA: &str = "plimsoll/lab-run/2";

/// Data about a repeat in addition to the tool's output.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The position of this run in the order of all runs.
    pub turn: u32,
    /// The time of the start (RFC 3339).
    pub started: String,
    pub command: Vec<String>,
    /// The exit status of the tool.
    pub status: String,
    /// The reason why there are no figures, if there are none.
    pub failed: Option<String>,
    /// The resource usage of processes.
    pub observed: Observed,
    pub link: Option<LinkFigures>,
    /// The processor time of programs that do not belong to the lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<OtherPrograms>,
    /// The longest time for which a processor of the lab did not run a thread that was due to wake on
    /// it, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standstill_ms: Option<f64>,
    /// The sanity request.
    pub sanity: Option<String>,
    /// The processes and their processors.
    pub topology: Vec<Placed>,
    /// The reasons why earlier attempts of this run do not count: other programs disturbed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
    /// Other hosts and their usage during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostUse>,
}

/// Processor time during a run of programs that do not belong to the lab.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherPrograms {
    /// As a share of one processor.
    pub share: f64,
    /// The name of the program that used the most.
    pub most: String,
}

/// The state of a cell that was not measured normally.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellStateFile {
    /// See [`CellState`].
    pub state: CellState,
}

/// Minimum free space for measuring another cell. It is larger than the files of a short run.
const MIN_SPACE: usize = 1 << 20;

#[derive(Clone, Debug)]
pub struct Store {
    pub directory: PathBuf,
}

impl Store {
    /// Writes the result of the lab and the pages of its report.
    ///
    /// # Errors
    /// The system's error, and how to write the result again.
    pub fn write_report(
        &self,
        result: &LabResult,
        pages: Vec<(String, String)>,
    ) -> Result<(), String> {
        // With indentation, its distributions would take five times as much space.
        let text = serde_json::to_vec(result).map_err(|error| error.to_string())?;
        let path = self.directory.join("result.json");
        write_text(&path, &text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
            .and_then(|()| self.write_pages(pages))
            .map_err(|why| {
                format!(
                    "{why}. The measurements are kept. When the files can be written, run: plimsoll lab report {}",
                    self.directory.display()
                )
            })
    }

    /// Writes the pages of a report.
    ///
    /// # Errors
    /// The system's error.
    pub fn write_pages(&self, pages: Vec<(String, String)>) -> Result<(), String> {
        for (name, text) in pages {
            let path = self.directory.join(&name);
            let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
            folder
                .and_then(|()| write_text(&path, text.as_bytes()))
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// The result in a directory that contains only a result, such as a published report. `None` for
    /// the directory of a run.
    pub fn only_result(&self) -> Option<LabResult> {
        let is_run = self.directory.join("run.json").exists();
        let result: LabResult = read(&self.directory.join("result.json")).ok()?;
        (!is_run && result.schema == plimsoll_results::lab::SCHEMA).then_some(result)
    }

    /// The directory of a cell.
    pub fn cell(&self, cell: usize) -> PathBuf {
        self.directory.join("cells").join(cell.to_string())
    }

    /// The directory of a repeat.
    pub fn repeat(&self, cell: usize, repeat: u32) -> PathBuf {
        self.cell(cell).join(repeat.to_string())
    }

    /// The directory of a variant's logs.
    pub fn logs(&self, variant: usize) -> PathBuf {
        self.directory
            .join("logs")
            .join(format!("variant-{}", variant + 1))
    }

    /// The results of a repeat, if it is done.
    pub fn facts(&self, cell: usize, repeat: u32) -> Option<Facts> {
        read(&self.repeat(cell, repeat).join("facts.json")).ok()
    }

    /// Creates the directory of a repeat. If an earlier attempt was interrupted or disturbed, its files
    /// are kept in another directory.
    ///
    /// # Errors
    /// The system's error.
    pub fn make_repeat(&self, cell: usize, repeat: u32) -> Result<PathBuf, String> {
        let directory = self.repeat(cell, repeat);
        if directory.exists() {
            let mut attempt = 1;
            let why = if directory.join("facts.json").exists() {
                "disturbed"
            } else {
                "interrupted"
            };
            let aside = loop {
                let aside = self.cell(cell).join(format!("{repeat}.{why}-{attempt}"));
                if !aside.exists() {
                    break aside;
                }
                attempt += 1;
            };
            fs::rename(&directory, aside).map_err(|error| error.to_string())?;
        }
        fs::create_dir_all(&directory)
            .map_err(|error| format!("cannot create {}: {error}", directory.display()))?;
        Ok(directory)
    }

    /// Checks that results can still be written.
    ///
    /// # Errors
    /// The reason why they cannot be written.
    pub fn check_space(&self) -> Result<(), String> {
        let probe = self.directory.join("space");
        let written = write_text(&probe, &[0; MIN_SPACE]);
        let _ = fs::remove_file(&probe);
        written.map_err(|error| {
            format!(
                "cannot write results in {}: {error}",
                self.directory.display()
            )
        })
    }

    /// The state of a cell as a whole, if it was not measured normally.
    pub fn fate(&self, cell: usize) -> Option<CellState> {
        let fate: CellStateFile = read(&self.cell(cell).join("fate.json")).ok()?;
        Some(fate.state)
    }

    /// Sets the state of a cell as a whole; `None` removes it.
    ///
    /// # Errors
    /// The system's error.
    pub fn set_fate(&self, cell: usize, state: Option<CellState>) -> Result<(), String> {
        let path = self.cell(cell).join("fate.json");
        match state {
            Some(state) => {
                fs::create_dir_all(self.cell(cell)).map_err(|error| error.to_string())?;
                write(&path, &CellStateFile { state })
            }
            None => {
                let _ = fs::remove_file(path);
                Ok(())
            }
        }
    }
}

/// Reads JSON.
///
/// # Errors
/// A description of what is wrong with the file.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes JSON atomically (rename(2)).
///
/// # Errors
/// The system's error.
pub fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| error.to_string())?;
    text.push(b'\n');
    write_text(path, &text).map_err(fail)
}

/// Writes a file atomically. If writing fails, the previous file remains, and no space is used.
///
/// # Errors
/// The system's error.
pub fn write_text(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let aside = path.with_extension("new");
    let written = fs::File::create(&aside).and_then(|mut file| {
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&aside, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&aside);
    }
    written
}

/// A line about each run in a directory, oldest first.
pub fn list(results: &Path) -> Vec<String> {
    let mut runs: Vec<(String, String)> = Vec::new();
    for entry in fs::read_dir(results).into_iter().flatten().flatten() {
        let directory = entry.path();
        let Ok(run) = read::<RunFile>(&directory.join("run.json")) else {
            continue;
        };
        let state = match read::<LabResult>(&directory.join("result.json")) {
            Ok(result) if result.ended.is_some() => format!("{} cells", result.cells.len()),
            Ok(_) => "incomplete".to_owned(),
            Err(_) => "interrupted".to_owned(),
        };
        let line = format!(
            "{}  {}  {}  {state}",
            run.started,
            run.form,
            directory.display()
        );
        runs.push((run.started, line));
    }
    runs.sort();
    runs.into_iter().map(|(_, line)| line).collect()
}
