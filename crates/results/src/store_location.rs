//! The store of runs: where it is, and opening it.

use std::path::{Path, PathBuf};

use crate::figures::Figure;
use crate::store::{Store, StoredRun};

/// The location of the store: as given, else `plimsoll/runs.sqlite` below the user's folder for
/// data (XDG Base Directory Specification).
///
/// # Errors
/// When there is no such folder.
pub fn place(asked: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = asked.filter(|path| !path.as_os_str().is_empty()) {
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

/// Opens the store, and makes it where it is not there yet.
///
/// # Errors
/// If it is unusable; the message says how to fix it.
pub fn open(path: &Path) -> Result<Store, String> {
    Store::open(path).map_err(|error| failed(path, &error))
}

/// Opens a store that must be there.
///
/// # Errors
/// If it is unusable; the message says how to fix it.
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

/// Whether a run's figures are those of its question: not where the run is invalid, or was
/// killed and is of another length than the others.
pub fn is_followed(run: &StoredRun) -> bool {
    !matches!(run.verdict.as_str(), "invalid" | "killed")
}

/// A figure of a run, if it has it.
pub fn figure(run: &StoredRun, figure: &Figure) -> Option<f64> {
    let found = run.figures.iter().find(|(name, _)| name == figure.name);
    found.map(|(_, value)| *value)
}

/// The file, next to the store, for the record of a run that is to be kept and is not over.
pub fn passing(store: &Path) -> PathBuf {
    store.with_extension(format!("{}.{PASSING}", std::process::id()))
}

/// The suffix of the names of temporary records.
const PASSING: &str = "jsonl";

/// Keeps the records that killed runs left next to the store. A run that is not over holds its
/// record locked, whatever process it is. Returns a sentence for each.
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

/// Passing records that no process holds.
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
