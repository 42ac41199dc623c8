//! Token buckets: each key may have a burst of requests, and gets more over time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::RateLimit;

/// Keys are distributed over this number of tables, each with its own lock.
const TABLES: usize = 16;

/// A full table examines this number of keys to find one to forget.
const LOOKED_AT: usize = 8;

pub struct Limiter {
    pub settings: RateLimit,
    started: Instant,
    /// Time that one request costs, in nanoseconds.
    cost: u64,
    /// Maximum time that can be saved up, in nanoseconds.
    depth: u64,
    tables: Vec<Mutex<HashMap<u64, u64>>>,
}

impl Limiter {
    pub fn new(settings: RateLimit) -> Limiter {
        let (count, per) = settings.rate;
        let per = u64::try_from(per.as_nanos()).unwrap_or(u64::MAX);
        let cost = (per / u64::from(count.get())).max(1);
        Limiter {
            cost,
            depth: cost.saturating_mul(u64::from(settings.burst.unwrap_or(count).get())),
            started: Instant::now(),
            tables: (0..TABLES).map(|_| Mutex::default()).collect(),
            settings,
        }
    }

    /// Takes a token of `key`, or returns how long until there is one.
    ///
    /// For each key only the time is stored at which its bucket will be full again (the generic
    /// cell rate algorithm, ITU-T I.371): a token moves it by its cost, and it may be ahead by at
    /// most the depth of the bucket.
    pub fn take(&self, key: u64) -> Result<(), Duration> {
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let Some(table) = self.tables.get(key as usize % TABLES) else {
            return Ok(());
        };
        let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
        let full = table.get(&key).copied().unwrap_or(0).max(now);
        let next = full.saturating_add(self.cost);
        let ahead = next - now;
        if ahead > self.depth {
            return Err(Duration::from_nanos(ahead - self.depth));
        }
        if table.len() >= (self.settings.keys / TABLES).max(1) && !table.contains_key(&key) {
            // Forgetting the fullest bucket loses the least.
            let fullest = table.iter().take(LOOKED_AT).min_by_key(|(_, full)| **full);
            if let Some(fullest) = fullest.map(|(key, _)| *key) {
                table.remove(&fullest);
            }
        }
        table.insert(key, next);
        Ok(())
    }

    /// Number of stored keys.
    pub fn keys(&self) -> usize {
        let tables = self.tables.iter();
        tables
            .map(|table| table.lock().unwrap_or_else(PoisonError::into_inner).len())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Key;
    use std::num::NonZero;

    fn limiter(count: u32, burst: u32, keys: usize) -> Limiter {
        Limiter::new(RateLimit {
            rate: (NonZero::new(count).unwrap(), Duration::from_secs(1)),
            burst: NonZero::new(burst),
            key: Key::All,
            keys,
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_then_the_rate() {
        let limiter = limiter(10, 5, 100);
        for _ in 0..5 {
            limiter.take(1).unwrap();
        }
        assert_eq!(limiter.take(1).unwrap_err(), Duration::from_millis(100));
        // Another key has a bucket of its own.
        limiter.take(2).unwrap();
        tokio::time::advance(Duration::from_millis(100)).await;
        limiter.take(1).unwrap();
        assert!(limiter.take(1).is_err());
        tokio::time::advance(Duration::from_secs(60)).await;
        let passed = (0..20).filter(|_| limiter.take(1).is_ok()).count();
        assert_eq!(passed, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded() {
        let limiter = limiter(10, 5, 160);
        for key in 0..100_000 {
            limiter.take(key).unwrap();
        }
        assert!(limiter.keys() <= 160, "{}", limiter.keys());
    }
}
