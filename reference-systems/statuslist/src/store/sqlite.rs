//! Lists in one SQLite file. One thread owns the connection. It combines waiting operations in one
//! transaction, so that one disk flush serves many, and responds once the transaction is durable
//! (write-ahead log, `synchronous = FULL`).

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OptionalExtension, TransactionBehavior, params};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{Block, Facts, Failure, NewList, Outcome};
use crate::pools::Shape;
use crate::shuffle::Seed;
use crate::status::Width;

/// Maximum operations that wait for the thread.
const QUEUE: usize = 8192;

/// Maximum operations in one transaction.
const TOGETHER: usize = 512;

/// Time limit for another process that holds the file.
const BUSY: Duration = Duration::from_secs(5);

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS lists (
    ordinal INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    pool TEXT NOT NULL,
    size INTEGER NOT NULL,
    bits INTEGER NOT NULL,
    seed BLOB NOT NULL,
    reserved INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS lists_with_room ON lists (pool, size, bits, ordinal)
    WHERE reserved < size;
-- Separate from the lists, so that reserving does not rewrite statuses.
CREATE TABLE IF NOT EXISTS statuses (
    ordinal INTEGER PRIMARY KEY REFERENCES lists (ordinal),
    statuses BLOB NOT NULL
) STRICT;
";

/// Does its work, unless there is no transaction, and returns a function that notifies the caller
/// once the transaction has ended.
type Job = Box<dyn FnOnce(Result<&Connection, String>) -> Done + Send>;

struct Done {
    failed: Option<String>,
    tell: Box<dyn FnOnce(Result<(), String>) + Send>,
}

pub struct Sqlite {
    jobs: mpsc::Sender<Job>,
}

impl Sqlite {
    pub fn open(file: &Path) -> Result<Sqlite, String> {
        let connection = prepare(file).map_err(|error| error.to_string())?;
        let (jobs, queue) = mpsc::channel(QUEUE);
        std::thread::Builder::new()
            .name("sqlite".to_owned())
            .spawn(move || work(connection, queue))
            .map_err(|error| format!("cannot start its thread: {error}"))?;
        Ok(Sqlite { jobs })
    }

    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Outcome<T> {
        let (tell, message) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let outcome = connection
                .and_then(|connection| work(connection).map_err(|error| error.to_string()));
            let failed = outcome.as_ref().err().cloned();
            let tell = move |ended: Result<(), String>| {
                // The caller may be gone.
                let _ = tell.send(ended.and(outcome));
            };
            Done {
                failed,
                tell: Box::new(tell),
            }
        });
        self.jobs.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Failure::Overloaded,
            mpsc::error::TrySendError::Closed(_) => store_stopped(),
        })?;
        message
            .await
            .map_err(|_| store_stopped())?
            .map_err(Failure::Unavailable)
    }

    pub async fn create(&self, list: &NewList) -> Outcome<()> {
        let list = list.clone();
        self.call(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO lists (id, pool, size, bits, seed) VALUES (?, ?, ?, ?, ?)",
                )?
                .execute(params![
                    list.id.as_bytes(),
                    list.pool,
                    list.shape.size,
                    list.shape.width.bits(),
                    list.seed.0
                ])?;
            let bytes = list.shape.width.bytes_for(list.shape.size);
            connection
                .prepare_cached("INSERT INTO statuses (ordinal, statuses) VALUES (?, zeroblob(?))")?
                .execute(params![connection.last_insert_rowid(), bytes as i64])?;
            Ok(())
        })
        .await
    }

    pub async fn reserve(&self, pool: &str, shape: Shape, want: u32) -> Outcome<Option<Block>> {
        let pool = pool.to_owned();
        self.call(move |connection| {
            let found = connection
                .prepare_cached(
                    "SELECT ordinal, id, seed, reserved FROM lists
                     WHERE pool = ? AND size = ? AND bits = ? AND reserved < size
                     ORDER BY ordinal LIMIT 1",
                )?
                .query_row(params![pool, shape.size, shape.width.bits()], |row| {
                    Ok((
                        row.get::<_, i64>(0)?,
                        Uuid::from_bytes(row.get(1)?),
                        Seed(row.get(2)?),
                        row.get::<_, u32>(3)?,
                    ))
                })
                .optional()?;
            let Some((ordinal, list, seed, start)) = found else {
                return Ok(None);
            };
            let count = want.min(shape.size.saturating_sub(start));
            connection
                .prepare_cached("UPDATE lists SET reserved = ? WHERE ordinal = ?")?
                .execute(params![start + count, ordinal])?;
            Ok(Some(Block {
                list,
                seed,
                start,
                count,
            }))
        })
        .await
    }

    pub async fn untouched(&self, pool: &str, shape: Shape) -> Outcome<u32> {
        let pool = pool.to_owned();
        self.call(move |connection| {
            connection
                .prepare_cached(
                    "SELECT count(*) FROM lists
                     WHERE pool = ? AND size = ? AND bits = ? AND reserved < size AND reserved = 0",
                )?
                .query_row(params![pool, shape.size, shape.width.bits()], |row| {
                    row.get(0)
                })
        })
        .await
    }

    pub async fn facts(&self, list: Uuid) -> Outcome<Option<Facts>> {
        self.call(move |connection| {
            connection
                .prepare_cached("SELECT pool, size, bits FROM lists WHERE id = ?")?
                .query_row(params![list.as_bytes()], |row| {
                    let bits: u8 = row.get(2)?;
                    let width = Width::try_from(bits)
                        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(2, bits.into()))?;
                    Ok(Facts {
                        pool: row.get(0)?,
                        shape: Shape {
                            size: row.get(1)?,
                            width,
                        },
                    })
                })
                .optional()
        })
        .await
    }

    pub async fn set(&self, list: Uuid, shape: Shape, index: u32, value: u8) -> Outcome<bool> {
        let place = shape.width.place(index);
        self.call(move |connection| {
            let Some(ordinal) = ordinal(connection, list)? else {
                return Ok(false);
            };
            // Only the page with the byte is written, not the whole list.
            let mut blob = connection.blob_open(MAIN_DB, "statuses", "statuses", ordinal, false)?;
            let mut byte = [0];
            blob.read_at_exact(&mut byte, place.byte as usize)?;
            let [before] = byte;
            blob.write_at(&[place.set(before, value)], place.byte as usize)?;
            Ok(true)
        })
        .await
    }

    pub async fn statuses(&self, list: Uuid) -> Outcome<Option<Vec<u8>>> {
        self.call(move |connection| {
            connection
                .prepare_cached(
                    "SELECT statuses FROM statuses JOIN lists USING (ordinal) WHERE id = ?",
                )?
                .query_row(params![list.as_bytes()], |row| row.get(0))
                .optional()
        })
        .await
    }

    pub async fn issued(&self, pool: &str, most: u32) -> Outcome<Vec<Uuid>> {
        let pool = pool.to_owned();
        self.call(move |connection| {
            connection
                .prepare_cached(
                    "SELECT id FROM lists WHERE pool = ? AND reserved > 0 ORDER BY ordinal LIMIT ?",
                )?
                .query_map(params![pool, most], |row| Ok(Uuid::from_bytes(row.get(0)?)))?
                .collect()
        })
        .await
    }

    pub async fn reachable(&self) -> Outcome<()> {
        self.call(|connection| connection.query_row("SELECT 1", [], |_| Ok(())))
            .await
    }
}

