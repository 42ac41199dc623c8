//! Selects the next target: in turn, the least busy, or by a hash.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::Target;
use crate::config::{self, Strategy};
use crate::hash::hash;

/// Points on the ring per unit of weight: enough to keep shares within a few percent of the
/// weights.
const PLACES: u32 = 160;

/// Maximum turns in a round: weights are scaled down until they fit.
const LONGEST_ROUND: u64 = 10_000;

pub enum Balance {
    Turns {
        round: Vec<usize>,
        next: AtomicUsize,
    },
    Least {
        next: AtomicUsize,
    },
    /// Points in ascending order, with their targets (Karger et al., STOC 1997).
    Ring(Vec<(u64, usize)>),
}

impl Balance {
    pub fn new(settings: &config::Upstream) -> Balance {
        let weights: Vec<u32> = settings
            .targets
            .iter()
            .map(|target| target.weight)
            .collect();
        match settings.strategy {
            Strategy::RoundRobin | Strategy::Weighted => Balance::Turns {
                round: round(&weights),
                next: AtomicUsize::new(0),
            },
            Strategy::LeastConnections => Balance::Least {
                next: AtomicUsize::new(0),
            },
            Strategy::Hash => {
                let least = weights.iter().copied().min().unwrap_or(1).max(1);
                let mut ring: Vec<_> = settings
                    .targets
                    .iter()
                    .enumerate()
                    .flat_map(|(index, target)| {
                        let places = (u64::from(target.weight) * u64::from(PLACES)
                            / u64::from(least))
                        .min(LONGEST_ROUND);
                        (0..places).map(move |place| {
                            (
                                hash(format!("{}#{place}", target.address).as_bytes()),
                                index,
                            )
                        })
                    })
                    .collect();
                ring.sort_unstable();
                Balance::Ring(ring)
            }
        }
    }

    /// The next of `targets` for which `fit` is true.
    pub fn choose<'t>(
        &self,
        targets: &'t [Arc<Target>],
        key: u64,
        fit: impl Fn(&Arc<Target>) -> bool,
    ) -> Option<&'t Arc<Target>> {
        match self {
            Balance::Turns { round, next } => {
                // Every turn of the round is checked once.
                (0..round.len())
                    .filter_map(|_| {
                        let turn = next.fetch_add(1, Relaxed) % round.len();
                        targets.get(*round.get(turn)?)
                    })
                    .find(|target| fit(target))
            }
            Balance::Least { next } => {
                // The first of several equal targets varies, so that they share the load.
                let first = next.fetch_add(1, Relaxed) % targets.len().max(1);
                let (before, after) = targets.split_at(first);
                after
                    .iter()
                    .chain(before)
                    .filter(|target| fit(target))
                    .min_by(|one, other| {
                        // one.under_way / one.weight, without dividing.
                        let one_load = (one.under_way() + 1) * u64::from(other.weight());
                        let other_load = (other.under_way() + 1) * u64::from(one.weight());
                        one_load.cmp(&other_load)
                    })
            }
            Balance::Ring(ring) => {
                let start = ring.partition_point(|(place, _)| *place < key);
                let (before, after) = ring.split_at(start);
                after
                    .iter()
                    .chain(before)
                    .filter_map(|(_, index)| targets.get(*index))
                    .find(|target| fit(target))
            }
        }
    }
}

/// The order of turns in which each index occurs as often as its weight, evenly distributed: smooth
/// weighted round robin, computed once.
fn round(weights: &[u32]) -> Vec<usize> {
    let divisor = weights
        .iter()
        .fold(0, |one, other| greatest_common_divisor(one, *other))
        .max(1);
    let mut weights: Vec<i64> = weights
        .iter()
        .map(|weight| i64::from(weight / divisor))
        .collect();
    let total = |weights: &[i64]| weights.iter().sum::<i64>();
    while total(&weights) > LONGEST_ROUND as i64 {
        weights
            .iter_mut()
            .for_each(|weight| *weight = (*weight / 2).max(1));
    }
    let length = total(&weights);
    let mut due = vec![0; weights.len()];
    (0..length)
        .filter_map(|_| {
            due.iter_mut()
                .zip(&weights)
                .for_each(|(due, weight)| *due += weight);
            let (chosen, most) = due
                .iter_mut()
                .enumerate()
                .max_by_key(|(index, due)| (**due, Reverse(*index)))?;
            *most -= length;
            Some(chosen)
        })
        .collect()
}

