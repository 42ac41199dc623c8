//! The one writer: a thread that takes what waits, and commits it together, so that many
//! writers share the wait for the disk.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params_from_iter};
use tokio::sync::oneshot;

use super::sqlite::{exactly, failure};
use crate::failure::Failure;
use crate::messages::Tuple;
use crate::tuple::fields;

/// Changes that may wait, at most.
const QUEUE: usize = 1024;

/// Changes committed together, at most.
const TOGETHER: usize = 256;

const INSERT: &str = "INSERT INTO tuples \
    (object_type, object_id, object_relation, subject_type, subject_id, subject_relation) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
    ON CONFLICT DO NOTHING";

/// Without changes for so long, there is time to tidy up.
const QUIET: Duration = Duration::from_millis(200);

/// What to change.
pub enum Change {
    Write(Tuple),
    Delete(Tuple),
}

type Outcome = Result<usize, Failure>;

struct Job {
    change: Change,
    done: oneshot::Sender<Outcome>,
}

/// A handle to the thread; when it is dropped, what waits is written, and the thread ends.
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

    /// Makes a change, and returns how many tuples it touched once that is committed.
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
            // If it panicked, it has said so.
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
                    // What the log holds goes into the tables, since readers must look
                    // into the log first. If one is in the way, there is a next time.
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
