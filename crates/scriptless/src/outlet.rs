//! The way of results from workers to whoever writes them.
//!
//! A worker gathers hits in a batch and hands full batches over a channel; the
//! request path never waits for a disk. If the writer falls behind, batches
//! queue up; when too many wait, the worker does wait for the writer: results
//! are not thrown away, and memory stays bounded. How long that held the load
//! back is counted.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plimsoll_vegeta::batch::{Batch, Fresh};

/// A batch is handed over from this size on, in bytes.
const FULL: usize = 64 * 1024;
/// How many batches may wait: 64 MiB of results without large bodies.
const WAITING: usize = 1024;
/// How many written batches are kept for their memory.
const SPARE: usize = 16;
/// A batch that does not fill is handed over after this long.
const OFTEN: Duration = Duration::from_millis(250);

/// Where workers send results. Shared by all of them.
#[derive(Clone, Debug)]
pub struct Outlet {
    sender: SyncSender<Vec<u8>>,
    spare: Spare,
    /// Nanoseconds that workers waited for the writer.
    waited: Arc<AtomicU64>,
}

/// Where the writer finds them.
#[derive(Debug)]
pub struct Inlet {
    batches: Receiver<Vec<u8>>,
    spare: Spare,
    waited: Arc<AtomicU64>,
}

type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

/// Both ends. The inlet ends when every outlet is gone.
pub fn outlet() -> (Outlet, Inlet) {
    let (sender, batches) = sync_channel(WAITING);
    let spare = Spare::default();
    let waited = Arc::<AtomicU64>::default();
    let inlet = Inlet {
        batches,
        spare: Arc::clone(&spare),
        waited: Arc::clone(&waited),
    };
    let outlet = Outlet {
        sender,
        spare,
        waited,
    };
    (outlet, inlet)
}

impl Inlet {
    /// The next batch; none when the run is over.
    pub fn next(&self) -> Option<Vec<u8>> {
        self.batches.recv().ok()
    }

    /// Gives the memory of a written batch back.
    pub fn give_back(&self, batch: Vec<u8>) {
        if let Ok(mut spare) = self.spare.lock()
            && spare.len() < SPARE
            && batch.capacity() <= 4 * FULL
        {
            spare.push(batch);
        }
    }

    /// How long workers waited, added up.
    pub fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }
}

/// One worker's end.
pub(crate) struct Sink {
    outlet: Outlet,
    batch: RefCell<Batch>,
}

impl Sink {
    /// A sink on the calling worker's thread, which hands over now and then
    /// even if little comes.
    pub fn new(outlet: Outlet) -> Rc<Sink> {
        let sink = Rc::new(Sink {
            outlet,
            batch: RefCell::new(Batch::new(Vec::with_capacity(2 * FULL))),
        });
        tokio::task::spawn_local(hand_over_often(Rc::downgrade(&sink)));
        sink
    }

    pub fn push(&self, hit: &Fresh<'_>) {
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
            // A writer that is gone has said why.
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

async fn hand_over_often(sink: Weak<Sink>) {
    loop {
        plimsoll_engine::timer::sleep(OFTEN).await;
        let Some(sink) = sink.upgrade() else { return };
        sink.hand_over(&mut sink.batch.borrow_mut());
    }
}
