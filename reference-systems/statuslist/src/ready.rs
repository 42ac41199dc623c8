//! Indices that are reserved in the store ahead of need, so that issuing one needs no access to the
//! store.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use plimsoll_serving::log;
use serde::{Serialize, Serializer};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use crate::pools::{Pool, Underflow};
use crate::problem::Problem;
use crate::shuffle::{Seed, order};
use crate::store::{Block, Failure, NewList, Outcome, Store};

/// Maximum requests that wait for indices of one pool.
const MAX_WAITING: usize = 10_000;

/// Maximum time that a request waits for indices.
const PATIENCE: Duration = Duration::from_secs(10);

/// Pause between attempts to reserve when the store fails.
const PAUSE: Duration = Duration::from_millis(100);

/// From this number of statuses on, a separate thread shuffles.
const MANY: u32 = 100_000;

/// An issued index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// The list's URI.
    #[serde(serialize_with = "as_text")]
    pub uri: Arc<str>,
    pub index: u32,
}

fn as_text<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(text)
}

/// The indices of one pool.
pub struct Ready {
    pub pool: Pool,
    /// The start of the URIs of the pool's lists.
    pub base: String,
    queue: Mutex<Queue>,
    low: Notify,
}

#[derive(Default)]
struct Queue {
    ready: VecDeque<Reference>,
    waiting: VecDeque<Waiting>,
    /// Total indices that waiting requests need.
    wanted: usize,
    /// Whether a request was rejected because too few were available.
    short: bool,
    /// The error of the last attempt to reserve, if it failed.
    failed: Option<Failure>,
}

struct Waiting {
    amount: usize,
    sender: oneshot::Sender<Outcome<Vec<Reference>>>,
}

impl Queue {
    /// Serves waiting requests in order, as far as possible.
    fn serve(&mut self) {
        while let Some(first) = self.waiting.front() {
            if first.sender.is_closed() {
                self.wanted -= first.amount;
                self.waiting.pop_front();
                continue;
            }
            if first.amount > self.ready.len() {
                return;
            }
            let Some(first) = self.waiting.pop_front() else {
                return;
            };
            self.wanted -= first.amount;
            let taken = self.ready.drain(..first.amount).collect();
            if let Err(Ok(taken)) = first.sender.send(Ok(taken)) {
                // The requester is gone and got nothing.
                for reference in taken.into_iter().rev() {
                    self.ready.push_front(reference);
                }
            }
        }
    }

    fn fail(&mut self, failure: &Failure) {
        self.failed = Some(failure.clone());
        self.wanted = 0;
        for waiting in self.waiting.drain(..) {
            let _ = waiting.sender.send(Err(failure.clone()));
        }
    }
}

