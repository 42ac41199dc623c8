//! Computes when bytes that enter a line leave it. This module reads no clock: all moments are
//! parameters.
//!
//! A piece that enters at `t` uses the first `size ÷ rate` of free line time from `t` on. Then it
//! travels for half a round trip:
//!
//! ```text
//! sent = when the line has had `size ÷ rate` of free time since t
//! out  = sent + round trip ÷ 2 ± jitter ÷ 2
//! ```
//!
//! Pieces that enter in the order of `t` leave first in, first out. A busy relay may read and
//! report a piece late, after pieces that entered later. [`Schedule`](crate::schedule) then gives
//! it line time that was free since `t`. So a late piece never delays another one while the line
//! was idle, and the line is busy exactly as long as its bytes need.
//!
//! Pieces of one flow never overtake each other: `out` is never before the `out` of the previous
//! piece.

use std::time::Duration;

use plimsoll_units::{Bytes, Moment};

use crate::Link;
use crate::schedule::Schedule;

/// Payload of a full Ethernet packet with TCP and its usual options, RFC 9293 §3.7.1 and RFC 7323.
const SEGMENT: u64 = 1448;

/// One direction of a link, shared by all its traffic.
#[derive(Debug)]
pub struct Line {
    link: Link,
    schedule: Schedule,
    random: Random,
}

/// The state of one connection, or of one pair of addresses. Its pieces never overtake each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    /// When its last piece entered the line.
    entered: Moment,
    /// When its last piece leaves.
    last: Moment,
}

impl Flow {
    /// Returns when the next piece enters: at `at`, but not before the previous one. Arrival times are
    /// only accurate to a few microseconds, so a later piece may have an earlier time.
    pub fn enter(&mut self, at: Moment) -> Moment {
        self.entered = self.entered.max(at);
        self.entered
    }
}

/// The outcome of sending a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The piece leaves at this moment.
    Arrives(Moment),
    /// The piece is lost.
    Lost,
}

impl Line {
    /// Creates a line that has been idle. Equal seeds give the same jitter and losses.
    pub fn new(link: Link, seed: u64) -> Self {
        Line {
            link,
            schedule: Schedule::default(),
            random: Random::new(seed),
        }
    }

    /// The earliest moment at which a piece that entered at `entered` can leave, if it is the next one.
    pub fn earliest(&self, entered: Moment, size: Bytes) -> Moment {
        let need = self
            .link
            .rate
            .map_or(Duration::ZERO, |rate| rate.time_for(size));
        self.schedule.idle_from(entered) + need + (self.link.round_trip - self.link.jitter) / 2
    }

    /// Sends a packet. It occupies the line even if it is lost.
    pub fn packet(&mut self, flow: &mut Flow, entered: Moment, size: Bytes) -> Passage {
        let lost = self.loses(1);
        let out = self.transmit(flow, entered, size);
        if lost {
            Passage::Lost
        } else {
            Passage::Arrives(out)
        }
    }

    /// Sends a piece of a byte stream. A loss only delays it: a lost segment is retransmitted when the
    /// acknowledgements of later segments report the loss, one round trip later (fast retransmit, RFC
    /// 5681 §3.2). That also delays everything after it.
    pub fn stream(&mut self, flow: &mut Flow, entered: Moment, size: Bytes) -> Moment {
        let lost = self.loses(size.get().div_ceil(SEGMENT));
        let out = self.transmit(flow, entered, size);
        if lost {
            flow.last = out + self.link.round_trip;
        }
        flow.last
    }

    fn transmit(&mut self, flow: &mut Flow, entered: Moment, size: Bytes) -> Moment {
        let mut sent = entered;
        if let Some(rate) = self.link.rate {
            sent = self.schedule.reserve(entered, rate.time_for(size));
        }
        let half = self.link.round_trip / 2;
        let stray = self.link.jitter / 2;
        let travel = half - stray
            + (stray * 2).mul_f64(if stray.is_zero() {
                0.0
            } else {
                self.random.unit()
            });
        flow.last = flow.last.max(sent + travel);
        flow.last
    }

    fn loses(&mut self, packets: u64) -> bool {
        if self.link.loss == 0.0 || packets == 0 {
            return false;
        }
        let all_arrive = (1.0 - self.link.loss).powf(packets as f64);
        self.random.unit() >= all_arrive
    }
}

