//! A run's directory: everything is there as it happens.
//!
//! `run.json` says what is run; `cells/N/R/facts.json` that repeat R of cell N is done. It
//! appears at once and whole, so that whatever ends the lab, a repeat is either done or
//! will be run again.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use plimsoll_results::environment::Environment;
use plimsoll_results::lab::{CellState, LinkFigures, Placed};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::observe::Observed;
use super::sources::SourceFile;

/// What a run is of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunFile {
    /// `plimsoll/lab-run/1`.
    pub schema: String,
    /// Version of the program.
    pub plimsoll: String,
    /// The lab file.
    pub file: PathBuf,
    /// Its text when the run began.
    pub text: String,
    /// The form.
    pub form: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// Where.
    pub environment: Environment,
    /// The other files that it is made from, as they were when it began.
    #[serde(default)]
    pub sources: Vec<SourceFile>,
}

/// Which format [`RunFile::schema`] names.
pub const SCHEMA: &str = "plimsoll/lab-run/1";

/// What is known of a repeat besides what the tool left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Facts {
    /// Which run of the lab it was.
    pub turn: u32,
    /// When it began, RFC 3339.
    pub started: String,
    /// The command.
    pub command: Vec<String>,
    /// How the tool ended.
    pub status: String,
    /// Why its figures are none, if so.
    pub failed: Option<String>,
    /// What processes used.
    pub observed: Observed,
    /// The link.
    pub link: Option<LinkFigures>,
    /// The sanity request.
    pub sanity: Option<String>,
    /// Processes and where they ran.
    pub topology: Vec<Placed>,
}

/// What became of a cell that is not simply measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fate {
    /// See [`CellState`].
    pub state: CellState,
}

/// Free space without which no further cell is measured: more than what a short run writes.
const SPACE: usize = 1 << 20;

/// A run's directory.
#[derive(Clone, Debug)]
pub struct Store {
    /// Where it is.
    pub directory: PathBuf,
}

impl Store {
    /// The directory of a cell.
    pub fn cell(&self, cell: usize) -> PathBuf {
        self.directory.join("cells").join(cell.to_string())
    }

    /// The directory of a repeat.
    pub fn repeat(&self, cell: usize, repeat: u32) -> PathBuf {
        self.cell(cell).join(repeat.to_string())
    }

    /// Where a variant's logs are.
    pub fn logs(&self, variant: usize) -> PathBuf {
        self.directory
            .join("logs")
            .join(format!("variant-{}", variant + 1))
    }

    /// The results of a repeat, if it is done.
    pub fn facts(&self, cell: usize, repeat: u32) -> Option<Facts> {
        read(&self.repeat(cell, repeat).join("facts.json")).ok()
    }

    /// Makes space for a repeat. What an interrupted attempt left is kept next to it.
    ///
    /// # Errors
    /// What the system says.
    pub fn make_repeat(&self, cell: usize, repeat: u32) -> Result<PathBuf, String> {
        let directory = self.repeat(cell, repeat);
        if directory.exists() {
            let mut attempt = 1;
            let aside = loop {
                let aside = self
                    .cell(cell)
                    .join(format!("{repeat}.interrupted-{attempt}"));
                if !aside.exists() {
                    break aside;
                }
                attempt += 1;
            };
            fs::rename(&directory, aside).map_err(|error| error.to_string())?;
        }
        fs::create_dir_all(&directory)
            .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
        Ok(directory)
    }

    /// Checks that results can still be written.
    ///
    /// # Errors
    /// Why they cannot.
    pub fn check_space(&self) -> Result<(), String> {
        let probe = self.directory.join("space");
        let written = write_text(&probe, &[0; SPACE]);
        let _ = fs::remove_file(&probe);
        written.map_err(|error| {
            format!(
                "cannot write results in {}: {error}",
                self.directory.display()
            )
        })
    }

    /// What is said of a cell as a whole.
    pub fn fate(&self, cell: usize) -> Option<CellState> {
        let fate: Fate = read(&self.cell(cell).join("fate.json")).ok()?;
        Some(fate.state)
    }

    /// Says what became of a cell; none if there is nothing to say any more.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_fate(&self, cell: usize, state: Option<CellState>) -> Result<(), String> {
        let path = self.cell(cell).join("fate.json");
        match state {
            Some(state) => {
                fs::create_dir_all(self.cell(cell)).map_err(|error| error.to_string())?;
                write(&path, &Fate { state })
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
/// What is wrong with the file.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes JSON so that the file is there at once and whole (rename(2)).
///
/// # Errors
/// What the system says.
pub fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), String> {
    let told = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| error.to_string())?;
    text.push(b'\n');
    write_text(path, &text).map_err(told)
}

/// Writes a file so that it is there at once and whole. Otherwise, what was there before stays, and nothing takes up space.
///
/// # Errors
/// What the system says.
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
