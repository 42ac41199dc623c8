//! How one case is run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

/// One case: its folder's name, and what its `case.json` says.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub folder: PathBuf,
    pub told: Told,
}

/// The content of `case.json`; everything but `about` has a default.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// One sentence: what this case is about.
    pub about: String,
    /// The subcommand; `run` by default.
    #[serde(default = "run")]
    pub command: String,
    /// Arguments between the subcommand and the script.
    #[serde(default)]
    pub flags: Vec<String>,
    /// The script's file name; empty for a command that takes none.
    #[serde(default = "script")]
    pub script: String,
    /// Environment variables of the process.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A file of the folder to give as standard input.
    #[serde(default)]
    pub stdin: Option<String>,
    /// A signal to send once a log line or screen line holds a text.
    #[serde(default)]
    pub signal: Option<Signal>,
    /// Leave `--quiet` out, so that the header and the progress lines are seen too.
    #[serde(default)]
    pub loud: bool,
    /// Do not ask for the metrics (`--out json`); for commands without them.
    #[serde(default)]
    pub no_metrics: bool,
    /// The order of the log lines is not fixed (several users log at once).
    #[serde(default)]
    pub any_order: bool,
    /// Leave out where errors were thrown: an engine may not know the place for a value that is not an `Error`.
    #[serde(default)]
    pub no_places: bool,
    /// Messages made by the JavaScript engine itself: only the error's class is compared.
    #[serde(default)]
    pub engine_messages: bool,
    /// The text after a failed parse or compilation differs by engine: only that it failed, and
    /// how, is compared. Log lines at error level are cut after their first word.
    #[serde(default)]
    pub parser_messages: bool,
    /// Regular expressions and what replaces their matches in every text, before comparing.
    #[serde(default)]
    pub replace: Vec<(String, String)>,
    /// Files that the run writes, to be compared.
    #[serde(default)]
    pub files: Vec<String>,
    /// Parts not compared: `logs`, `screen`, `metrics`, `exit`, or `metric:NAME`.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Bounds on counters, for runs whose exact count depends on timing: name → [least, most].
    /// With any of them, how many samples there are is not compared.
    #[serde(default)]
    pub ranges: BTreeMap<String, (f64, f64)>,
    /// Why ours differs on purpose, by part as in `ignore`.
    #[serde(default)]
    pub differs: BTreeMap<String, String>,
}

/// A signal and when to send it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// `INT` or `TERM`.
    pub name: String,
    /// Sent when a log line holds this.
    pub after: String,
    /// How many times, a quarter of a second apart; 1 by default.
    #[serde(default = "once")]
    pub times: u32,
}

fn run() -> String {
    "run".to_owned()
}

fn script() -> String {
    "script.js".to_owned()
}

fn once() -> u32 {
    1
}

impl Case {
    /// Longer than any case takes; a run that is still going then is killed.
    pub const LIMIT: Duration = Duration::from_secs(40);

    /// Reads one case's folder.
    pub fn read(folder: &Path) -> Result<Case, String> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let path = folder.join("case.json");
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{name}: case.json: {error}"))?;
        let told =
            serde_json::from_str(&text).map_err(|error| format!("{name}: case.json: {error}"))?;
        Ok(Case {
            name: name.into_owned(),
            folder: folder.to_owned(),
            told,
        })
    }

    /// All cases of a folder, by name; `wanted` chooses those whose name starts with any of it.
    pub fn read_all(root: &Path, wanted: &[String]) -> Result<Vec<Case>, String> {
        let entries = fs::read_dir(root).map_err(|error| format!("{}: {error}", root.display()))?;
        let mut folders: Vec<PathBuf> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.join("case.json").exists())
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                wanted.is_empty() || wanted.iter().any(|start| name.starts_with(start.as_str()))
            })
            .collect();
        folders.sort();
        folders.iter().map(|folder| Case::read(folder)).collect()
    }

    /// Whether a part is left out of the comparison with ours.
    pub fn skips(&self, part: &str) -> bool {
        self.told.ignore.iter().any(|name| name == part) || self.told.differs.contains_key(part)
    }
}