fn store_stopped() -> Failure {
    Failure::Unavailable("the thread of the store has ended".to_owned())
}

fn prepare(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit returns once the log is on disk (sqlite.org, "PRAGMA synchronous").
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", "ON")?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

fn ordinal(connection: &Connection, list: Uuid) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT ordinal FROM lists WHERE id = ?")?
        .query_row(params![list.as_bytes()], |row| row.get(0))
        .optional()
}

/// Runs jobs on the store's thread until every sender is dropped.
fn work(mut connection: Connection, mut queue: mpsc::Receiver<Job>) {
    let mut done = Vec::with_capacity(TOGETHER);
    while let Some(first) = queue.blocking_recv() {
        let ended = transact(&mut connection, &mut queue, first, &mut done);
        for Done { tell, .. } in done.drain(..) {
            tell(ended.clone());
        }
    }
}

/// Runs `first` and all waiting operations in one transaction. If anything fails, all of it is
/// rolled back, and all callers get the error.
fn transact(
    connection: &mut Connection,
    queue: &mut mpsc::Receiver<Job>,
    first: Job,
    done: &mut Vec<Done>,
) -> Result<(), String> {
    let transaction = match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => transaction,
        Err(error) => {
            let reason = error.to_string();
            done.push(first(Err(reason.clone())));
            return Err(reason);
        }
    };
    let mut next = Some(first);
    while let Some(job) = next {
        done.push(job(Ok(&transaction)));
        if done.len() >= TOGETHER || done.last().is_some_and(|done| done.failed.is_some()) {
            break;
        }
        next = queue.try_recv().ok();
    }
    match done.last().and_then(|done| done.failed.clone()) {
        None => transaction.commit().map_err(|error| error.to_string()),
        // Dropping the transaction rolls it back.
        Some(reason) => Err(reason),
    }
}
