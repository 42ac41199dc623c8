//! Collects the values of series by second, for formats with one row per second.

use std::collections::BTreeMap;

/// Number of seconds that stay open for late samples of worker threads.
const OPEN_SECONDS: u64 = 3;

/// The values of the latest seconds, by series.
#[derive(Default)]
pub struct Windows<T> {
    open: BTreeMap<u64, BTreeMap<usize, T>>,
    /// The first second that may be open.
    first: u64,
}

impl<T: Default> Windows<T> {
    /// The value of a series in a second. If that second is complete, the sample goes to the next open second, so that
    /// no sample is missing.
    pub fn at(&mut self, second: u64, series: usize) -> &mut T {
        let second = second.max(self.first);
        self.open
            .entry(second)
            .or_default()
            .entry(series)
            .or_default()
    }

    /// Removes and returns the oldest second if it is complete.
    pub fn take_closed(&mut self) -> Option<(u64, BTreeMap<usize, T>)> {
        let newest = *self.open.keys().next_back()?;
        let oldest = *self.open.keys().next()?;
        (oldest + OPEN_SECONDS <= newest).then(|| self.take_oldest())?
    }

    /// Removes and returns the oldest second.
    pub fn take_oldest(&mut self) -> Option<(u64, BTreeMap<usize, T>)> {
        let (second, values) = self.open.pop_first()?;
        self.first = second + 1;
        Some((second, values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_samples_count_in_the_next_open_second() {
        let mut windows: Windows<u32> = Windows::default();
        for second in [0, 1, 1, 2, 3] {
            *windows.at(second, 7) += 1;
        }
        assert_eq!(windows.take_closed(), Some((0, BTreeMap::from([(7, 1)]))));
        assert_eq!(windows.take_closed(), None);
        *windows.at(0, 7) += 1;
        assert_eq!(windows.take_oldest(), Some((1, BTreeMap::from([(7, 3)]))));
        assert_eq!(windows.take_oldest(), Some((2, BTreeMap::from([(7, 1)]))));
        assert_eq!(windows.take_oldest(), Some((3, BTreeMap::from([(7, 1)]))));
        assert_eq!(windows.take_oldest(), None);
    }
}
