//! Selects the target of an iteration.

use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_engine::{AbortReason, RunState};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};

use crate::list::List;
use crate::target::{ListError, Target};

/// The number of targets to read ahead.
const AHEAD: usize = 1_024;

/// The targets of an attack.
#[derive(Clone, Debug)]
pub enum Aim {
    /// Cycle through the targets in the order of iterations.
    Cycle(Arc<[Target]>),
    /// Read targets during the attack. It ends after the last target.
    Stream(Arc<Stream>),
}

/// Targets that a thread reads ahead of the attack.
#[derive(Debug)]
pub struct Stream {
    targets: Mutex<Receiver<Result<Target, ListError>>>,
    /// The number of iterations that wait for a target or for its response.
    busy: AtomicU64,
    over: std::sync::OnceLock<Option<ListError>>,
}

impl Stream {
    /// Starts the thread that reads the targets.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn read(mut list: List<impl BufRead + Send + 'static>) -> Result<Stream, String> {
        let (sender, targets) = channel(AHEAD);
        std::thread::Builder::new()
            .name("targets".to_owned())
            .spawn(move || {
                while let Some(target) = list.read_next().transpose() {
                    let last = target.is_err();
                    // The receiver is gone because the attack has ended.
                    if sender.blocking_send(target).is_err() || last {
                        return;
                    }
                }
            })
            .map_err(|error| format!("cannot start a thread for targets: {error}"))?;
        Ok(Stream {
            targets: Mutex::new(targets),
            busy: AtomicU64::new(0),
            over: std::sync::OnceLock::new(),
        })
    }

    /// How the list ended, if it has: without an error, or with one.
    pub fn ended(&self) -> Option<Option<&ListError>> {
        self.over.get().map(Option::as_ref)
    }

    /// The next target. If no target is left, the run ends as soon as no other iteration is running.
    pub(crate) async fn next(self: &Arc<Self>, run: &Arc<RunState>) -> Option<(Target, Busy)> {
        self.busy.fetch_add(1, Ordering::AcqRel);
        let busy = Busy {
            stream: Arc::clone(self),
            run: Arc::clone(run),
        };
        if self.over.get().is_some() {
            return None;
        }
        match self.targets.lock().await.recv().await {
            Some(Ok(target)) => Some((target, busy)),
            Some(Err(error)) => {
                let _ = self.over.set(Some(error));
                None
            }
            None => {
                let _ = self.over.set(None);
                None
            }
        }
    }
}

/// An iteration that is running with a target from a stream.
pub(crate) struct Busy {
    stream: Arc<Stream>,
    run: Arc<RunState>,
}

impl Drop for Busy {
    fn drop(&mut self) {
        let last = self.stream.busy.fetch_sub(1, Ordering::AcqRel) == 1;
        if last && self.stream.over.get().is_some() {
            self.run.abort(AbortReason::Failed(ALL_SENT.to_owned()));
        }
    }
}

/// Why a run ends after all of its targets were sent.
pub const ALL_SENT: &str = "all targets were sent";
