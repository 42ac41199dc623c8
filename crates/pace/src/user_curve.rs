//! A number of users that changes linearly within each stage.

use std::time::Duration;

use plimsoll_plan::{Stage, Stripe};

/// A number of users that changes linearly within each stage.
///
/// On a line from a to b over T, the number at time t is a + (b − a)·t/T. It is rounded down while
/// it grows and up while it falls: a user starts when the line has fully reached it, and stops when
/// the line has left the number before. A part of a test has the users whose slots it owns, so each
/// user starts and stops at the same moment on whichever machine it runs.
#[derive(Clone, Debug)]
pub struct UserCurve {
    start: u32,
    lines: Vec<Line>,
    stripe: Stripe,
}

#[derive(Clone, Debug)]
struct Line {
    begins: Duration,
    length: Duration,
    from: u32,
    to: u32,
}

impl UserCurve {
    /// A curve from `start` users through `stages`. A stage without a duration is a jump. Targets above
    /// `u32::MAX` are reduced to it.
    pub fn new(start: u32, stages: &[Stage]) -> Self {
        let mut from = start;
        let mut begins = Duration::ZERO;
        let mut lines = Vec::with_capacity(stages.len());
        for stage in stages {
            let to = u32::try_from(stage.target).unwrap_or(u32::MAX);
            // Lines with equal targets and jumps contain no changes.
            lines.push(Line {
                begins,
                length: stage.duration,
                from,
                to,
            });
            begins = begins.saturating_add(stage.duration);
            from = to;
        }
        UserCurve {
            start,
            lines,
            stripe: Stripe::whole(),
        }
    }

    /// The part of the curve that belongs to `stripe`.
    #[must_use]
    pub fn striped(mut self, stripe: Stripe) -> Self {
        self.stripe = stripe;
        self
    }

    /// Number of users that run at `time`.
    pub fn users_at(&self, time: Duration) -> u32 {
        self.share(self.whole_at(time))
    }

    /// The first moment after `after` at which the number changes, and the new number.
    pub fn next_change(&self, after: Duration) -> Option<(Duration, u32)> {
        let now = self.users_at(after);
        let passed = self.lines.partition_point(|line| line.ends() <= after);
        let remaining = self.lines.get(passed..).unwrap_or_default();
        for line in remaining {
            // A jump takes effect where the next line with a length begins.
            if line.begins > after && !line.length.is_zero() && self.share(line.from) != now {
                return Some((line.begins, self.share(line.from)));
            }
            if let Some(at) = self.change_within(line, now).filter(|at| *at > after) {
                return Some((at, self.users_at(at)));
            }
        }
        let last = self.lines.last()?;
        let left = self.share(last.to);
        (last.ends() > after && left != now).then(|| (last.ends(), left))
    }

    /// The moment within the line when this part's number changes from `now`. The line starts at or
    /// before that moment. The slots give the number of the whole test at that moment, so no search is
    /// needed.
    fn change_within(&self, line: &Line, now: u32) -> Option<Duration> {
        let now = u64::from(now);
        let whole = if line.to >= line.from {
            // One more user runs when the whole number exceeds the slot of the next user.
            self.stripe.place(now)?.checked_add(1)?
        } else {
            // One user fewer runs when the whole number no longer exceeds the slot of the last user.
            self.stripe.place(now.checked_sub(1)?)?
        };
        let offset = line.reaches(u32::try_from(whole).ok()?)?;
        // At the end of the line the next line applies, which may start with a jump.
        (offset < line.length || line.to == self.whole_at(line.ends()))
            .then(|| line.begins.saturating_add(offset))
    }

    fn share(&self, whole: u32) -> u32 {
        // A part is never larger than the whole.
        self.stripe.share(u64::from(whole)) as u32
    }

    fn whole_at(&self, time: Duration) -> u32 {
        let passed = self.lines.partition_point(|line| line.ends() <= time);
        match self.lines.get(passed) {
            Some(line) if line.begins <= time => line.users_at(time - line.begins),
            _ => passed
                .checked_sub(1)
                .and_then(|last| self.lines.get(last))
                .map_or(self.start, |line| line.to),
        }
    }
}

impl Line {
    fn ends(&self) -> Duration {
        self.begins.saturating_add(self.length)
    }

    fn users_at(&self, offset: Duration) -> u32 {
        let (t, length) = (offset.as_nanos(), self.length.as_nanos().max(1));
        // Nanoseconds of a duration need 94 bits, users 32.
        let moved = |distance: u32| (u128::from(distance) * t / length) as u32;
        if self.to >= self.from {
            self.from + moved(self.to - self.from)
        } else {
            self.from - moved(self.from - self.to)
        }
    }

