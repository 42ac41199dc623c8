//! How one case is run.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

/// One case: its name (`area/case`, the path of its folder below `cases/`), and its `case.json`.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub folder: PathBuf,
    pub told: CaseSettings,
}

/// The content of `case.json`; everything but `about` has a default.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseSettings {
    /// One sentence: what the case tests.
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
    /// A file of the folder that the run gets as stdin.
    #[serde(default)]
    pub stdin: Option<String>,
    /// A signal to send once a log line or screen line contains a given text.
    #[serde(default)]
    pub signal: Option<Signal>,
    /// Omit `--quiet`, so that the banner and the progress lines are compared too.
    #[serde(default)]
    pub loud: bool,
    /// Do not request the metrics (`--out json`); for commands that have none.
    #[serde(default)]
    pub no_metrics: bool,
    /// The order of the log lines is not fixed (several users log at once).
    #[serde(default)]
    pub any_order: bool,
    /// Do not compare where errors were thrown: an engine may not know the position for a value
    /// that is not an `Error`.
    #[serde(default)]
    pub no_places: bool,
    /// The messages come from the JavaScript engine: only the error's class is compared.
    #[serde(default)]
    pub engine_messages: bool,
    /// The text of a parse or compile error differs by engine: log lines at error level are cut
    /// after their first word.
    #[serde(default)]
    pub parser_messages: bool,
    /// Regular expressions and their replacements, applied to every text before the comparison.
    #[serde(default)]
    pub replace: Vec<(String, String)>,
    /// The same, applied to the lines and tags that are compared, also to those of the recording: for addresses
    /// in memory and ports that it contains.
    #[serde(default)]
    pub replace_both: Vec<(String, String)>,
    /// Files that the run writes and that are compared.
    #[serde(default)]
    pub files: Vec<String>,
    /// Parts not compared: `logs`, `screen`, `metrics`, `exit`, or `metric:NAME`.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Bounds on counters, for runs whose exact count depends on timing: name → [least, most].
    /// If there are any, the number of samples is not compared.
    #[serde(default)]
    pub ranges: BTreeMap<String, (f64, f64)>,
    /// Reasons for intended differences, by part as in `ignore`. These parts are compared with `plimsoll.json`.
    #[serde(default)]
    pub differs: BTreeMap<String, String>,
}

/// A signal and when to send it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// `INT` or `TERM`.
    pub name: String,
    /// Sent when a log line contains this text.
    pub after: String,
    /// How many times, with a quarter of a second between; 1 by default.
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
    /// Longer than any case takes; a run is killed after this time.
    pub const LIMIT: Duration = Duration::from_secs(40);

    /// Reads one case's folder; `name` is its path below `cases/`.
    fn read(name: &str, folder: &Path) -> Result<Case, String> {
        let path = folder.join("case.json");
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{name}: case.json: {error}"))?;
        let told =
            serde_json::from_str(&text).map_err(|error| format!("{name}: case.json: {error}"))?;
        Ok(Case {
            name: name.to_owned(),
            folder: folder.to_owned(),
            told,
        })
    }

    /// All cases under `root`, in the order of their names. `wanted` selects those whose name
    /// starts with one of its entries; empty selects all.
    ///
    /// # Errors
    /// When a folder cannot be read, a `case.json` is invalid, or a folder of an area is not a
    /// case: nothing in `cases/` may be skipped silently.
    pub fn read_all(root: &Path, wanted: &[String]) -> Result<Vec<Case>, String> {
        let mut cases = Vec::new();
        for area in folders(root)? {
            for case in folders(&root.join(&area))? {
                let name = format!("{area}/{case}");
                if wanted.is_empty() || wanted.iter().any(|start| name.starts_with(start.as_str()))
                {
                    cases.push(Case::read(&name, &root.join(&name))?);
                }
            }
        }
        Ok(cases)
    }

    /// Whether a part is left out of the comparison.
    pub fn ignores(&self, part: &str) -> bool {
        self.told.ignore.iter().any(|name| name == part)
    }

    /// Whether Plimsoll differs from k6 on purpose in a part.
    pub fn differs(&self, part: &str) -> bool {
        self.told.differs.contains_key(part)
    }
}

/// The names of the folders in `parent`, sorted.
fn folders(parent: &Path) -> Result<Vec<String>, String> {
    let unreadable = |error: io::Error| format!("{}: {error}", parent.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(parent).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
