//! Assigns a unique timestamp to each line of a measurement.

use std::collections::{HashMap, HashSet};

use super::line::LineStart;

/// Number of timestamps after which the older ones are forgotten.
const MAX_TIMESTAMPS: usize = 1 << 20;

/// The timestamps of recent lines, by measurement and tags.
///
/// Samples from several worker threads are not in chronological order, so knowing the latest timestamp is not enough.
#[derive(Default)]
pub struct Timestamps {
    numbers: HashMap<Vec<u8>, u32>,
    recent: HashSet<(u32, u128)>,
    older: HashSet<(u32, u128)>,
}

impl Timestamps {
    /// The number that identifies a measurement with its tags.
    pub fn number_of(&mut self, start: &LineStart) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let numbers = self.numbers.entry(start.measurement().to_vec());
        *numbers.or_insert(next)
    }

    /// Reserves and returns the first free timestamp that is not before `at`.
    pub fn free(&mut self, number: u32, mut at: u128) -> u128 {
        if self.recent.len() >= MAX_TIMESTAMPS {
            self.age();
        }
        while self.older.contains(&(number, at)) || !self.recent.insert((number, at)) {
            at += 1;
        }
        at
    }

    /// Forgets the timestamps that were reserved before the previous call.
    pub fn age(&mut self) {
        self.older = std::mem::take(&mut self.recent);
    }

    /// Forgets all timestamps.
    pub fn clear(&mut self) {
        *self = Timestamps::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_measurement_has_its_own_timestamp() {
        let mut timestamps = Timestamps::default();
        assert_eq!(timestamps.free(0, 10), 10);
        assert_eq!(timestamps.free(0, 11), 11);
        assert_eq!(timestamps.free(0, 10), 12);
        assert_eq!(timestamps.free(1, 10), 10);
        timestamps.age();
        assert_eq!(timestamps.free(0, 10), 13);
        timestamps.age();
        timestamps.age();
        assert_eq!(timestamps.free(0, 10), 10);
    }
}
