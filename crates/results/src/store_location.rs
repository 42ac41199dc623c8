//! The location of the run store, and how to open it.

use std::path::{Path, PathBuf};

use crate::figures::Figure;
use crate::store::{Store, StoredRun};

/// The location of the store: the given one, or `plimsoll/runs.sqlite` in the user's data directory
/// (XDG Base Directory Specification).
///
/// # Errors
/// Returns an error if no data directory is known.
pub fn place(given: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = given.filter(|path| !path.as_os_str().is_empty()) {
        return Ok(path.to_owned());
    }
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_DATA_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/share")))
        .map(|data| data.join("plimsoll/runs.sqlite"))
        .ok_or_else(|| {
            "neither XDG_DATA_HOME nor HOME is set: name a file for runs with --store".to_owned()
        })
}

/// Opens the store, and creates it if necessary.
///
/// # Errors
/// Returns a message with a fix if the store is unusable.
pub fn open(path: &Path) -> Result<Store, String> {
    Store::open(path).map_err(|error| failed(path, &error))
}

/// Opens a store that must already exist.
///
/// # Errors
/// Returns a message with a fix if the store is unusable.
pub fn open_existing(path: &Path) -> Result<Store, String> {
    Store::open_existing(path).map_err(|error| match error {
        crate::store::StoreError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
            format!(
                "there is no store {}: create one with plimsoll http --keep or run --keep, or name another with --store",
                path.display()
            )
        }
        error => failed(path, &error),
    })
}

/// Whether the history includes the metrics of a run. It excludes invalid runs, and killed runs
/// because they are shorter than the others.
pub fn is_followed(run: &StoredRun) -> bool {
    !matches!(run.verdict.as_str(), "invalid" | "killed")
}

/// The value of a metric in a run, if the run has it.
pub fn figure(run: &StoredRun, figure: &Figure) -> Option<f64> {
    let found = run.figures.iter().find(|(name, _)| name == figure.name);
    found.map(|(_, value)| *value)
}

/// The temporary file next to the store for the record of a run that has not ended yet.
pub fn passing(store: &Path) -> PathBuf {
    store.with_extension(format!("{}.{PASSING}", std::process::id()))
}

/// The suffix of the names of temporary records.
const PASSING: &str = "jsonl";

/// Stores the records that killed runs left next to the store. A run that has not ended holds a
/// lock on its record, so its record is skipped. Returns a sentence for each record.
pub fn recover(path: &Path, store: &mut Store) -> Vec<String> {
    let mut sentences = Vec::new();
    for orphan in orphans(path) {
        let taken = std::fs::read(&orphan)
            .map_err(|error| error.to_string())
            .and_then(|bytes| store.keep(&bytes).map_err(|error| error.to_string()));
        match taken {
            Ok(number) => {
                let _ = std::fs::remove_file(&orphan);
                sentences.push(format!(
                    "stored the record of a killed run, {}, as run {number}",
                    orphan.display()
                ));
            }
            Err(error) => sentences.push(format!(
                "{} is the record of a killed run and cannot be stored: {error}; remove it",
                orphan.display()
            )),
        }
    }
    sentences
}

/// Temporary records that no process has locked.
fn orphans(store: &Path) -> Vec<PathBuf> {
    let folder = store.parent().filter(|folder| *folder != Path::new(""));
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return Vec::new();
    };
    let stem = store.file_stem().unwrap_or_default().to_string_lossy();
    let is_passing = |name: &str| {
        name.strip_prefix(&*stem)
            .and_then(|rest| rest.strip_prefix('.'))
            .and_then(|rest| rest.strip_suffix(PASSING))
            .and_then(|rest| rest.strip_suffix('.'))
            .is_some_and(|number| number.parse::<u32>().is_ok())
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_passing))
        .map(|entry| entry.path())
        .filter(|path| std::fs::File::open(path).is_ok_and(|file| file.try_lock().is_ok()))
        .collect()
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!(
        "the store {}: {error}; name another file with --store",
        path.display()
    )
}
