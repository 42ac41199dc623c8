//! Sends requests to a receiver, on a separate thread.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use plimsoll_output::output::OutputError;

use crate::connection::Connection;
use crate::endpoint::Endpoint;

/// Maximum number of requests that wait to be sent. Further requests are refused.
const MAX_WAITING: usize = 8;
/// Pauses before each repetition of a failed request. After the last one, the request counts as failed.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];
/// How long the end of a run waits for unsent requests. A request that has begun may take longer.
const END: Duration = Duration::from_secs(10);

/// A request that waits to be sent.
pub struct Push {
    pub body: Vec<u8>,
    /// The number of samples that it contains; 0 for cumulative values.
    pub samples: u64,
}

/// Counts of requests.
#[derive(Debug, Default)]
pub struct Account {
    /// Requests that the receiver accepted.
    pub accepted: AtomicU64,
    /// Requests that failed, including all repetitions.
    pub failed: AtomicU64,
    /// Samples that were not delivered.
    pub lost: AtomicU64,
    /// Whether the latest request failed.
    pub last_failed: AtomicBool,
    /// The latest reason for a failed request.
    reason: Mutex<String>,
}

impl Account {
    fn fail(&self, push: &Push, reason: String) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.lost.fetch_add(push.samples, Ordering::Relaxed);
        self.last_failed.store(true, Ordering::Relaxed);
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// The latest reason for a failure.
    pub fn reason(&self) -> String {
        let reason = self.reason.lock();
        reason.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A queue of requests to a receiver.
pub struct Sender {
    queue: Option<SyncSender<Push>>,
    /// Returns the waiting requests when the run ends.
    thread: Option<JoinHandle<Receiver<Push>>>,
    shared: Arc<Shared>,
}

struct Shared {
    endpoint: Endpoint,
    account: Account,
    /// When to give up. Set at the end of the run.
    end: OnceLock<Instant>,
}

impl Sender {
    /// Starts the thread. `first` is sent before everything else, to its own endpoint. Its failure is not counted.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn start(endpoint: Endpoint, first: Option<Endpoint>) -> Result<Sender, String> {
        let (queue, waiting) = sync_channel(MAX_WAITING);
        let shared = Arc::new(Shared {
            endpoint,
            account: Account::default(),
            end: OnceLock::new(),
        });
        let sending = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("exporter".to_owned())
            .spawn(move || {
                plimsoll_machine::run_in_background();
                let during_run = std::iter::from_fn(|| match sending.end.get() {
                    None => waiting.recv().ok(),
                    Some(_) => None,
                });
                sending.send_all(first.as_ref(), during_run);
                waiting
            })
            .map_err(|error| format!("could not start a thread for an output: {error}"))?;
        Ok(Sender {
            queue: Some(queue),
            thread: Some(thread),
            shared,
        })
    }

    /// The current counts of requests.
    pub fn account(&self) -> &Account {
        &self.shared.account
    }

    /// Accepts a request without waiting. Returns the request if too many others are waiting.
    pub fn offer(&self, push: Push) -> Result<(), Push> {
        let Some(queue) = &self.queue else {
            return Err(push);
        };
        queue.try_send(push).map_err(|refused| match refused {
            TrySendError::Full(push) | TrySendError::Disconnected(push) => push,
        })
    }

    /// Sends the remaining requests on this thread, for a limited time. The other thread has the lowest priority, and
    /// no load is left that sending could delay.
    pub fn finish(&mut self, last: impl IntoIterator<Item = Push>) {
        let Some(queue) = self.queue.take() else {
            return;
        };
        self.shared.end.get_or_init(|| Instant::now() + END);
        drop(queue);
        let mut left = Vec::new();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(waiting)) => left.extend(waiting),
            Some(Err(_)) => {
                let push = Push {
                    body: Vec::new(),
                    samples: 0,
                };
                let reason = "its thread panicked".to_owned();
                self.shared.account.fail(&push, reason);
            }
            None => {}
        }
        left.extend(last);
        if !left.is_empty() {
            self.shared.send_all(None, left);
        }
    }
}

/// The error for the end of a run, in the words of the output.
pub fn ended(name: &str, text: String) -> OutputError {
    OutputError {
        output: name.to_owned(),
        source: io::Error::other(text),
    }
}

impl Shared {
    fn send_all(&self, first: Option<&Endpoint>, pushes: impl IntoIterator<Item = Push>) {
        let connection = match Connection::new(&self.endpoint) {
            Ok(connection) => connection,
            Err(error) => {
                for push in pushes {
                    self.account.fail(&push, error.clone());
                }
                return;
            }
        };
        if let Some(first) = first {
            // Later requests show whether the receiver works.
            let _ = connection.send(first, Bytes::new());
        }
        for push in pushes {
            self.send(&connection, &push);
        }
    }

    /// Sends one request. Repeats it if that can help.
    fn send(&self, connection: &Connection, push: &Push) {
        let body = Bytes::copy_from_slice(&push.body);
        let (mut pauses, mut reason) = (PAUSES.iter(), None);
        let outcome = loop {
            if self.end.get().is_some_and(|end| Instant::now() > *end) {
                break Err(reason.unwrap_or_else(|| "it was too slow".to_owned()));
            }
            match connection.send(&self.endpoint, body.clone()) {
                Err(refusal) => match pauses.next() {
                    Some(pause) if !refusal.is_final => {
                        reason = Some(refusal.reason);
                        std::thread::sleep(*pause);
                    }
                    _ => break Err(refusal.reason),
                },
                Ok(()) => break Ok(()),
            }
        };
        match outcome {
            Ok(()) => {
                self.account.accepted.fetch_add(1, Ordering::Relaxed);
                self.account.last_failed.store(false, Ordering::Relaxed);
            }
            Err(reason) => self.account.fail(push, reason),
        }
    }
}
