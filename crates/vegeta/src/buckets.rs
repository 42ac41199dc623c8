//! The buckets of a histogram.

use std::time::Duration;

/// The lower bounds of a histogram's buckets, in ascending order from 0. The last bucket has no upper bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets(Vec<Duration>);

/// More buckets than anyone reads, but few enough to search them for each hit.
const MAX_BUCKETS: usize = 1_000;

impl Buckets {
    /// Parses `[0,1ms,10ms]`.
    ///
    /// # Errors
    /// The problem and the expected format.
    pub fn parse(text: &str) -> Result<Buckets, String> {
        let hint = "write them like [0,1ms,10ms]";
        let inner = text
            .trim()
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .ok_or_else(|| format!("bad buckets: '{text}': {hint}"))?;
        let mut bounds = Vec::new();
        for bound in inner.split(',').map(str::trim) {
            let length = plimsoll_units::duration::needs_unit(bound)
                .and_then(|()| {
                    plimsoll_units::duration::parse(bound).map_err(|error| error.to_string())
                })
                .map_err(|error| format!("bad buckets: '{text}': {error}"))?;
            if bounds.last().is_some_and(|last| *last >= length) {
                return Err(format!(
                    "bad buckets: '{text}': {bound} is not above the one before it; {hint}"
                ));
            }
            if bounds.is_empty() && !length.is_zero() {
                bounds.push(Duration::ZERO);
            }
            bounds.push(length);
        }
        if bounds.len() > MAX_BUCKETS {
            return Err(format!(
                "bad buckets: there are {}, but the maximum is {MAX_BUCKETS}",
                bounds.len()
            ));
        }
        Ok(Buckets(bounds))
    }

    /// Number of buckets.
    #[allow(clippy::len_without_is_empty)] // There is at least one.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The index of the bucket for a latency.
    pub fn of(&self, latency: Duration) -> usize {
        self.0
            .partition_point(|bound| *bound <= latency)
            .saturating_sub(1)
    }

    /// Lower bounds, each with its upper bound if there is one.
    pub fn bounds(&self) -> impl Iterator<Item = (Duration, Option<Duration>)> {
        let uppers = self.0.iter().skip(1).copied().map(Some);
        self.0.iter().copied().zip(uppers.chain([None]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_is_in_the_bucket_whose_lower_bound_it_reaches() {
        let buckets = Buckets::parse("[1ms, 1.5s]").unwrap();
        let of = |text| buckets.of(plimsoll_units::duration::parse(text).unwrap());
        assert_eq!((of("0s"), of("999us"), of("1ms")), (0, 0, 1));
        assert_eq!((of("1499ms"), of("1.5s"), of("9h")), (1, 2, 2));
        assert_eq!(buckets.len(), 3);
    }

    #[test]
    fn invalid_buckets_are_reported() {
        for text in ["", "0,1ms", "[]", "[x]", "[5ms,1ms]", "[1ms,1ms]", "[5]"] {
            assert!(
                Buckets::parse(text).unwrap_err().starts_with("bad buckets"),
                "{text}"
            );
        }
    }
}
