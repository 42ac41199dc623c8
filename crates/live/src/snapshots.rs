//! The figures of a run on request. The supervisor's thread computes them when a request waits for them.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use plimsoll_run::{Event, Progress};
use plimsoll_samples::Summary;

/// The figures of a run at one moment.
pub struct Snapshot {
    pub summary: Summary,
    /// Whether a threshold is crossed.
    pub is_tainted: bool,
}

/// The requests that wait for figures.
#[derive(Default)]
pub struct Snapshots {
    waiting: Mutex<Vec<SyncSender<Arc<Snapshot>>>>,
    /// The figures at the end of the run.
    last: Mutex<Option<Arc<Snapshot>>>,
}

/// How long a request waits for the figures. They are computed every 100 ms.
const TIMEOUT: Duration = Duration::from_secs(5);

impl Snapshots {
    /// Computes the figures if a request waits for them. Call this for every event of the run.
    pub fn event(&self, event: Event<'_>) {
        match event {
            Event::Progress(progress) => {
                let waiting = self.take_waiting();
                if !waiting.is_empty() {
                    send(waiting, &Arc::new(Snapshot::of(progress)));
                }
            }
            Event::Done(progress) => {
                let snapshot = Arc::new(Snapshot::of(progress));
                *self.last() = Some(Arc::clone(&snapshot));
                send(self.take_waiting(), &snapshot);
            }
            _ => {}
        }
    }

    /// The figures of the run, now or at its end. `None` if they are not computed in time.
    pub fn take(&self) -> Option<Arc<Snapshot>> {
        let (sender, receiver): (_, Receiver<Arc<Snapshot>>) = sync_channel(1);
        self.waiting().push(sender);
        // After the end, no thread computes figures.
        let last = self.last().clone();
        last.or_else(|| receiver.recv_timeout(TIMEOUT).ok())
    }

    fn take_waiting(&self) -> Vec<SyncSender<Arc<Snapshot>>> {
        std::mem::take(&mut *self.waiting())
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<SyncSender<Arc<Snapshot>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last(&self) -> MutexGuard<'_, Option<Arc<Snapshot>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn send(waiting: Vec<SyncSender<Arc<Snapshot>>>, snapshot: &Arc<Snapshot>) {
    for sender in waiting {
        // The request may have timed out.
        let _ = sender.try_send(Arc::clone(snapshot));
    }
}

impl Snapshot {
    fn of(progress: &Progress) -> Snapshot {
        Snapshot {
            is_tainted: progress
                .thresholds()
                .iter()
                .any(|threshold| !threshold.outcome.ok),
            summary: progress.summary(),
        }
    }
}
