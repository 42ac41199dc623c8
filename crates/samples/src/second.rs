//! The seconds of a run. A sample belongs to the second in which its event started.

use std::time::Duration;

use plimsoll_units::Moment;

/// One second of a run. Requests and iterations belong to the second in which they started, so
/// that an open model at 200/s has exactly 200 of them in each. See [`counted_at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunSecond {
    /// From 0.
    pub number: u64,
    /// Whether the load had ended: iterations still finish, but none start. The second in which the load ends is split
    /// in two, before and after that moment.
    pub after_load: bool,
}

/// Divides a run into seconds.
#[derive(Clone, Copy, Debug)]
pub struct RunClock {
    /// When the first second started.
    pub start: Moment,
    /// When iterations stop starting. `None` if an amount of work ends the run.
    pub load_end: Option<Moment>,
}

/// An event that starts later than this after its scheduled start counts at its actual start. This is the largest lag
/// of a generator in a valid run.
const MAX_VALID_LAG: Duration = Duration::from_millis(100);

/// The time at which a request or an iteration counts: its scheduled start in an open model, otherwise its actual
/// start. So a start that is a few milliseconds late stays in its second. A start that is later than [`MAX_VALID_LAG`] counts
/// when it happens, so that it does not improve the rate of a generator that cannot keep up.
#[inline]
pub fn counted_at(scheduled: Option<Moment>, started: Moment) -> Moment {
    match scheduled {
        Some(scheduled) if started.since(scheduled) <= MAX_VALID_LAG => scheduled,
        _ => started,
    }
}

const SECOND: Duration = Duration::from_secs(1);

impl RunClock {
    /// The second that contains a moment. Moments before the start belong to the first second.
    pub fn second_of(&self, at: Moment) -> RunSecond {
        RunSecond {
            number: at.since(self.start).as_secs(),
            after_load: self.load_end.is_some_and(|end| at >= end),
        }
    }

    /// The start and the end of a second. The end is the first moment of the next second.
    pub fn span_of(&self, second: RunSecond) -> (Moment, Moment) {
        let from = self.start + Duration::from_secs(second.number);
        let until = from + SECOND;
        match self.load_end {
            Some(end) if second.after_load => (from.max(end), until),
            Some(end) => (from, until.min(end)),
            None => (from, until),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::from_nanos((5_000 + millis) * 1_000_000)
    }

    #[test]
    fn a_late_start_counts_when_due_and_a_very_late_one_when_started() {
        assert_eq!(counted_at(None, at(7)), at(7));
        assert_eq!(counted_at(Some(at(995)), at(1_004)), at(995));
        assert_eq!(counted_at(Some(at(995)), at(1_200)), at(1_200));
    }

    #[test]
    fn a_moment_is_in_one_second_only() {
        let clock = RunClock {
            start: at(0),
            load_end: Some(at(2_500)),
        };
        for (millis, number, after_load) in [
            (0, 0, false),
            (999, 0, false),
            (1_000, 1, false),
            (2_499, 2, false),
            (2_500, 2, true),
            (3_000, 3, true),
        ] {
            let second = clock.second_of(at(millis));
            assert_eq!(second, RunSecond { number, after_load }, "{millis} ms");
            let (from, until) = clock.span_of(second);
            assert!(from <= at(millis) && at(millis) < until, "{millis} ms");
        }
        assert_eq!(clock.second_of(Moment::ZERO).number, 0);
    }
}
