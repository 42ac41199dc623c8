//! Token buckets: each key may have a burst of requests, and gets more over time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::RateLimit;

/// Maximum keys to remember.
const MAX_KEYS: usize = 100_000;

/// If there are that many keys, this number of them is examined to find one to remove.
const LOOKED_AT: usize = 8;

pub struct Limiter {
    pub settings: RateLimit,
    started: Instant,
    /// Time that one request costs, in nanoseconds.
    cost: u64,
    /// Maximum time that can be saved up, in nanoseconds.
    depth: u64,
    /// For each key, the time at which its bucket will be full again.
    full_at: Mutex<HashMap<u64, u64>>,
}

impl Limiter {
    pub fn new(settings: RateLimit) -> Limiter {
        let (count, per) = settings.rate;
        // The period of a rate is at most an hour.
        let cost = (per.as_nanos() as u64 / u64::from(count.get())).max(1);
        Limiter {
            cost,
            depth: cost.saturating_mul(settings.burst.unwrap_or(count).get().into()),
            started: Instant::now(),
            full_at: Mutex::default(),
            settings,
        }
    }

    /// Takes a token of `key`, or returns the time until one is available.
    ///
    /// This is the generic cell rate algorithm (ITU-T I.371): taking a token delays the time at which the
    /// bucket will be full by the token's cost. That time may be ahead of now by at most the depth of the bucket.
    pub fn take(&self, key: u64) -> Result<(), Duration> {
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let full = full_at.get(&key).copied().unwrap_or(0).max(now);
        let next = full.saturating_add(self.cost);
        let ahead = next - now;
        if ahead > self.depth {
            return Err(Duration::from_nanos(ahead - self.depth));
        }
        if full_at.len() >= MAX_KEYS && !full_at.contains_key(&key) {
            // Removing the fullest bucket loses the least information.
            let fullest = full_at
                .iter()
                .take(LOOKED_AT)
                .min_by_key(|(_, full)| **full);
            if let Some(fullest) = fullest.map(|(key, _)| *key) {
                full_at.remove(&fullest);
            }
        }
        full_at.insert(key, next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_then_the_rate() {
        let settings = serde_saphyr::from_str("{rate: 10/s, burst: 5}").unwrap();
        let limiter = Limiter::new(settings);
        for _ in 0..5 {
            limiter.take(1).unwrap();
        }
        assert_eq!(limiter.take(1).unwrap_err(), Duration::from_millis(100));
        // Another key has its own bucket.
        limiter.take(2).unwrap();
        tokio::time::advance(Duration::from_millis(100)).await;
        limiter.take(1).unwrap();
        assert!(limiter.take(1).is_err());
        tokio::time::advance(Duration::from_secs(60)).await;
        let passed = (0..20).filter(|_| limiter.take(1).is_ok()).count();
        assert_eq!(passed, 5);
        for key in 0..=MAX_KEYS as u64 {
            limiter.take(key + 3).unwrap();
        }
        assert_eq!(limiter.full_at.lock().unwrap().len(), MAX_KEYS);
    }
}