impl Ready {
    pub fn new(pool: Pool, base: String) -> Ready {
        Ready {
            pool,
            base,
            queue: Mutex::default(),
            low: Notify::new(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // No code that holds it panics in the middle of a change.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of available indices, and of waiting requests.
    pub fn counts(&self) -> (usize, usize) {
        let queue = self.queue();
        (queue.ready.len(), queue.waiting.len())
    }

    /// Issues this number, which is at most the pool's capacity.
    pub async fn take(&self, amount: usize) -> Result<Vec<Reference>, Problem> {
        let receiver = {
            let mut queue = self.queue();
            if queue.waiting.is_empty() && queue.ready.len() >= amount {
                let taken = queue.ready.drain(..amount).collect();
                if queue.ready.len() < self.pool.prefetch.threshold as usize {
                    self.low.notify_one();
                }
                return Ok(taken);
            }
            self.low.notify_one();
            if self.pool.prefetch.on_underflow == Underflow::Fail {
                queue.short = true;
                return Err(match &queue.failed {
                    Some(failure) => Problem::Store(failure.clone()),
                    None => Problem::Underflow,
                });
            }
            if queue.waiting.len() >= MAX_WAITING {
                return Err(Problem::Overloaded);
            }
            let (sender, receiver) = oneshot::channel();
            queue.wanted += amount;
            queue.waiting.push_back(Waiting { amount, sender });
            receiver
        };
        match tokio::time::timeout(PATIENCE, receiver).await {
            Ok(Ok(outcome)) => outcome.map_err(Problem::Store),
            Ok(Err(_)) | Err(_) => Err(Problem::Store(Failure::Unavailable(format!(
                "no indices could be reserved within {PATIENCE:?}"
            )))),
        }
    }

    /// The number to reserve now: up to the capacity, if fewer than the threshold or than a request
    /// needs are available, plus those for all waiting requests.
    fn lacking(&self, everything: bool) -> u32 {
        let mut queue = self.queue();
        let prefetch = self.pool.prefetch;
        let (ready, wanted) = (queue.ready.len(), queue.wanted);
        if !everything && !queue.short && ready >= prefetch.threshold as usize && wanted == 0 {
            return 0;
        }
        let lacking = (prefetch.capacity as usize + wanted).saturating_sub(ready);
        queue.short = lacking > 0 && queue.short;
        u32::try_from(lacking).unwrap_or(u32::MAX)
    }

    /// Reserves until the capacity is reached.
    pub async fn fill(&self, store: &Store, orders: &mut Orders) -> Outcome<()> {
        let mut lacking = self.lacking(false);
        while lacking > 0 {
            let block = match store
                .reserve(&self.pool.name, self.pool.shape, lacking)
                .await?
            {
                Some(block) => block,
                None => {
                    create(store, &self.pool).await?;
                    continue;
                }
            };
            let indices = orders.indices(block, self.pool.shape.size).await;
            let uri: Arc<str> = format!("{}/{}", self.base, block.list).into();
            let mut queue = self.queue();
            queue.failed = None;
            queue
                .ready
                .extend(indices.into_iter().map(|index| Reference {
                    uri: uri.clone(),
                    index,
                }));
            queue.serve();
            drop(queue);
            lacking = self.lacking(true);
        }
        Ok(())
    }

    /// Keeps indices reserved until the program ends.
    pub async fn keep(self: Arc<Self>, store: Arc<Store>) {
        let mut orders = Orders::default();
        loop {
            self.low.notified().await;
            while let Err(failure) = self.fill(&store, &mut orders).await {
                self.queue().fail(&failure);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Keeps unused lists, so that no request waits for the creation of one.
    pub async fn precreate(self: Arc<Self>, store: Arc<Store>) {
        loop {
            if let Err(failure) = self.precreate_now(&store).await {
                log::warn(
                    "lists were not made ahead of need",
                    &[
                        ("pool", self.pool.name.as_str().into()),
                        ("reason", failure.to_string().into()),
                    ],
                );
            }
            tokio::time::sleep(self.pool.precreation.check_delay).await;
        }
    }

    /// Creates the missing lists.
    pub async fn precreate_now(&self, store: &Store) -> Outcome<()> {
        let untouched = store.untouched(&self.pool.name, self.pool.shape).await?;
        for _ in untouched..self.pool.precreation.lists {
            create(store, &self.pool).await?;
        }
        Ok(())
    }
}

async fn create(store: &Store, pool: &Pool) -> Outcome<()> {
    let seed = Seed::random().map_err(Failure::Unavailable)?;
    let id = Seed::random().map_err(Failure::Unavailable)?.0;
    let mut bytes = [0; 16];
    bytes.copy_from_slice(id.split_at(16).0);
    store
        .create(&NewList {
            id: uuid::Builder::from_random_bytes(bytes).into_uuid(),
            pool: pool.name.clone(),
            shape: pool.shape,
            seed,
        })
        .await
}

/// The order of the most recently used list: a list is issued block by block.
#[derive(Default)]
pub struct Orders {
    last: Option<(Uuid, Arc<Vec<u32>>)>,
}

impl Orders {
    async fn indices(&mut self, block: Block, size: u32) -> Vec<u32> {
        let known = match &self.last {
            Some((list, order)) if *list == block.list => order.clone(),
            _ => {
                let order = Arc::new(shuffled(block.seed, size).await);
                self.last = Some((block.list, order.clone()));
                order
            }
        };
        let start = block.start as usize;
        known
            .get(start..start + block.count as usize)
            .map(<[u32]>::to_vec)
            .unwrap_or_default()
    }
}

async fn shuffled(seed: Seed, size: u32) -> Vec<u32> {
    if size < MANY {
        return order(seed, size);
    }
    // Fails only if shuffling panics, which it does not.
    match tokio::task::spawn_blocking(move || order(seed, size)).await {
        Ok(order) => order,
        Err(_) => order(seed, size),
    }
}

#[cfg(test)]
mod tests;
