//! The order in which a list's indices are issued. It is shuffled, so an index does not reveal when it
//! was issued. It is the same after every restart, so a position in the order is enough to know which
//! indices were issued.
//!
//! A seed that is stored with the list determines the order. The order for a seed must never change,
//! or indices would be issued twice. So the algorithm is implemented here instead of in a crate.

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

/// The seed of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(pub [u8; 32]);

impl Seed {
    pub fn random() -> Result<Seed, String> {
        let mut seed = [0; 32];
        SystemRandom::new()
            .fill(&mut seed)
            .map_err(|_| "the operating system provided no random numbers".to_owned())?;
        Ok(Seed(seed))
    }
}

/// Returns `0..size` in the order of the seed (a Fisher–Yates shuffle, from the end).
pub fn order(seed: Seed, size: u32) -> Vec<u32> {
    let mut indices: Vec<u32> = (0..size).collect();
    let mut words = Words::new(seed);
    for last in (1..size).rev() {
        let other = words.below(last + 1);
        indices.swap(last as usize, other as usize);
    }
    indices
}

/// Random words: SHA-256 of the seed and a counter, eight words of 32 bits at a time.
struct Words {
    seed: Seed,
    counter: u64,
    block: [u32; 8],
    used: usize,
}

impl Words {
    fn new(seed: Seed) -> Words {
        Words {
            seed,
            counter: 0,
            block: [0; 8],
            used: 8,
        }
    }

    fn next(&mut self) -> u32 {
        if self.used >= self.block.len() {
            let mut input = [0; 40];
            let (seed, counter) = input.split_at_mut(32);
            seed.copy_from_slice(&self.seed.0);
            counter.copy_from_slice(&self.counter.to_le_bytes());
            let hash = digest(&SHA256, &input);
            for (word, bytes) in self.block.iter_mut().zip(hash.as_ref().as_chunks().0) {
                *word = u32::from_le_bytes(*bytes);
            }
            self.counter += 1;
            self.used = 0;
        }
        let word = self.block.get(self.used).copied().unwrap_or_default();
        self.used += 1;
        word
    }

    /// A uniformly distributed number below `bound`, which is not 0. Skips words above its last multiple.
    fn below(&mut self, bound: u32) -> u32 {
        let excess = u32::MAX % bound;
        loop {
            let word = self.next();
            if word < u32::MAX - excess {
                return word % bound;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_occurs_once() {
        for size in [1, 2, 7, 50_000] {
            let mut order = order(Seed([7; 32]), size);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..size));
        }
    }

    /// If this fails, existing lists would issue indices twice.
    #[test]
    fn the_order_never_changes() {
        let order = order(Seed([1; 32]), 10);
        // Computed by another program, from the description above.
        assert_eq!(order, [2, 4, 7, 6, 3, 9, 1, 0, 5, 8]);
    }

    #[test]
    fn different_seeds_give_different_orders() {
        assert_ne!(order(Seed([1; 32]), 100), order(Seed([2; 32]), 100));
        assert_ne!(Seed::random().unwrap(), Seed::random().unwrap());
    }

    /// Each of the 24 orders of four should occur about equally often: chi-squared with 23 degrees
    /// of freedom is above 49.7 only once in a thousand times; the seeds are fixed.
    #[test]
    fn orders_are_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        let draws = 2400_u32;
        for draw in 0..draws {
            let mut seed = [0; 32];
            seed[..4].copy_from_slice(&draw.to_le_bytes());
            *counts.entry(order(Seed(seed), 4)).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let expected = f64::from(draws) / 24.0;
        let chi: f64 = counts
            .values()
            .map(|&count| (f64::from(count) - expected).powi(2) / expected)
            .sum();
        assert!(chi < 49.7, "{chi}");
    }
}
