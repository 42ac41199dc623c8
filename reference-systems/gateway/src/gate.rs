//! Limits how many requests a service has in flight, how many wait, and how often requests are
//! retried.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Service;
use crate::refusal::Refusal;

pub struct Gate {
    room: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// Available retries in hundredths.
    budget: AtomicI64,
}

/// Maximum retries that a service can save up, in hundredths.
const SAVED_UP: i64 = 10 * 100;

impl Gate {
    pub fn new(settings: &Service) -> Gate {
        Gate {
            room: Arc::new(Semaphore::new(settings.max_requests)),
            waiting: AtomicUsize::new(0),
            budget: AtomicI64::new(SAVED_UP),
        }
    }

    /// Admits a request, immediately or once another one has ended.
    pub async fn enter(&self, settings: &Service) -> Result<OwnedSemaphorePermit, Refusal> {
        if let Ok(permit) = self.room.clone().try_acquire_owned() {
            return Ok(permit);
        }
        // Boxed, because it is rare and would make every request's future larger.
        Box::pin(self.wait(settings)).await
    }

    async fn wait(&self, settings: &Service) -> Result<OwnedSemaphorePermit, Refusal> {
        let _waiting = Waiting::begin(&self.waiting, settings.max_queue)?;
        let acquired = self.room.clone().acquire_owned();
        match tokio::time::timeout(settings.queue_timeout, acquired).await {
            Ok(Ok(permit)) => Ok(permit),
            // The semaphore is never closed, so the time limit has passed.
            Ok(Err(_)) | Err(_) => Err(Refusal::Waited),
        }
    }

    /// Number of waiting requests.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }

    /// Every request adds its share of a retry.
    pub fn save_up(&self, settings: &Service) {
        // Usually the budget is full, and nothing is written.
        if self.budget.load(Relaxed) < SAVED_UP {
            self.budget
                .fetch_add(settings.retries.budget_percent.into(), Relaxed);
        }
    }

    /// Takes one retry from the budget, if available.
    pub fn spend(&self) -> bool {
        let spend = |budget: i64| (budget >= 100).then_some(budget - 100);
        self.budget.fetch_update(Relaxed, Relaxed, spend).is_ok()
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(waiting: &'a AtomicUsize, most: usize) -> Result<Waiting<'a>, Refusal> {
        let begun = Waiting(waiting);
        // A request above the limit leaves again when it is dropped.
        if waiting.fetch_add(1, Relaxed) >= most {
            return Err(Refusal::Overloaded);
        }
        Ok(begun)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Retries;
    use std::time::Duration;

    fn service(max_requests: usize, max_queue: usize) -> Service {
        Service {
            name: "s".into(),
            upstream: "u".into(),
            response_timeout: Duration::from_secs(1),
            idle_timeout: Duration::from_secs(1),
            retries: Retries {
                attempts: 1,
                budget_percent: 20,
            },
            max_requests,
            max_queue,
            queue_timeout: Duration::from_secs(1),
            preserve_host: true,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_queue_is_bounded_in_length_and_time() {
        let settings = service(1, 1);
        let gate = Arc::new(Gate::new(&settings));
        let first = gate.enter(&settings).await.unwrap();
        let (gate_too, settings_too) = (gate.clone(), settings.clone());
        let second = tokio::spawn(async move { gate_too.enter(&settings_too).await });
        tokio::task::yield_now().await;
        assert_eq!(gate.waiting(), 1);
        assert_eq!(
            gate.enter(&settings).await.unwrap_err(),
            Refusal::Overloaded
        );
        drop(first);
        let second = second.await.unwrap().unwrap();
        assert_eq!(gate.waiting(), 0);
        assert_eq!(gate.enter(&settings).await.unwrap_err(), Refusal::Waited);
        drop(second);
        drop(gate.enter(&settings).await.unwrap());
    }

    #[test]
    fn retries_are_a_share_of_requests() {
        let settings = service(1, 1);
        let gate = Gate::new(&settings);
        assert_eq!((0..100).filter(|_| gate.spend()).count(), 10);
        let spent = (0..1000)
            .filter(|_| {
                gate.save_up(&settings);
                gate.spend()
            })
            .count();
        assert_eq!(spent, 200);
    }
}
