//! Sends results from workers to the writer.
//!
//! A worker collects results in a batch and sends full batches through a channel, so a request never waits for the
//! disk. If the writer falls behind, batches queue up. If the queue is full, the worker waits for the writer. So no
//! results are lost, and memory stays bounded. The total waiting time is measured.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plimsoll_vegeta::batch::{Batch, NewHit};

/// The size in bytes from which on a batch is sent.
const FULL: usize = 64 * 1024;
/// The maximum number of queued batches. It allows 64 MiB of results without large bodies.
const WAITING: usize = 1024;
/// The number of written batches to keep for reuse.
const MAX_SPARE_BATCHES: usize = 16;
/// After this time, a batch is sent even if it is not full.
const FLUSH_INTERVAL: Duration = Duration::from_millis(250);

/// The sending end of the channel for results. All workers share it.
#[derive(Clone, Debug)]
pub struct ResultSender {
    sender: SyncSender<Vec<u8>>,
    spare: SpareBatches,
    /// The total time for which workers waited for the writer, in nanoseconds.
    waited: Arc<AtomicU64>,
}

/// The receiving end of the channel, for the writer.
#[derive(Debug)]
pub struct ResultReceiver {
    batches: Receiver<Vec<u8>>,
    spare: SpareBatches,
    waited: Arc<AtomicU64>,
}

type SpareBatches = Arc<Mutex<Vec<Vec<u8>>>>;

/// Creates both ends. The inlet ends once every outlet is gone.
pub fn outlet() -> (ResultSender, ResultReceiver) {
    let (sender, batches) = sync_channel(WAITING);
    let spare = SpareBatches::default();
    let waited = Arc::<AtomicU64>::default();
    let inlet = ResultReceiver {
        batches,
        spare: Arc::clone(&spare),
        waited: Arc::clone(&waited),
    };
    let outlet = ResultSender {
        sender,
        spare,
        waited,
    };
    (outlet, inlet)
}

impl ResultReceiver {
    /// The next batch. `None` when the run has ended.
    pub fn next(&self) -> Option<Vec<u8>> {
        self.batches.recv().ok()
    }

    /// Returns the memory of a written batch.
    pub fn give_back(&self, batch: Vec<u8>) {
        if let Ok(mut spare) = self.spare.lock()
            && spare.len() < MAX_SPARE_BATCHES
            && batch.capacity() <= 4 * FULL
        {
            spare.push(batch);
        }
    }

    /// Total time for which workers waited.
    pub fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }
}

/// One worker's sending end.
pub(crate) struct Sink {
    outlet: ResultSender,
    batch: RefCell<Batch>,
}

impl Sink {
    /// A sink on the calling worker's thread. It sends its batch regularly even if the batch is not full.
    pub fn new(outlet: ResultSender) -> Rc<Sink> {
        let sink = Rc::new(Sink {
            outlet,
            batch: RefCell::new(Batch::new(Vec::with_capacity(2 * FULL))),
        });
        tokio::task::spawn_local(flush_regularly(Rc::downgrade(&sink)));
        sink
    }

    pub fn push(&self, hit: &NewHit<'_>) {
        let mut batch = self.batch.borrow_mut();
        batch.push(hit);
        if batch.len() >= FULL {
            self.hand_over(&mut batch);
        }
    }

    fn hand_over(&self, batch: &mut Batch) {
        if batch.is_empty() {
            return;
        }
        let spare = self.outlet.spare.lock().ok().and_then(|mut s| s.pop());
        let full = batch.take(spare.unwrap_or_default());
        match self.outlet.sender.try_send(full) {
            // If the writer is gone, it has reported the reason.
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(full)) => {
                let from = plimsoll_clock::now();
                let _ = self.outlet.sender.send(full);
                let waited = plimsoll_clock::now().since(from).as_nanos() as u64;
                self.outlet.waited.fetch_add(waited, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.hand_over(&mut self.batch.borrow_mut());
    }
}

async fn flush_regularly(sink: Weak<Sink>) {
    loop {
        plimsoll_engine::timer::sleep(FLUSH_INTERVAL).await;
        let Some(sink) = sink.upgrade() else { return };
        sink.hand_over(&mut sink.batch.borrow_mut());
    }
}
