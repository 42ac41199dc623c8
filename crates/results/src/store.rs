//! The run store: a single SQLite file.

use std::fmt;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::time::Duration;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::figures::{FIGURES, RunFigures};
use crate::record::{self, ReadError, Record};

/// The version of the database layout, stored in SQLite's `user_version`.
const VERSION: i64 = 1;
/// How long to wait while another program writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// A run store.
#[derive(Debug)]
pub struct Store(Connection);

/// A stored run, as shown in lists.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// The number of the run.
    pub id: i64,
    /// When the run started, in RFC 3339.
    pub started: String,
    /// The command's name.
    pub kind: String,
    /// The command line.
    pub command: String,
    pub configuration_hash: String,
    pub fingerprint: String,
    /// `valid`, `suspect` or `invalid`, or `killed` if the record of the run has no end.
    pub verdict: String,
    /// The available metrics, by name.
    pub figures: Vec<(String, f64)>,
}

/// Why an operation on the store failed.
#[derive(Debug)]
pub enum StoreError {
    /// SQLite returned an error.
    Sqlite(rusqlite::Error),
    /// A directory could not be created, or a file could not be read.
    Io(std::io::Error),
    /// The file belongs to another program, or to a later version of this one.
    Version(i64),
    /// The run does not exist.
    NoRun(String),
    /// The file is not a record.
    Record(ReadError),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Sqlite(error) => write!(f, "{error}"),
            StoreError::Io(error) => write!(f, "{error}"),
            StoreError::Version(version) => write!(
                f,
                "it has layout {version}, but this program knows {VERSION}: use a newer program, or another file"
            ),
            StoreError::NoRun(name) => {
                write!(
                    f,
                    "there is no run {name} in it; plimsoll history lists them"
                )
            }
            StoreError::Record(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::Sqlite(error)
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        StoreError::Io(error)
    }
}

impl From<ReadError> for StoreError {
    fn from(error: ReadError) -> Self {
        StoreError::Record(error)
    }
}

impl Store {
    /// Opens the store, and creates it if necessary.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            std::fs::create_dir_all(folder)?;
        }
        Store::with(Connection::open(path)?)
    }

    /// Opens a store that must already exist.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open_existing(path: &Path) -> Result<Store, StoreError> {
        std::fs::metadata(path)?;
        Store::open(path)
    }

    fn with(connection: Connection) -> Result<Store, StoreError> {
        connection.busy_timeout(PATIENCE)?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        match version {
            VERSION => {}
            0 => connection.execute_batch(&format!(
                "BEGIN IMMEDIATE;
                 CREATE TABLE IF NOT EXISTS runs (
                   id INTEGER PRIMARY KEY AUTOINCREMENT,
                   started TEXT NOT NULL, kind TEXT NOT NULL, command TEXT NOT NULL,
                   configuration_hash TEXT NOT NULL, fingerprint TEXT NOT NULL,
                   verdict TEXT NOT NULL, figures TEXT NOT NULL, record BLOB NOT NULL);
                 CREATE INDEX IF NOT EXISTS runs_by_question ON runs (configuration_hash, fingerprint, id);
                 PRAGMA user_version = {VERSION};
                 COMMIT;"
            ))?,
            other => return Err(StoreError::Version(other)),
        }
        Ok(Store(connection))
    }

    /// Stores a run from the bytes of its record, and returns its number.
    ///
    /// # Errors
    /// See [`StoreError`]. A file that is not a record is not stored.
    pub fn keep(&mut self, bytes: &[u8]) -> Result<i64, StoreError> {
        let record = record::read(bytes)?;
        let figures = figures(&record);
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes)?;
        let packed = packed.finish()?;
        let header = &record.header;
        self.0.execute(
            "INSERT INTO runs (started, kind, command, configuration_hash, fingerprint, verdict, figures, record)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                header.started,
                header.kind,
                header.command.join(" "),
                header.configuration_hash,
                header.environment.fingerprint,
                record.end.as_ref().map_or("killed", |end| end.generator.verdict.as_str()),
                serde_json::to_string(&figures).unwrap_or_default(),
                packed,
            ],
        )?;
        Ok(self.0.last_insert_rowid())
    }

    /// The record of a run.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn record(&self, id: i64) -> Result<Record, StoreError> {
        let packed: Option<Vec<u8>> = self
            .0
            .query_row("SELECT record FROM runs WHERE id = ?1", [id], |row| {
                row.get(0)
            })
            .optional()?;
        let packed = packed.ok_or_else(|| StoreError::NoRun(id.to_string()))?;
        // The reader limits the decompressed size.
        Ok(record::read(BufReader::new(
            DeflateDecoder::new(packed.as_slice()).by_ref(),
        ))?)
    }

    /// Resolves the name of a run: a number, `latest`, or `latest~2` for two runs before the latest.
    ///
    /// # Errors
    /// Returns [`StoreError::NoRun`] if the run does not exist.
    pub fn resolve(&self, name: &str) -> Result<i64, StoreError> {
        let no_run = || StoreError::NoRun(name.to_owned());
        if let Ok(id) = name.parse::<i64>() {
            return Ok(id);
        }
        let back: i64 = match name.strip_prefix("latest") {
            Some("") => 0,
            Some(rest) => rest
                .strip_prefix('~')
                .and_then(|back| back.parse().ok())
                .filter(|back| *back >= 0)
                .ok_or_else(no_run)?,
            None => return Err(no_run()),
        };
        self.0
            .query_row(
                "SELECT id FROM runs ORDER BY id DESC LIMIT 1 OFFSET ?1",
                [back],
                |row| row.get(0),
            )
            .optional()?
            .ok_or_else(no_run)
    }

    /// The runs whose configuration hash starts with this prefix, the oldest first.
    ///
    /// # Errors
    /// Returns errors of SQLite.
    pub fn runs(&self, configuration: &str) -> Result<Vec<StoredRun>, StoreError> {
        let mut statement = self.0.prepare(
            "SELECT id, started, kind, command, configuration_hash, fingerprint, verdict, figures
             FROM runs WHERE substr(configuration_hash, 1, length(?1)) = ?1 ORDER BY id",
        )?;
        let runs = statement.query_map([configuration], stored_run)?;
        Ok(runs.collect::<Result<_, _>>()?)
    }
}

fn stored_run(row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    let figures: String = row.get(7)?;
    Ok(StoredRun {
        id: row.get(0)?,
        started: row.get(1)?,
        kind: row.get(2)?,
        command: row.get(3)?,
        configuration_hash: row.get(4)?,
        fingerprint: row.get(5)?,
        verdict: row.get(6)?,
        figures: serde_json::from_str(&figures).unwrap_or_default(),
    })
}

fn figures(record: &Record) -> Vec<(String, f64)> {
    let Ok(run) = RunFigures::of(record, 0) else {
        return Vec::new();
    };
    FIGURES
        .iter()
        .filter_map(|figure| Some((figure.name.to_owned(), run.value(figure)?)))
        .collect()
}
