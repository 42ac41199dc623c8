//! Estimates the number of different series of a run, without storing them.
//!
//! Uses a HyperLogLog sketch (Flajolet, Fusy, Gandouet, Meunier 2007). The hash of a series selects one of 4096
//! registers, which stores the longest run of leading zeros in the rest of the hash. The sketch takes 4 KiB and has a
//! standard error of 1.6 %. Taking the larger of each pair of registers merges the sketches of two workers.

mod wire;

const REGISTER_BITS: u32 = 12;
const REGISTERS: usize = 1 << REGISTER_BITS;

#[derive(Clone, Debug)]
pub(crate) struct SeriesSketch {
    registers: Box<[u8; REGISTERS]>,
}

impl Default for SeriesSketch {
    fn default() -> Self {
        SeriesSketch {
            registers: Box::new([0; REGISTERS]),
        }
    }
}

impl SeriesSketch {
    /// Adds a series by its hash, which need not be uniformly distributed.
    #[inline]
    pub fn insert(&mut self, hash: u64) {
        let hash = mix(hash);
        let register = &mut self.registers[(hash >> (64 - REGISTER_BITS)) as usize];
        let rest = (hash << REGISTER_BITS) | 1 << (REGISTER_BITS - 1);
        let rank = rest.leading_zeros() as u8 + 1;
        *register = (*register).max(rank);
    }

    pub fn merge(&mut self, other: &SeriesSketch) {
        for (ours, theirs) in self.registers.iter_mut().zip(other.registers.iter()) {
            *ours = (*ours).max(*theirs);
        }
    }

    pub fn clear(&mut self) {
        self.registers.fill(0);
    }

    /// The approximate number of different series.
    pub fn estimate(&self) -> f64 {
        let m = REGISTERS as f64;
        let mut sum = 0.0;
        let mut untouched = 0;
        for &register in self.registers.iter() {
            sum += (-f64::from(register)).exp2();
            untouched += usize::from(register == 0);
        }
        let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        if raw <= 2.5 * m && untouched > 0 {
            // For small numbers, counts the unused registers instead (the paper's small range correction).
            m * (m / untouched as f64).ln()
        } else {
            raw
        }
    }
}

/// Spreads the entropy of a hash over all its bits (MurmurHash3's finalizer).
#[inline]
fn mix(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_accurate_at_every_size() {
        for count in [0u64, 10, 1_000, 10_000, 100_000, 1_000_000] {
            let mut sketch = SeriesSketch::default();
            for series in 0..count {
                sketch.insert(series);
                sketch.insert(series);
            }
            let error = (sketch.estimate() - count as f64).abs();
            assert!(
                error <= count as f64 * 0.05,
                "{count}: {}",
                sketch.estimate()
            );
        }
    }

    #[test]
    fn merging_counts_common_series_once() {
        let (mut a, mut b) = (SeriesSketch::default(), SeriesSketch::default());
        (0..60_000).for_each(|series| a.insert(series));
        (40_000..100_000).for_each(|series| b.insert(series));
        a.merge(&b);
        assert!((a.estimate() - 100_000.0).abs() < 5_000.0);
    }
}
