//! Computes periods and totals from counters.

use std::time::Duration;

use plimsoll_units::Moment;

use crate::flow::Snapshot;
use crate::report::{Part, Period, RoundTrips, Total};
use crate::results::Omitted;

/// Tracks the counters of a test's streams.
pub struct Meter {
    /// The start of the counted time, which follows the omitted seconds.
    began: Moment,
    omitting: bool,
    /// The start of the current period.
    since: Moment,
    tracks: Vec<Track>,
}

/// The counts of one stream.
#[derive(Clone, Copy, Default)]
struct Track {
    /// The counters at the start of the counted time.
    base: Snapshot,
    last: Snapshot,
    largest_congestion_window: u64,
    largest_send_window: u64,
    round_trips: RoundTrips,
}

impl Meter {
    /// `first` contains a snapshot for each stream.
    pub fn new(now: Moment, omitting: bool, first: &[Snapshot]) -> Self {
        let track = |snapshot: &Snapshot| Track {
            base: *snapshot,
            last: *snapshot,
            ..Track::default()
        };
        Meter {
            began: now,
            omitting,
            since: now,
            tracks: first.iter().map(track).collect(),
        }
    }

    pub fn is_omitting(&self) -> bool {
        self.omitting
    }

    /// The length of the current period so far.
    pub fn running(&self, now: Moment) -> Duration {
        now.since(self.since)
    }

    /// The length of the counted time so far.
    pub fn elapsed(&self, now: Moment) -> Duration {
        now.since(self.began)
    }

    /// Ends the current period.
    pub fn period(&mut self, now: Moment, snapshots: &[Snapshot]) -> Period {
        let start = self.since.since(self.began);
        self.since = now;
        Period {
            start,
            end: now.since(self.began),
            omitted: self.omitting,
            parts: self
                .tracks
                .iter_mut()
                .zip(snapshots)
                .map(|(track, snapshot)| track.part(snapshot))
                .collect(),
        }
    }

    /// Starts the counted time.
    pub fn count_from(&mut self, now: Moment, snapshots: &[Snapshot]) {
        *self = Meter::new(now, false, snapshots);
    }

    /// The totals of the counted time.
    pub fn totals(&self, now: Moment, snapshots: &[Snapshot]) -> Vec<Total> {
        let time = self.elapsed(now);
        self.tracks
            .iter()
            .zip(snapshots)
            .map(|(track, snapshot)| track.total(time, snapshot))
            .collect()
    }
}

impl Track {
    fn part(&mut self, now: &Snapshot) -> Part {
        let last = std::mem::replace(&mut self.last, *now);
        if let Some(tcp) = &now.tcp {
            self.largest_congestion_window =
                self.largest_congestion_window.max(tcp.congestion_window);
            self.largest_send_window = self.largest_send_window.max(tcp.send_window);
            self.round_trips.add(tcp.round_trip);
        }
        Part {
            bytes: now.bytes.saturating_sub(last.bytes),
            retransmits: retransmits(&last, now),
            tcp: now.tcp,
            packets: now.packets.saturating_sub(last.packets),
            lost: now.lost.saturating_sub(last.lost),
            jitter: now.jitter,
        }
    }

    fn total(&self, time: Duration, now: &Snapshot) -> Total {
        Total {
            time,
            bytes: now.bytes.saturating_sub(self.base.bytes),
            retransmits: retransmits(&self.base, now),
            largest_congestion_window: self.largest_congestion_window,
            largest_send_window: self.largest_send_window,
            round_trips: self.round_trips,
            packets: now.packets.saturating_sub(self.base.packets),
            lost: now.lost.saturating_sub(self.base.lost),
            out_of_order: now.out_of_order.saturating_sub(self.base.out_of_order),
            jitter: now.jitter,
            omitted: Omitted {
                lost: self.base.lost,
                packets: self.base.packets,
            },
        }
    }
}

fn retransmits(from: &Snapshot, to: &Snapshot) -> Option<u64> {
    let before = from.tcp.map_or(0, |tcp| tcp.retransmits);
    Some(to.tcp?.retransmits.saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::TcpState;

    fn at(ms: u64) -> Moment {
        Moment::ZERO + Duration::from_millis(ms)
    }

    fn seen(bytes: u64, retransmits: u64) -> Vec<Snapshot> {
        vec![Snapshot {
            bytes,
            packets: bytes / 10,
            lost: retransmits,
            tcp: Some(TcpState {
                retransmits,
                congestion_window: bytes,
                round_trip: Duration::from_millis(bytes),
                ..TcpState::default()
            }),
            ..Snapshot::default()
        }]
    }

    #[test]
    fn omitted_time_is_in_periods_but_not_in_totals() {
        let mut meter = Meter::new(at(0), true, &seen(0, 0));
        let period = meter.period(at(1000), &seen(500, 2));
        assert!(period.omitted);
        assert_eq!(
            (period.start, period.end),
            (Duration::ZERO, Duration::from_secs(1))
        );
        meter.count_from(at(1000), &seen(500, 2));
        let period = meter.period(at(2000), &seen(800, 2));
        assert_eq!(
            (period.start, period.end),
            (Duration::ZERO, Duration::from_secs(1))
        );
        assert_eq!(
            (period.parts[0].bytes, period.parts[0].retransmits),
            (300, Some(0))
        );
        let period = meter.period(at(2500), &seen(900, 5));
        assert_eq!(
            (period.parts[0].bytes, period.parts[0].retransmits),
            (100, Some(3))
        );
        let [total] = meter.totals(at(2600), &seen(950, 5))[..] else {
            panic!("one stream has one total");
        };
        assert_eq!(total.time, Duration::from_millis(1600));
        assert_eq!(
            (total.bytes, total.retransmits, total.packets, total.lost),
            (450, Some(3), 45, 3)
        );
        assert_eq!(
            total.omitted,
            Omitted {
                lost: 2,
                packets: 50
            }
        );
        assert_eq!(total.largest_congestion_window, 900);
        assert_eq!(total.round_trips.mean(), Duration::from_millis(850));
        assert_eq!(total.round_trips.min, Duration::from_millis(800));
    }
}