/// xorshift64* (Vigna, 2016): good enough for noise, and the same on every platform.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed ^ 0x9e37_79b9_7f4a_7c15 | 1)
    }

    /// A uniformly distributed number in [0, 1).
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_units::BitRate;

    const FAR: Link = Link {
        round_trip: Duration::from_millis(74),
        jitter: Duration::ZERO,
        rate: None,
        loss: 0.0,
    };

    fn at(millis: u64) -> Moment {
        Moment::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn half_a_round_trip_is_added_to_each_direction() {
        let mut line = Line::new(FAR, 1);
        let mut flow = Flow::default();
        assert_eq!(line.stream(&mut flow, at(100), Bytes(9)), at(137));
        assert_eq!(
            line.packet(&mut flow, at(101), Bytes(9)),
            Passage::Arrives(at(138))
        );
    }

    #[test]
    fn the_rate_spaces_pieces_and_is_shared_by_all_flows() {
        let link = Link {
            rate: BitRate::new(8_000_000),
            ..FAR
        };
        let mut line = Line::new(link, 1);
        let (mut one, mut two) = (Flow::default(), Flow::default());
        // The line sends a thousand bytes per millisecond.
        assert_eq!(line.stream(&mut one, at(0), Bytes(1000)), at(38));
        assert_eq!(line.stream(&mut two, at(0), Bytes(2000)), at(40));
        assert_eq!(line.earliest(at(1), Bytes(1000)), at(41));
        assert_eq!(line.stream(&mut one, at(10), Bytes(1000)), at(48));
        assert_eq!(line.earliest(at(50), Bytes(1000)), at(88));
    }

    #[test]
    fn later_bytes_do_not_delay_earlier_ones() {
        let link = Link {
            rate: BitRate::new(8_000_000),
            ..FAR
        };
        let mut line = Line::new(link, 1);
        let (mut new, mut established) = (Flow::default(), Flow::default());
        // The first thousand bytes of a new connection enter the line after the handshake, one round trip
        // from now.
        assert_eq!(line.stream(&mut new, at(74), Bytes(1000)), at(112));
        assert_eq!(line.earliest(at(0), Bytes(1000)), at(38));
        assert_eq!(line.stream(&mut established, at(1), Bytes(1000)), at(39));
        assert_eq!(line.stream(&mut established, at(74), Bytes(1000)), at(113));
    }

    #[test]
    fn jitter_stays_within_its_bounds_and_nothing_overtakes() {
        let link = Link {
            jitter: Duration::from_millis(4),
            ..FAR
        };
        let mut line = Line::new(link, 7);
        let (mut early, mut late) = (0, 0);
        let mut total = Duration::ZERO;
        for n in 0..10_000 {
            let mut flow = Flow::default();
            let out = line.stream(&mut flow, at(n * 100), Bytes(1));
            let travel = out.since(at(n * 100));
            assert!(
                (35..=39).contains(&(travel.as_millis() as u64)),
                "{travel:?}"
            );
            total += travel;
            if travel < Duration::from_millis(37) {
                early += 1
            } else {
                late += 1
            }
        }
        assert!(early > 4_800 && late > 4_800, "{early} early, {late} late");
        let mean = total / 10_000;
        assert!(
            mean.abs_diff(Duration::from_millis(37)) < Duration::from_micros(50),
            "{mean:?}"
        );
        let mut flow = Flow::default();
        let mut last = Moment::ZERO;
        for n in 0..10_000 {
            let out = line.stream(
                &mut flow,
                Moment::ZERO + Duration::from_micros(n * 10),
                Bytes(1),
            );
            assert!(out >= last);
            last = out;
        }
    }

    #[test]
    fn losses_match_their_share_and_delay_streams_by_a_round_trip() {
        let link = Link { loss: 0.1, ..FAR };
        let mut line = Line::new(link, 3);
        let lost = (0..10_000)
            .filter(|n| line.packet(&mut Flow::default(), at(*n), Bytes(100)) == Passage::Lost)
            .count();
        assert!((900..1_100).contains(&lost), "{lost} of 10,000 at 10 %");
        let mut travels: Vec<_> = (0..1_000)
            .map(|n| {
                line.stream(&mut Flow::default(), at(n * 1_000), Bytes(100))
                    .since(at(n * 1_000))
            })
            .collect();
        travels.sort();
        travels.dedup();
        assert_eq!(
            travels,
            [Duration::from_millis(37), Duration::from_millis(111)]
        );
    }
}
