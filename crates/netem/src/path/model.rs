//! Tests a network path in virtual time: simulates new connections, and compares when their packets
//! leave the path with its definition: the configured delay, and a first-in, first-out line.
//!
//! Each connection sends one request and receives one response. The relay reads every packet up to
//! [`LATE`] after it entered, in random order, as it does in a burst of connections. Such lateness
//! must not change when a packet leaves.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes as Buffer;
use plimsoll_units::{BitRate, Bytes, Moment};

use super::{Entry, NetworkPath};
use crate::Link;
use crate::account::Side;
use crate::queue::Queue;

/// How late a packet may be read. Must be less than half of the round trip minus the decision time
/// and the jitter.
const LATE: Duration = Duration::from_millis(8);
const ROUND_TRIP: Duration = Duration::from_micros(26_400);
const JITTER: Duration = Duration::from_micros(500);
const SIZE: usize = 1_000;
/// The time that the server takes to respond.
const SERVICE: Duration = Duration::from_micros(100);

const DELAY: Link = Link {
    round_trip: ROUND_TRIP,
    jitter: Duration::ZERO,
    rate: None,
    loss: 0.0,
};

/// When each connection opens: from 1 to 2,000 new connections per second, and 1,000 at the same
/// moment.
fn patterns() -> Vec<(&'static str, Vec<Moment>)> {
    let at_rate = |per_second: u64, count: u64| {
        let nanos = |n: u64| n * 1_000_000_000 / per_second;
        (0..count).map(|n| Moment::from_nanos(nanos(n))).collect()
    };
    vec![
        ("1/s", at_rate(1, 60)),
        ("20/s", at_rate(20, 200)),
        ("200/s", at_rate(200, 2_000)),
        ("2,000/s", at_rate(2_000, 6_000)),
        // The connections open one nanosecond apart, so their order is defined.
        (
            "1,000 at once",
            (0..1_000).map(Moment::from_nanos).collect(),
        ),
    ]
}

fn limited() -> Link {
    Link {
        rate: BitRate::new(50_000_000),
        ..DELAY
    }
}

/// xorshift64 (Marsaglia, 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Sends one packet of each connection. The packets enter the line at the given moments. Returns
/// when each packet leaves; `None` if it is lost.
fn transmit(path: &NetworkPath, side: Side, entered: &[Moment]) -> Vec<Option<Moment>> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let queues: Vec<Rc<Queue>> = entered.iter().map(|_| Rc::default()).collect();
    let late = LATE.as_nanos() as u64;
    let mut reads: Vec<(Moment, usize)> = entered
        .iter()
        .enumerate()
        .map(|(n, at)| (*at + Duration::from_nanos(random.below(late)), n))
        .collect();
    reads.sort();
    let decision = || path.one_way(side).decision.get();
    for (now, n) in reads {
        while let Some(due) = decision().filter(|due| *due <= now) {
            path.decide(side, due);
        }
        let packet = Entry::Packet(Rc::clone(&queues[n]), Buffer::from_static(&[0; SIZE]));
        path.enter(side, entered[n], Bytes(SIZE as u64), packet);
    }
    while let Some(due) = decision() {
        path.decide(side, due);
    }
    let leaves = |queue: &Rc<Queue>| queue.pop().map(|(due, _)| due);
    queues.iter().map(leaves).collect()
}

/// When packets leave a first-in, first-out line without jitter (Lindley's recursion).
fn defined(link: Link, entered: &[Moment]) -> Vec<Moment> {
    let need = link
        .rate
        .map_or(Duration::ZERO, |rate| rate.time_for(Bytes(SIZE as u64)));
    let mut order: Vec<usize> = (0..entered.len()).collect();
    order.sort_by_key(|&n| entered[n]);
    let mut leaves = vec![Moment::ZERO; entered.len()];
    let mut free = Moment::ZERO;
    for n in order {
        free = free.max(entered[n]) + need;
        leaves[n] = free + link.round_trip / 2;
    }
    leaves
}

/// The simulated minus the expected time of each packet that arrives, in nanoseconds, in both
/// directions.
fn differences(link: Link, opened: &[Moment]) -> Vec<i64> {
    let path = NetworkPath::new(link, 7);
    // The first byte follows the handshake, which takes a round trip.
    let mut entered: Vec<Moment> = opened.iter().map(|at| *at + link.round_trip).collect();
    let mut differences = Vec::new();
    for side in [Side::Forward, Side::Backward] {
        let expected = defined(link, &entered);
        let left = transmit(&path, side, &entered);
        let pairs = left.iter().zip(&expected);
        differences.extend(pairs.filter_map(|(left, expected)| {
            left.map(|left| left.as_nanos() as i64 - expected.as_nanos() as i64)
        }));
        entered = left.iter().flatten().map(|left| *left + SERVICE).collect();
    }
    differences
}

#[test]
fn a_path_without_jitter_adds_exactly_its_delay_and_the_wait_for_the_line() {
    for link in [DELAY, limited()] {
        for (pattern, opened) in patterns() {
            let differences = differences(link, &opened);
            assert_eq!(differences.len(), 2 * opened.len());
            let wrong = differences.iter().filter(|nanos| **nanos != 0).count();
            assert_eq!(wrong, 0, "{}, {pattern}", link.describe());
        }
    }
}

#[test]
fn only_jitter_is_added_and_lost_packets_occupy_the_line() {
    let jitter = Link {
        jitter: JITTER,
        ..limited()
    };
    let lossy = Link {
        loss: 0.01,
        ..jitter
    };
    let bound = JITTER.as_nanos() as i64 / 2;
    for link in [jitter, lossy] {
        for (pattern, opened) in patterns() {
            let name = format!("{}, {pattern}", link.describe());
            let mut differences = differences(link, &opened);
            differences.sort_unstable();
            let (least, most) = (differences[0], differences[differences.len() - 1]);
            assert!(
                least >= -bound && most <= bound,
                "{name}: {least} to {most} ns"
            );
            // Five standard errors of the median of uniformly distributed values.
            let median = differences[differences.len() / 2];
            let error = 5.0 * bound as f64 / (differences.len() as f64).sqrt();
            assert!((median.abs() as f64) < error, "{name}: median {median} ns");
            if link.loss == 0.0 {
                assert_eq!(differences.len(), 2 * opened.len(), "{name}");
            }
        }
    }
}