    /// The moment within the line, but after its start, when the number reaches `users`; `None` if it
    /// never does.
    fn reaches(&self, users: u32) -> Option<Duration> {
        let steps = if self.to >= self.from {
            users.checked_sub(self.from)?
        } else {
            self.from.checked_sub(users)?
        };
        let distance = self.from.abs_diff(self.to);
        if steps == 0 || steps > distance {
            return None;
        }
        let nanos = (u128::from(steps) * self.length.as_nanos()).div_ceil(u128::from(distance));
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::{Division, Segment, SegmentSequence};
    use proptest::prelude::*;

    fn curve(start: u32, stages: &[(u64, u64)]) -> UserCurve {
        let stages: Vec<_> = stages
            .iter()
            .map(|(ms, target)| Stage {
                duration: Duration::from_millis(*ms),
                target: *target,
            })
            .collect();
        UserCurve::new(start, &stages)
    }

    fn changes(curve: &UserCurve) -> Vec<(u64, u32)> {
        let mut at = Duration::ZERO;
        std::iter::from_fn(|| {
            let (time, users) = curve.next_change(at)?;
            at = time;
            Some((time.as_millis() as u64, users))
        })
        .collect()
    }

    fn stripes(sequence: &str) -> Vec<Stripe> {
        let borders: Vec<&str> = sequence.split(',').collect();
        let stripe = |pair: &[&str]| {
            let segment = Segment::parse(&format!("{}:{}", pair[0], pair[1])).unwrap();
            let sequence = SegmentSequence::parse(sequence).unwrap();
            Division::of(segment, &sequence).unwrap().stripe()
        };
        borders.windows(2).map(stripe).collect()
    }

    #[test]
    fn users_start_one_after_another() {
        let curve = curve(1, &[(400, 5)]);
        assert_eq!(curve.users_at(Duration::ZERO), 1);
        assert_eq!(changes(&curve), [(100, 2), (200, 3), (300, 4), (400, 5)]);
    }

    #[test]
    fn users_stop_one_by_one() {
        let curve = curve(3, &[(300, 0)]);
        assert_eq!(changes(&curve), [(100, 2), (200, 1), (300, 0)]);
    }

    /// Observed in k6 v1.8.1: the start of each user's first and last iteration.
    #[test]
    fn users_start_and_stop_when_k6s_do() {
        let stages = [(2000, 5), (2000, 1), (0, 4), (1000, 4), (0, 2), (1500, 0)];
        let expected = [
            (500, 2),
            (1000, 3),
            (1500, 4),
            (2000, 5),
            (2500, 4),
            (3000, 3),
            (3500, 2),
            (4000, 4),
            (5000, 2),
            (5750, 1),
            (6500, 0),
        ];
        assert_eq!(changes(&curve(1, &stages)), expected);
    }

    #[test]
    fn a_stage_without_duration_jumps() {
        let curve = curve(0, &[(0, 10), (100, 10), (0, 3), (100, 3)]);
        assert_eq!(curve.users_at(Duration::ZERO), 10);
        assert_eq!(changes(&curve), [(100, 3)]);
    }

    #[test]
    fn a_jump_at_the_end_takes_effect_at_the_end() {
        let curve = curve(4, &[(100, 4), (0, 1)]);
        assert_eq!(curve.users_at(Duration::from_millis(100)), 1);
        assert_eq!(curve.users_at(Duration::from_millis(99)), 4);
        assert_eq!(changes(&curve), [(100, 1)]);
    }

    #[test]
    fn a_small_part_of_a_million_users_needs_no_search() {
        let sequence = "0,1/100000,1";
        let part =
            curve(0, &[(1_000, 4_000_000_000), (1_000, 0)]).striped(stripes(sequence).remove(0));
        assert_eq!(part.users_at(Duration::from_secs(1)), 40_000);
        let mut at = Duration::ZERO;
        let mut seen = 0;
        while let Some((time, _)) = part.next_change(at) {
            assert!(time > at);
            at = time;
            seen += 1;
        }
        assert_eq!(seen, 80_000);
    }

    proptest! {
        #[test]
        fn changes_visit_every_number_and_agree_with_users_at(
            start in 0u32..30,
            stages in prop::collection::vec((0u64..500, 0u64..30), 1..6),
            part in 0usize..4,
        ) {
            let whole = Stripe::whole();
            let stripe = stripes("0,1/2,5/6,1").into_iter().nth(part).unwrap_or(whole);
            let curve = curve(start, &stages).striped(stripe);
            let mut users = curve.users_at(Duration::ZERO);
            let mut at = Duration::ZERO;
            while let Some((time, next)) = curve.next_change(at) {
                prop_assert!(time > at);
                prop_assert_eq!(curve.users_at(time), next);
                prop_assert_eq!(curve.users_at(time - Duration::from_nanos(1)), users);
                prop_assert_eq!(curve.users_at((time + at) / 2), users);
                prop_assert!(next != users);
                users = next;
                at = time;
            }
            prop_assert_eq!(users, curve.users_at(Duration::MAX));
        }

        #[test]
        fn the_parts_make_up_the_whole(
            start in 0u32..30,
            stages in prop::collection::vec((0u64..500, 0u64..30), 1..6),
            at in 0u64..3_000,
        ) {
            let whole = curve(start, &stages);
            let at = Duration::from_millis(at);
            let sum: u32 = stripes("0,1/7,1/2,5/6,1")
                .into_iter()
                .map(|stripe| whole.clone().striped(stripe).users_at(at))
                .sum();
            prop_assert_eq!(sum, whole.users_at(at));
        }
    }
}
