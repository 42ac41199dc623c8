//! An upstream: its targets, their health, and the selection of the next one.

mod connection;
mod health;
mod probe;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

pub use connection::{Connections, Lease};
pub use health::Health;
pub use probe::probe;

use crate::config::{self, Strategy};
use crate::key::hash;

/// Interval between sweeps of idle connections.
pub const SWEEP: Duration = Duration::from_secs(1);

/// A running upstream.
pub struct Upstream {
    pub settings: Arc<config::Upstream>,
    pub targets: Vec<Arc<Target>>,
}

/// One server of an upstream.
pub struct Target {
    pub address: String,
    pub health: Health,
    weight: u16,
    /// How far the target is behind its share of requests.
    turn: AtomicI64,
    /// Requests in flight.
    in_flight: AtomicU64,
    /// The connections of each worker.
    connections: Vec<Arc<Connections>>,
}

impl Upstream {
    /// An upstream for this number of workers.
    pub fn new(settings: config::Upstream, workers: usize) -> Upstream {
        let settings = Arc::new(settings);
        let target = |target: &config::Target| {
            let connections = || Connections::new(&target.address, &settings);
            Arc::new(Target {
                address: target.address.clone(),
                health: Health::new(&settings.passive),
                weight: target.weight.get(),
                turn: AtomicI64::new(0),
                in_flight: AtomicU64::new(0),
                connections: (0..workers).map(|_| connections()).collect(),
            })
        };
        Upstream {
            targets: settings.targets.iter().map(target).collect(),
            settings,
        }
    }

    /// Selects a target, if possible not one of those `tried`; for `hash`, `key` decides. A target
    /// that failed for clients is excluded as long as there is another; one that the active check
    /// found unhealthy is never used.
    pub fn choose(&self, key: u64, tried: &[Arc<Target>]) -> Option<Arc<Target>> {
        let untried = |target: &Target| !tried.iter().any(|other| std::ptr::eq(&**other, target));
        let chosen = self
            .pick(key, |target| target.health.is_well() && untried(target))
            .or_else(|| self.pick(key, |target| !target.health.is_ill() && untried(target)));
        match chosen {
            None if !tried.is_empty() => self.choose(key, &[]),
            chosen => chosen.cloned(),
        }
    }

    fn pick(&self, key: u64, fit: impl Fn(&Target) -> bool) -> Option<&Arc<Target>> {
        let fit = &fit;
        let fit = || self.targets.iter().filter(move |target| fit(target));
        match self.settings.strategy {
            Strategy::RoundRobin => in_turn(fit()),
            Strategy::LeastConnections => {
                let least = fit().map(|target| target.load()).min_by(f64::total_cmp)?;
                // None is left if others have just become busier.
                in_turn(fit().filter(|target| target.load() <= least)).or_else(|| in_turn(fit()))
            }
            Strategy::Hash => {
                fit().max_by(|one, other| one.score(key).total_cmp(&other.score(key)))
            }
        }
    }

    /// Closes a worker's idle connections that are broken or were idle too long.
    pub fn sweep(&self, worker: usize) {
        for target in &self.targets {
            if let Some(connections) = target.connections(worker) {
                connections.sweep();
            }
        }
    }
}

/// Smooth weighted round robin, as in nginx: each target gains its weight, and the one that has
/// gained most is next and pays for all.
fn in_turn<'t>(targets: impl Iterator<Item = &'t Arc<Target>>) -> Option<&'t Arc<Target>> {
    let (mut total, mut next) = (0, None);
    for target in targets {
        let weight = i64::from(target.weight);
        let gained = target.turn.fetch_add(weight, Relaxed) + weight;
        total += weight;
        if next.is_none_or(|(most, _)| gained > most) {
            next = Some((gained, target));
        }
    }
    let (_, target) = next?;
    target.turn.fetch_sub(total, Relaxed);
    Some(target)
}

impl Target {
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Relaxed)
    }

    /// A worker's connections.
    pub fn connections(&self, worker: usize) -> Option<&Arc<Connections>> {
        self.connections.get(worker)
    }

    /// Requests in flight per weight, with the next one.
    fn load(&self) -> f64 {
        (self.in_flight() + 1) as f64 / f64::from(self.weight)
    }

    /// The target with the highest score gets a key (weighted rendezvous hashing), so a key keeps
    /// its target when another one is excluded.
    fn score(&self, key: u64) -> f64 {
        let mixed = hash(&(key ^ hash(self.address.as_bytes())).to_le_bytes());
        let share = (mixed as f64 + 1.0) / (u64::MAX as f64 + 2.0);
        f64::from(self.weight) / -share.ln()
    }
}

/// Counts a request as in flight at a target.
pub struct Using(Arc<Target>);

impl Using {
    pub fn new(target: Arc<Target>) -> Using {
        target.in_flight.fetch_add(1, Relaxed);
        Using(target)
    }
}

impl Drop for Using {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_keeps_its_target_when_another_target_fails() {
        let text = "{strategy: hash, targets: ['a:1', {address: 'b:1', weight: 2}, 'c:1']}";
        let upstream = Upstream::new(serde_saphyr::from_str(text).unwrap(), 1);
        let gone = &upstream.targets[1];
        let mut moved = 0;
        for key in (0..4000u64).map(|key| hash(&key.to_le_bytes())) {
            let before = upstream.choose(key, &[]).unwrap();
            let after = upstream.choose(key, std::slice::from_ref(gone)).unwrap();
            if Arc::ptr_eq(&before, gone) {
                moved += 1;
            } else {
                assert!(Arc::ptr_eq(&before, &after));
            }
        }
        // Half of the weight, and so of the keys.
        assert!((1900..2100).contains(&moved), "{moved}");
    }
}
