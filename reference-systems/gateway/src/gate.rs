//! Limits how many requests a service has in flight, how many wait, and how often requests are
//! retried.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Service;
use crate::refusal::Refusal;

pub struct Gate {
    capacity: Arc<Semaphore>,
    /// Places to wait.
    queue: Semaphore,
    /// Available retries in hundredths.
    budget: AtomicI64,
}

/// Maximum retries that a service can save up, in hundredths.
const SAVED_UP: i64 = 10 * 100;

impl Gate {
    pub fn new(settings: &Service) -> Gate {
        Gate {
            capacity: Arc::new(Semaphore::new(settings.max_requests as usize)),
            queue: Semaphore::new(settings.max_queue as usize),
            budget: AtomicI64::new(SAVED_UP),
        }
    }

    /// Admits a request, immediately or once another one has ended.
    pub async fn enter(&self, settings: &Service) -> Result<OwnedSemaphorePermit, Refusal> {
        if let Ok(permit) = self.capacity.clone().try_acquire_owned() {
            return Ok(permit);
        }
        // Boxed, because it is rare and would make every request's future larger.
        Box::pin(async {
            let _place = self.queue.try_acquire().map_err(|_| Refusal::OVERLOADED)?;
            let acquired = self.capacity.clone().acquire_owned();
            match tokio::time::timeout(settings.queue_timeout, acquired).await {
                Ok(Ok(permit)) => Ok(permit),
                // The semaphore is never closed, so the time limit has passed.
                Ok(Err(_)) | Err(_) => Err(Refusal::WAITED),
            }
        })
        .await
    }

    /// Number of waiting requests.
    pub fn waiting(&self, settings: &Service) -> u64 {
        u64::from(settings.max_queue).saturating_sub(self.queue.available_permits() as u64)
    }

    /// Adds a request's share of a retry to the budget.
    pub fn save_up(&self, settings: &Service) {
        // Usually the budget is full, and nothing is written.
        if self.budget.load(Relaxed) < SAVED_UP {
            let share = settings.retries.budget_percent.into();
            self.budget.fetch_add(share, Relaxed);
        }
    }

    /// Takes one retry from the budget, if available.
    pub fn spend(&self) -> bool {
        let spend = |budget: i64| (budget >= 100).then_some(budget - 100);
        self.budget.fetch_update(Relaxed, Relaxed, spend).is_ok()
    }
}
