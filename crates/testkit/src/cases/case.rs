//! The definition of a case: how it is run and compared.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

/// One case: its name (`area/case`, the path of its directory below `cases/`) and its `case.json`.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub folder: PathBuf,
    pub settings: CaseSettings,
}

/// The contents of `case.json`. Every key except `about` has a default.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseSettings {
    /// What the case tests, in one sentence.
    pub about: String,
    /// The subcommand; `run` by default.
    #[serde(default = "run")]
    pub command: String,
    /// Arguments between the subcommand and the script.
    #[serde(default)]
    pub flags: Vec<String>,
    /// The script's file name; empty for a command without a script.
    #[serde(default = "script")]
    pub script: String,
    /// Environment variables of the process.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A file of the directory that is passed to the run as stdin.
    #[serde(default)]
    pub stdin: Option<String>,
    /// A signal to send when a log line or screen line contains a given string.
    #[serde(default)]
    pub signal: Option<Signal>,
    /// Omit `--quiet`, so the banner and the progress lines are also compared.
    #[serde(default)]
    pub loud: bool,
    /// Do not request the metrics (`--out json`). For commands without metrics.
    #[serde(default)]
    pub no_metrics: bool,
    /// The order of the log lines is not fixed, because several users log at the same time.
    #[serde(default)]
    pub any_order: bool,
    /// Do not compare where errors were thrown: an engine may not know the position for a value that is
    /// not an `Error`.
    #[serde(default)]
    pub no_places: bool,
    /// The messages come from the JavaScript engine, so only the class of the error is compared.
    #[serde(default)]
    pub engine_messages: bool,
    /// The message of a parse or compile error differs between engines: log lines at error level are
    /// truncated after their first word.
    #[serde(default)]
    pub parser_messages: bool,
    /// Regular expressions and their replacements, which are applied to every text before the
    /// comparison.
    #[serde(default)]
    pub replace: Vec<(String, String)>,
    /// The same for the lines and tags that are compared, including those of the recording: for memory
    /// addresses and ports that it contains.
    #[serde(default)]
    pub replace_both: Vec<(String, String)>,
    /// Files that the run writes. They are compared, too.
    #[serde(default)]
    pub files: Vec<String>,
    /// Parts not compared: `logs`, `screen`, `metrics`, `exit`, or `metric:NAME`.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Bounds on counters, for runs whose exact count depends on timing: name → [min, max]. If there
    /// are any, the number of samples is not compared.
    #[serde(default)]
    pub ranges: BTreeMap<String, (f64, f64)>,
    /// Reasons for intended differences, by part as in `ignore`. These parts are compared with
    /// `plimsoll.json`.
    #[serde(default)]
    pub differs: BTreeMap<String, String>,
}

/// A signal and when to send it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// `INT` or `TERM`.
    pub name: String,
    /// Send the signal when a log line contains this string.
    pub after: String,
    /// How many times to send it, a quarter of a second apart; 1 by default.
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
    /// Time limit after which a run is killed. Longer than any case takes.
    pub const LIMIT: Duration = Duration::from_secs(40);

    /// Reads the directory of one case. `name` is its path below `cases/`.
    fn read(name: &str, folder: &Path) -> Result<Case, String> {
        let path = folder.join("case.json");
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{name}: case.json: {error}"))?;
        let settings =
            serde_json::from_str(&text).map_err(|error| format!("{name}: case.json: {error}"))?;
        Ok(Case {
            name: name.to_owned(),
            folder: folder.to_owned(),
            settings,
        })
    }

    /// All cases under `root`, sorted by name. `wanted` selects those whose name starts with one of its
    /// entries. If it is empty, all are selected.
    ///
    /// # Errors
    /// If a directory cannot be read, a `case.json` is invalid, or a directory of an area is not a
    /// case. Nothing in `cases/` may be skipped silently.
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

    /// Whether a part is excluded from the comparison.
    pub fn ignores(&self, part: &str) -> bool {
        self.settings.ignore.iter().any(|name| name == part)
    }

    /// Whether Plimsoll intentionally differs from k6 in a part.
    pub fn differs(&self, part: &str) -> bool {
        self.settings.differs.contains_key(part)
    }
}

/// The sorted names of the directories in `parent`.
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
