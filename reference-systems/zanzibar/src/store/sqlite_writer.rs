//! The only writer: a thread that takes all waiting changes and commits them together, so that many
//! writers share one disk flush.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params_from_iter};
use tokio::sync::oneshot;

use super::sqlite::{exactly, failure};
use crate::failure::Failure;
use crate::messages::Tuple;
use crate::tuple::fields;

/// Maximum waiting changes.
const QUEUE: usize = 1024;

/// Maximum changes in one commit.
const TOGETHER: usize = 256;

const INSERT: &str = "INSERT INTO tuples \
    (object_type, object_id, object_relation, subject_type, subject_id, subject_relation) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
    ON CONFLICT DO NOTHING";

/// After this time without changes, there is time for maintenance.
const QUIET: Duration = Duration::from_millis(200);

/// A change of the tuples.
pub enum Change {
    Write(Tuple),
    Delete(Tuple),
}

type Outcome = Result<usize, Failure>;

struct Job {
    change: Change,
    done: oneshot::Sender<Outcome>,
}

/// A handle to the thread; when it is dropped, waiting changes are written, and the thread ends.
pub struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(connection: Connection) -> Result<Writer, String> {
        let (jobs, waiting) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || work(connection, &waiting))
            .map_err(|error| format!("cannot start the writer: {error}"))?;
        Ok(Writer {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Makes a change. Returns how many tuples it affected after it is committed.
    pub async fn change(&self, change: Change) -> Outcome {
        let gone = || Failure::Unavailable("the writer has ended".to_owned());
        let (done, outcome) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.try_send(Job { change, done })
            .map_err(|error| match error {
                TrySendError::Full(_) => {
                    Failure::Unavailable(format!("{QUEUE} changes wait already; try again later"))
                }
                TrySendError::Disconnected(_) => gone(),
            })?;
        outcome.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs.take();
        if let Some(thread) = self.thread.take() {
            // If it panicked, it has printed its message.
            let _ = thread.join();
        }
    }
}

fn work(mut connection: Connection, waiting: &Receiver<Job>) {
    let mut behind = false;
    loop {
        let first = match waiting.recv_timeout(QUIET) {
            Ok(first) => first,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                if behind {
                    // Moves the log into the tables, because readers must search the log first. If
                    // a reader blocks it, it is retried later.
                    let _ = connection.execute_batch("PRAGMA wal_checkpoint(PASSIVE)");
                    behind = false;
                }
                continue;
            }
        };
        behind = true;
        let jobs: Vec<Job> = std::iter::once(first)
            .chain(waiting.try_iter().take(TOGETHER - 1))
            .collect();
        let outcomes = together(&mut connection, &jobs);
        for (index, job) in jobs.into_iter().enumerate() {
            let outcome = match &outcomes {
                Ok(touched) => Ok(touched.get(index).copied().unwrap_or(0)),
                Err(failure) => Err(failure.clone()),
            };
            // A client that disconnected gets no message.
            let _ = job.done.send(outcome);
        }
    }
}

fn together(connection: &mut Connection, jobs: &[Job]) -> Result<Vec<usize>, Failure> {
    let mut attempt = || {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let touched = jobs
            .iter()
            .map(|job| match &job.change {
                Change::Write(tuple) => transaction
                    .prepare_cached(INSERT)?
                    .execute(fields(tuple).map(|(_, value)| value)),
                Change::Delete(tuple) => {
                    let (condition, values) = exactly(tuple);
                    transaction
                        .prepare_cached(&format!("DELETE FROM tuples WHERE {condition}"))?
                        .execute(params_from_iter(values))
                }
            })
            .collect::<rusqlite::Result<Vec<usize>>>()?;
        transaction.commit()?;
        Ok(touched)
    };
    attempt().map_err(failure)
}
