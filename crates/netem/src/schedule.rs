//! Tracks when a line with limited bandwidth is busy.

use std::collections::VecDeque;
use std::time::Duration;

use plimsoll_units::Moment;

/// Number of past busy times that are remembered. At 10,000 small pieces per second on an idle
/// line, this covers a tenth of a second, far longer than the delay of a relay that keeps up. On a
/// busy line, busy times merge, so it covers much more.
const REMEMBERED: usize = 1_024;

/// The times at which a line is busy, in order and without overlap.
#[derive(Debug, Default)]
pub struct Schedule {
    busy: VecDeque<Busy>,
    /// Times before this are forgotten and count as busy.
    remembered_from: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Busy {
    start: Moment,
    end: Moment,
}

impl Schedule {
    /// Reserves the first `need` of free time from `entered` on, in one or more parts, and returns when the last part
    /// ends. If `need` is 0, returns the first free moment.
    pub fn reserve(&mut self, entered: Moment, need: Duration) -> Moment {
        let mut at = entered.max(self.remembered_from);
        let first = self.first_after(at);
        let mut start = at;
        let mut left = need;
        let mut index = first;
        while let Some(next) = self.busy.get(index) {
            let free = next.start.since(at);
            if next.start > at && left <= free {
                break;
            }
            left -= free;
            start = start.min(next.start);
            at = next.end;
            index += 1;
        }
        let end = at + left;
        if need.is_zero() {
            return end;
        }
        // All busy times that were passed become one, including the free time between them.
        self.busy.drain(first..index);
        self.busy.insert(first, Busy { start, end });
        if self.busy.len() > REMEMBERED
            && let Some(forgotten) = self.busy.pop_front()
        {
            self.remembered_from = forgotten.end;
        }
        end
    }

    /// The first moment from `now` on at which the line is free.
    pub fn idle_from(&self, now: Moment) -> Moment {
        let mut at = now.max(self.remembered_from);
        let mut index = self.first_after(at);
        while let Some(next) = self.busy.get(index).filter(|next| next.start <= at) {
            at = next.end;
            index += 1;
        }
        at
    }

    /// The index of the first busy time that ends at or after `moment`.
    fn first_after(&self, moment: Moment) -> usize {
        self.busy.partition_point(|busy| busy.end < moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Moment {
        Moment::ZERO + Duration::from_micros(micros)
    }

    const fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn pieces_in_order_wait_for_the_ones_before_them() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.reserve(at(10), micros(5)), at(15));
        assert_eq!(schedule.reserve(at(12), micros(5)), at(20));
        assert_eq!(schedule.idle_from(at(13)), at(20));
        assert_eq!(schedule.idle_from(at(9)), at(9));
        assert_eq!(schedule.reserve(at(20), micros(5)), at(25));
        assert_eq!(schedule.reserve(at(40), micros(5)), at(45));
        assert_eq!(schedule.idle_from(at(30)), at(30));
        // Nothing to send, for example the end of a stream. It still waits for its turn.
        assert_eq!(schedule.reserve(at(41), Duration::ZERO), at(45));
        assert_eq!(schedule.reserve(at(46), Duration::ZERO), at(46));
    }

    #[test]
    fn a_piece_that_is_reported_late_uses_the_time_that_was_free() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.reserve(at(100), micros(10)), at(110));
        assert_eq!(schedule.reserve(at(50), micros(10)), at(60));
        // The first fits exactly, the second not at all, the third in part.
        assert_eq!(schedule.reserve(at(60), micros(40)), at(100));
        assert_eq!(schedule.reserve(at(55), micros(1)), at(111));
        assert_eq!(schedule.reserve(at(40), micros(15)), at(116));
    }

    #[test]
    fn forgotten_times_count_as_busy_and_memory_is_bounded() {
        let mut schedule = Schedule::default();
        for n in 0..100_000 {
            assert_eq!(schedule.reserve(at(n * 10), micros(1)), at(n * 10 + 1));
        }
        assert!(schedule.busy.len() <= REMEMBERED);
        let oldest = schedule.remembered_from;
        assert!(oldest > at(900_000), "{oldest:?}");
        assert_eq!(schedule.reserve(at(3), micros(1)), oldest + micros(1));
    }

    /// Random pieces, reported in random order. The line is busy exactly when a first-in, first-out
    /// line is busy. No piece is sent sooner than its size allows. Pieces in order are sent as by a
    /// first-in, first-out line.
    #[test]
    fn the_line_is_busy_exactly_as_long_as_its_bytes_need_in_any_order() {
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut below = |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % limit
        };
        for _ in 0..500 {
            let span = 1 + below(2_000);
            let mut pieces: Vec<(Moment, Duration)> = (0..200)
                .map(|_| (at(below(span)), micros(1 + below(20))))
                .collect();
            pieces.sort();
            let mut free = Moment::ZERO;
            let mut in_order = Schedule::default();
            let mut expected: Vec<Busy> = Vec::new();
            for (entered, need) in &pieces {
                let start = free.max(*entered);
                free = start + *need;
                assert_eq!(in_order.reserve(*entered, *need), free);
                match expected.last_mut() {
                    Some(last) if last.end == start => last.end = free,
                    _ => expected.push(Busy { start, end: free }),
                }
            }
            for index in (1..pieces.len()).rev() {
                let other = below(index as u64 + 1) as usize;
                pieces.swap(index, other);
            }
            let mut shuffled = Schedule::default();
            for (entered, need) in &pieces {
                assert!(shuffled.reserve(*entered, *need) >= *entered + *need);
            }
            for schedule in [in_order, shuffled] {
                let mut merged: Vec<Busy> = Vec::new();
                for busy in schedule.busy {
                    match merged.last_mut() {
                        Some(last) if last.end == busy.start => last.end = busy.end,
                        _ => merged.push(busy),
                    }
                }
                assert_eq!(merged, expected);
            }
        }
    }
}
