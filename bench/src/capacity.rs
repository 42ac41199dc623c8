//! Servers with a known capacity: requests wait for their turn. Turns are computed, not slept, so
//! that late wake-ups do not reduce the capacity.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::arguments;

/// A number of workers, each of which serves one request at a time.
#[derive(Debug, Clone)]
pub struct Capacity {
    /// When each worker is free, in nanoseconds; one entry per worker.
    free: BinaryHeap<Reverse<u64>>,
    /// The time that a request occupies a worker.
    each: u64,
    /// Whether the response is due at the end of that time, or at its start (a bucket's token).
    at_end: bool,
}

impl Capacity {
    /// Parses `rate=2000/s`, a bucket that yields a token every half millisecond, or `pool=8x5ms`,
    /// eight workers with 5 ms each, whose capacity is 1,600/s.
    pub fn parse(text: &str) -> Result<Capacity, String> {
        const FORMS: &str = "a capacity is rate=2000/s or pool=8x5ms";
        let (law, rest) = text.split_once('=').ok_or(FORMS)?;
        let (workers, each, at_end) = match law {
            "rate" => {
                let rate = rest.strip_suffix("/s").and_then(|rate| rate.parse().ok());
                let rate: u64 = rate.filter(|rate| *rate > 0).ok_or(FORMS)?;
                (1, 1_000_000_000 / rate, false)
            }
            "pool" => {
                let (workers, each) = rest.split_once('x').ok_or(FORMS)?;
                let workers: usize = workers.parse().map_err(|_| FORMS)?;
                if !(1..=10_000).contains(&workers) {
                    return Err(FORMS.to_owned());
                }
                (workers, arguments::duration(each)?.as_nanos() as u64, true)
            }
            _ => return Err(FORMS.to_owned()),
        };
        Ok(Capacity {
            free: (0..workers).map(|_| Reverse(0)).collect(),
            each,
            at_end,
        })
    }

    /// When the response to a request that arrives now is due, in nanoseconds.
    pub fn due(&mut self, now: u64) -> u64 {
        let Reverse(free) = self.free.pop().unwrap_or(Reverse(0));
        let begin = free.max(now);
        self.free.push(Reverse(begin + self.each));
        if self.at_end {
            begin + self.each
        } else {
            begin
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of responses due within a second, if all requests arrive at its start.
    fn responses_within_a_second(law: &str) -> usize {
        let mut capacity = Capacity::parse(law).expect("a law");
        let second = 1_000_000_000;
        (0..10_000)
            .filter(|_| capacity.due(second) <= 2 * second)
            .count()
    }

    #[test]
    fn responses_never_exceed_the_capacity() {
        assert_eq!(responses_within_a_second("rate=2000/s"), 2_001);
        assert_eq!(responses_within_a_second("pool=8x5ms"), 1_600);
    }

    #[test]
    fn below_the_capacity_nothing_waits() {
        let mut pool = Capacity::parse("pool=2x5ms").expect("a law");
        // One every 3 ms: one or two workers are busy.
        for n in 1..100 {
            let received_at = n * 3_000_000;
            assert_eq!(pool.due(received_at), received_at + 5_000_000);
        }
        let mut bucket = Capacity::parse("rate=100/s").expect("a law");
        assert_eq!(bucket.due(50), 50);
        assert_eq!(bucket.due(51), 50 + 10_000_000);
    }

    #[test]
    fn invalid_laws_are_rejected() {
        for wrong in ["", "rate=0/s", "rate=5", "pool=0x5ms", "pool=5", "x=1"] {
            assert!(Capacity::parse(wrong).is_err(), "{wrong}");
        }
    }
}