fn greatest_common_divisor(one: u32, other: u32) -> u32 {
    if other == 0 {
        one
    } else {
        greatest_common_divisor(other, one % other)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Upstream;
    use super::*;
    use crate::config::{PassiveCheck, Wire};
    use std::collections::HashMap;
    use std::time::Duration;

    fn upstream(strategy: Strategy, weights: &[u32]) -> Upstream {
        let settings = config::Upstream {
            name: "u".into(),
            strategy,
            hash_by: None,
            targets: weights
                .iter()
                .enumerate()
                .map(|(index, weight)| config::Target {
                    address: format!("10.0.0.{index}:80"),
                    weight: *weight,
                })
                .collect(),
            wire: Wire::H1,
            tls: None,
            connect_timeout: Duration::from_secs(1),
            keep: 1,
            keep_timeout: Duration::from_secs(1),
            connections: 1,
            active: None,
            passive: PassiveCheck {
                failures: 2,
                leave_out: Duration::from_secs(5),
            },
        };
        Upstream::new(settings, 1)
    }

    fn shares(upstream: &Upstream, keys: impl Iterator<Item = u64>) -> HashMap<String, u32> {
        let mut shares = HashMap::new();
        for key in keys {
            let chosen = upstream.choose(key, &[]).unwrap();
            *shares.entry(chosen.address.clone()).or_default() += 1;
        }
        shares
    }

    #[test]
    fn weights_are_spread_out() {
        assert_eq!(round(&[1, 1]), [0, 1]);
        assert_eq!(round(&[5, 1, 1]), [0, 0, 1, 0, 2, 0, 0]);
        assert_eq!(round(&[20, 10]).len(), 3);
        assert!(
            round(&[997, 999, 998, 1000, 991, 983, 977, 971, 967, 953, 947, 941]).len() <= 10_000
        );
    }

    #[tokio::test]
    async fn turns_follow_the_weights() {
        let upstream = upstream(Strategy::RoundRobin, &[3, 1]);
        let shares = shares(&upstream, 0..400);
        assert_eq!((shares["10.0.0.0:80"], shares["10.0.0.1:80"]), (300, 100));
    }

    #[tokio::test]
    async fn the_least_busy_is_chosen() {
        let upstream = upstream(Strategy::LeastConnections, &[1, 1, 2]);
        let mut using = Vec::new();
        for _ in 0..8 {
            using.push(super::super::Using::new(upstream.choose(0, &[]).unwrap()));
        }
        let busy: Vec<_> = upstream
            .targets()
            .iter()
            .map(|target| target.under_way())
            .collect();
        assert_eq!(busy, [2, 2, 4]);
        drop(using);
        assert!(
            upstream
                .targets()
                .iter()
                .all(|target| target.under_way() == 0)
        );
    }

    #[tokio::test]
    async fn a_key_keeps_its_target_when_another_target_fails() {
        let upstream = upstream(Strategy::Hash, &[1, 1, 1, 1]);
        let keys = || (0..4000u64).map(|key| hash(&key.to_le_bytes()));
        let shares = shares(&upstream, keys());
        assert!(
            shares.values().all(|share| (700..1300).contains(share)),
            "{shares:?}"
        );
        let gone = upstream.targets()[2].clone();
        let mut moved = 0;
        for key in keys() {
            let before = upstream.choose(key, &[]).unwrap();
            let after = upstream.choose(key, std::slice::from_ref(&gone)).unwrap();
            assert!(!Arc::ptr_eq(&after, &gone));
            if !Arc::ptr_eq(&before, &gone) {
                assert!(Arc::ptr_eq(&before, &after));
            } else {
                moved += 1;
            }
        }
        assert_eq!(moved, shares["10.0.0.2:80"]);
    }

    #[tokio::test(start_paused = true)]
    async fn failing_targets_are_skipped_unless_all_fail() {
        let upstream = upstream(Strategy::RoundRobin, &[1, 1]);
        let [one, other] = upstream.targets() else {
            panic!()
        };
        one.health.failed();
        assert_eq!(shares(&upstream, 0..10).len(), 2);
        one.health.failed();
        assert_eq!(shares(&upstream, 0..10).len(), 1);
        other.health.failed();
        other.health.failed();
        assert_eq!(shares(&upstream, 0..10).len(), 2);
        other.health.succeeded();
        tokio::time::advance(Duration::from_secs(6)).await;
        assert_eq!(shares(&upstream, 0..10).len(), 2);
        one.health.set_ill(true);
        other.health.set_ill(true);
        assert!(upstream.choose(0, &[]).is_none());
    }
}
