use std::time::Duration;

use plan::Stage;

/// A number of users that follows straight lines between stages.
///
/// On the line from a to b over T the number at time t is a + (b − a)·t/T,
/// rounded down on the way up and up on the way down: a user comes when the
/// line has reached it whole, and goes as soon as the line has left it.
#[derive(Clone, Debug)]
pub struct UserCurve {
    start: u32,
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    begins: Duration,
    length: Duration,
    from: u32,
    to: u32,
}

impl UserCurve {
    /// From `start` users through `stages`. A stage without duration is a
    /// jump. Targets beyond `u32::MAX` are cut to it.
    pub fn new(start: u32, stages: &[Stage]) -> Self {
        let mut from = start;
        let mut begins = Duration::ZERO;
        let mut lines = Vec::with_capacity(stages.len());
        for stage in stages {
            let to = u32::try_from(stage.target).unwrap_or(u32::MAX);
            lines.push(Line { begins, length: stage.duration, from, to });
            begins = begins.saturating_add(stage.duration);
            from = to;
        }
        UserCurve { start, lines }
    }

    /// How many users run at `time`.
    pub fn users_at(&self, time: Duration) -> u32 {
        let passed = self.lines.partition_point(|line| line.ends() <= time);
        match self.lines.get(passed) {
            Some(line) if line.begins <= time => line.users_at(time - line.begins),
            _ => self.lines[..passed].last().map_or(self.start, |line| line.to),
        }
    }

    /// The first moment after `after` at which the number changes, and the
    /// number from then on.
    pub fn next_change(&self, after: Duration) -> Option<(Duration, u32)> {
        let now = self.users_at(after);
        let passed = self.lines.partition_point(|line| line.ends() <= after);
        for line in &self.lines[passed..] {
            let users = if line.begins > after { line.from } else { now };
            // A jump shows where the next line with a length begins.
            if line.begins > after && line.from != now && !line.length.is_zero() {
                return Some((line.begins, line.from));
            }
            if let Some(offset) = line.next_change(users) {
                let at = line.begins + offset;
                return Some((at, self.users_at(at)));
            }
        }
        let last = self.lines.last()?;
        (last.ends() > after && last.to != now).then(|| (last.ends(), last.to))
    }
}

impl Line {
    fn ends(&self) -> Duration {
        self.begins.saturating_add(self.length)
    }

    fn users_at(&self, offset: Duration) -> u32 {
        let (t, whole) = (offset.as_nanos(), self.length.as_nanos().max(1));
        let moved = |distance: u32| (u128::from(distance) * t / whole) as u32;
        if self.to >= self.from {
            self.from + moved(self.to - self.from)
        } else {
            self.from - moved(self.from - self.to)
        }
    }

    /// When, within the line, the number first differs from `users`, which
    /// the line has at some point.
    fn next_change(&self, users: u32) -> Option<Duration> {
        let whole = self.length.as_nanos();
        let (distance, steps) = if self.to >= self.from {
            (self.to - self.from, u128::from(users.saturating_sub(self.from)) + 1)
        } else {
            (self.from - self.to, u128::from(self.from.saturating_sub(users)) + 1)
        };
        if whole == 0 || u128::from(distance) < steps {
            return None;
        }
        let nanos = (steps * whole).div_ceil(u128::from(distance));
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn curve(start: u32, stages: &[(u64, u64)]) -> UserCurve {
        let stages: Vec<_> = stages
            .iter()
            .map(|(ms, target)| Stage { duration: Duration::from_millis(*ms), target: *target })
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

    #[test]
    fn users_come_one_by_one() {
        let curve = curve(1, &[(400, 5)]);
        assert_eq!(curve.users_at(Duration::ZERO), 1);
        assert_eq!(changes(&curve), [(100, 2), (200, 3), (300, 4), (400, 5)]);
    }

    #[test]
    fn users_go_one_by_one() {
        let curve = curve(3, &[(300, 0)]);
        assert_eq!(changes(&curve), [(100, 2), (200, 1), (300, 0)]);
    }

    #[test]
    fn a_stage_without_duration_jumps() {
        let curve = curve(0, &[(0, 10), (100, 10), (0, 3), (100, 3)]);
        assert_eq!(curve.users_at(Duration::ZERO), 10);
        assert_eq!(changes(&curve), [(100, 3)]);
    }

    #[test]
    fn a_jump_at_the_end_shows_at_the_end() {
        let curve = curve(4, &[(100, 4), (0, 1)]);
        assert_eq!(curve.users_at(Duration::from_millis(100)), 1);
        assert_eq!(curve.users_at(Duration::from_millis(99)), 4);
    }

    proptest! {
        #[test]
        fn changes_lead_through_every_number_and_agree_with_users_at(
            start in 0u32..30,
            stages in prop::collection::vec((1u64..500, 0u64..30), 1..6),
        ) {
            let curve = curve(start, &stages);
            let mut users = curve.users_at(Duration::ZERO);
            prop_assert_eq!(users, start);
            let mut at = Duration::ZERO;
            while let Some((time, next)) = curve.next_change(at) {
                prop_assert!(time > at);
                prop_assert_eq!(curve.users_at(time), next);
                prop_assert_eq!(curve.users_at(time - Duration::from_nanos(1)), users);
                prop_assert!(next.abs_diff(users) >= 1);
                users = next;
                at = time;
            }
            prop_assert_eq!(u64::from(users), stages[stages.len() - 1].1);
        }
    }
}
