//! The merging t-digest: T. Dunning and O. Ertl, "Computing Extremely Accurate Quantiles Using t-Digests" (2019), with
//! the scale function k1. Compression, buffer and interpolation are those of vegeta, so our values match vegeta's to
//! the nanosecond.

use std::f64::consts::PI;

const COMPRESSION: f64 = 100.0;
/// The number of values to buffer before a merge.
const BUFFER: usize = 800;

#[derive(Clone, Debug)]
pub(crate) struct Digest {
    clusters: Vec<Cluster>,
    waiting: Vec<Cluster>,
    merged: f64,
    min: f64,
    max: f64,
}

#[derive(Clone, Copy, Debug)]
struct Cluster {
    mean: f64,
    weight: f64,
}

impl Default for Digest {
    fn default() -> Self {
        Digest {
            clusters: Vec::new(),
            waiting: Vec::with_capacity(BUFFER + 1),
            merged: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl Digest {
    pub fn add(&mut self, value: f64) {
        self.waiting.push(Cluster {
            mean: value,
            weight: 1.0,
        });
        if self.waiting.len() > BUFFER {
            self.merge();
        }
    }

    /// The paper's algorithm 1: goes through clusters and new values in ascending order, and joins each with the
    /// previous cluster while that spans at most one unit of the scale function.
    fn merge(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let added: f64 = self.waiting.iter().map(|cluster| cluster.weight).sum();
        let mut all = std::mem::take(&mut self.waiting);
        all.append(&mut self.clusters);
        all.sort_by(|first, second| first.mean.total_cmp(&second.mean));
        self.merged += added;
        let mut so_far = 0.0;
        let mut limit = self.merged * quantile_at(1.0);
        for &next in &all {
            let projected = so_far + next.weight;
            match self.clusters.last_mut() {
                Some(last) if projected <= limit => {
                    last.weight += next.weight;
                    last.mean += next.weight * (next.mean - last.mean) / last.weight;
                }
                Some(_) => {
                    limit = self.merged * quantile_at(scale(so_far / self.merged) + 1.0);
                    self.clusters.push(next);
                }
                None => self.clusters.push(next),
            }
            so_far = projected;
        }
        if let (Some(first), Some(last)) = (self.clusters.first(), self.clusters.last()) {
            self.min = self.min.min(first.mean);
            self.max = self.max.max(last.mean);
        }
        all.clear();
        self.waiting = all;
    }

    /// The value below which a fraction `q` of all values lies, interpolated between the centers of clusters. Returns 0
    /// without values.
    pub fn quantile(&mut self, q: f64) -> f64 {
        self.merge();
        let (Some(first), Some(last)) = (self.clusters.first(), self.clusters.last()) else {
            return 0.0;
        };
        if self.clusters.len() == 1 {
            return first.mean;
        }
        let rank = q * self.merged;
        if rank <= first.weight / 2.0 {
            return self.min + 2.0 * rank / first.weight * (first.mean - self.min);
        }
        let mut middle = first.weight / 2.0;
        for pair in self.clusters.windows(2) {
            let &[left, right] = pair else { break };
            let next = middle + (left.weight + right.weight) / 2.0;
            if next >= rank {
                return weighted(left.mean, next - rank, right.mean, rank - middle);
            }
            middle = next;
        }
        let beyond = rank - self.merged + last.weight / 2.0;
        weighted(last.mean, last.weight / 2.0 - beyond, self.max, beyond)
    }
}

/// The weighted mean of two values. It is never outside their range.
fn weighted(first: f64, first_weight: f64, second: f64, second_weight: f64) -> f64 {
    let mean = (first * first_weight + second * second_weight) / (first_weight + second_weight);
    mean.clamp(first.min(second), first.max(second))
}

/// k1: the position of a quantile on the scale of clusters.
fn scale(q: f64) -> f64 {
    COMPRESSION * ((2.0 * q - 1.0).asin() + PI / 2.0) / PI
}

/// The inverse of k1.
fn quantile_at(k: f64) -> f64 {
    ((k.min(COMPRESSION) * PI / COMPRESSION - PI / 2.0).sin() + 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_interpolated_between_their_ranks() {
        let mut digest = Digest::default();
        assert_eq!(digest.quantile(0.5), 0.0);
        digest.add(7.0);
        assert_eq!(digest.quantile(0.99), 7.0);
        (1..=9).for_each(|n| digest.add(f64::from(n) * 100.0));
        assert_eq!(digest.quantile(0.5), 450.0);
        assert_eq!(digest.quantile(0.0), 7.0);
        assert_eq!(digest.quantile(1.0), 900.0);
    }

    #[test]
    fn many_values_are_close_to_their_ranks_in_bounded_memory() {
        let mut digest = Digest::default();
        for n in 0..100_000_u64 {
            // A permutation: 7919 and 100,000 are coprime.
            digest.add((n * 7_919 % 100_000) as f64);
        }
        for (q, near) in [(0.5, 500.0), (0.99, 50.0), (0.999, 10.0)] {
            let value = digest.quantile(q);
            assert!((value - q * 1e5).abs() < near, "{q}: {value}");
        }
        assert!(digest.clusters.len() <= 200, "{}", digest.clusters.len());
    }
}
