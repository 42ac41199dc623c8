//! Arrivals at a rate that changes linearly within each stage.

use std::time::Duration;

use plimsoll_plan::{Rate, Stage};

use crate::Pacer;

/// Iterations at a rate that follows straight lines between stages.
///
/// ```text
///  rate
///   b ┤        ╱│        Within a stage of length T the rate at time t is
///     │      ╱  │            r(t) = a + (b − a)·t/T,
///   a ┤────╱    │        and the iterations due by then are its integral,
///     │         │            N(t) = a·t + (b − a)·t²/(2T).
///     └─────────┴── t    The n-th iteration, counted from 1, starts where
///     0         T        N(t) = n. With R = 2n the root is
///                            t = R / (a + √(a² + (b − a)·R/T)),
/// ```
///
/// This is the quadratic formula rewritten with the root in the denominator: it does not divide by
/// a slope of zero, and it keeps its precision where the slope is small. The floating-point root is
/// exact up to rounding. Integer arithmetic then finds the exact nanosecond, so rounding errors do
/// not accumulate over the stages: iteration n starts at the first nanosecond where N(t) ≥ n. The
/// last nanosecond of a stage belongs to that stage.
#[derive(Clone, Debug)]
pub struct RampingRate {
    /// The time unit of all rates, in nanoseconds.
    per: u128,
    lines: Vec<Line>,
}

/// One stage with a duration. Counts are in units of 1/(2·per) iterations, so that they are whole
/// numbers at every boundary.
#[derive(Clone, Debug)]
struct Line {
    begins: Duration,
    length: u64,
    from: u64,
    to: u64,
    /// Iterations due before the stage starts.
    before: u128,
    /// Iterations due when the stage ends.
    after: u128,
}

impl RampingRate {
    /// A ramp from `start` through `stages`, whose targets are iterations per `start.per`. A stage
    /// without a duration is a jump.
    pub fn new(start: Rate, stages: &[Stage]) -> Self {
        let (mut from, mut begins, mut before) = (start.count, Duration::ZERO, 0u128);
        let mut lines = Vec::with_capacity(stages.len());
        for stage in stages {
            let length = u64::try_from(stage.duration.as_nanos()).unwrap_or(u64::MAX);
            let within =
                (u128::from(from) + u128::from(stage.target)).saturating_mul(length.into());
            let after = before.saturating_add(within);
            if length > 0 {
                lines.push(Line {
                    begins,
                    length,
                    from,
                    to: stage.target,
                    before,
                    after,
                });
            }
            (from, before) = (stage.target, after);
            begins = begins.saturating_add(stage.duration);
        }
        RampingRate {
            per: start.per.as_nanos().max(1),
            lines,
        }
    }
}

impl Pacer for RampingRate {
    fn start_of(&self, number: u64) -> Option<Duration> {
        let due = (u128::from(number) + 1).checked_mul(2 * self.per)?;
        // Skip stages in which no iteration becomes due.
        let line = self
            .lines
            .get(self.lines.partition_point(|line| line.after < due))?;
        let offset = Duration::from_nanos(line.offset_of(due - line.before));
        Some(line.begins.saturating_add(offset))
    }
}

impl Line {
    /// The first nanosecond of the line at which `count` iterations are due. The caller guarantees that
    /// they are due by the end of the line.
    fn offset_of(&self, count: u128) -> u64 {
        let (a, b) = (self.from as f64, self.to as f64);
        let (count_f, length) = (count as f64, self.length as f64);
        let under_root = (a * a + (b - a) * count_f / length).max(0.0);
        // The conversion saturates, even for 0/0: a line with zero slope and zero rate, on which no
        // iteration becomes due.
        let guess = (count_f / (a + under_root.sqrt())) as u64;
        let (mut low, mut high) = (
            guess.saturating_sub(2),
            guess.saturating_add(2).min(self.length),
        );
        if low >= high || self.is_due(count, low) || !self.is_due(count, high) {
            // The rounding error exceeds the bracket, for example near the end of a line that falls to zero:
            // search the whole line.
            (low, high) = (0, self.length);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.is_due(count, middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        high
    }

    /// Whether `count` iterations are due at offset `t`. With both sides multiplied by T: 2aT·t + (b −
    /// a)·t² ≥ count·T.
    fn is_due(&self, count: u128, t: u64) -> bool {
        let (length, t) = (u128::from(self.length), u128::from(t));
        let (a, b) = (u128::from(self.from), u128::from(self.to));
        let exact = || {
            // 2aT·t + (b − a)·t² equals a·t·(2T − t) + b·t², which has no negative term because t ≤ T.
            let falling = (2 * length)
                .checked_sub(t)?
                .checked_mul(t)?
                .checked_mul(a)?;
            let rising = t.checked_mul(t)?.checked_mul(b)?;
            Some(falling.checked_add(rising)? >= count.checked_mul(length)?)
        };
        exact().unwrap_or_else(|| {
            // The numbers overflow only for rates and stages far beyond any machine: decide with floats.
            let (part, a, b) = (t as f64 / length as f64, a as f64, b as f64);
            t as f64 * (a * (2.0 - part) + b * part) >= count as f64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stage(seconds: u64, target: u64) -> Stage {
        Stage {
            duration: Duration::from_secs(seconds),
            target,
        }
    }

    fn starts(start: u64, stages: &[Stage]) -> Vec<Duration> {
        let rate = Rate {
            count: start,
            per: Duration::from_secs(1),
        };
        let pacer = RampingRate::new(rate, stages);
        (0..).map_while(|n| pacer.start_of(n)).collect()
    }

    #[test]
    fn a_level_stage_has_a_constant_rate_from_the_first_interval() {
        let got = starts(2, &[stage(2, 2)]);
        assert_eq!(got, [500, 1000, 1500, 2000].map(Duration::from_millis));
    }

    #[test]
    fn a_ramp_from_zero_follows_the_square_root() {
        // N(t) = t²/2 with t in seconds: the n-th iteration starts at √(2n).
        let got = starts(0, &[stage(10, 10)]);
        assert_eq!(got.len(), 50);
        for (n, at) in (1..).zip(got) {
            let root = (2.0 * f64::from(n)).sqrt();
            assert!((at.as_secs_f64() - root).abs() < 1e-8, "{n} at {at:?}");
        }
        assert_eq!(
            starts(0, &[stage(10, 10)]).last(),
            Some(&Duration::from_secs(10))
        );
    }

    /// Observed in k6 v1.8.1 for 0→10/s in 4 s; k6 was up to 3 ms late.
    #[test]
    fn start_times_match_k6() {
        let observed = [
            896, 1266, 1551, 1791, 2002, 2192, 2368, 2531, 2685, 2830, 2968, 3100,
        ];
        let got = starts(0, &[stage(4, 10)]);
        assert_eq!(got.len(), 20);
        for (at, observed) in got.iter().zip(observed) {
            let late = observed as f64 - at.as_secs_f64() * 1e3;
            assert!((-1.0..3.0).contains(&late), "{at:?}, k6: {observed} ms");
        }
    }

    #[test]
    fn a_ramp_to_zero_ends_exactly() {
        let got = starts(10, &[stage(2, 0)]);
        assert_eq!(got.len(), 10);
        assert_eq!(got.last(), Some(&Duration::from_secs(2)));
    }

    #[test]
    fn a_jump_takes_no_time_and_a_pause_starts_nothing() {
        let got = starts(
            0,
            &[
                stage(1, 0),
                stage(0, 2),
                stage(1, 2),
                stage(3, 0),
                stage(5, 0),
            ],
        );
        assert_eq!(got[..2], [1500, 2000].map(Duration::from_millis));
        assert_eq!(got.len(), 5);
        assert_eq!(got.last(), Some(&Duration::from_secs(5)));
    }

    #[test]
    fn impossible_stages_do_not_panic() {
        let long = Stage {
            duration: Duration::MAX,
            target: u64::MAX,
        };
        let pacer = RampingRate::new(
            Rate {
                count: u64::MAX,
                per: Duration::ZERO,
            },
            &[long, long],
        );
        assert!(pacer.start_of(0).is_some());
        let _ = pacer.start_of(u64::MAX);
        let slow = RampingRate::new(
            Rate {
                count: 1,
                per: Duration::MAX,
            },
            &[long],
        );
        let _ = slow.start_of(u64::MAX);
    }

    #[test]
    fn rounding_errors_do_not_accumulate_over_a_day() {
        let day = 86_400;
        let got = RampingRate::new(
            Rate {
                count: 0,
                per: Duration::from_secs(1),
            },
            &[stage(day, 20_000), stage(0, 20_000), stage(10, 20_000)],
        );
        // The average rate is half the final rate, so this is half of the first day's iterations.
        let first_day = day * 10_000;
        assert_eq!(got.start_of(first_day - 1), Some(Duration::from_secs(day)));
        let next = Duration::from_secs(day) + Duration::from_micros(50);
        assert_eq!(got.start_of(first_day), Some(next));
    }

    proptest! {
        #[test]
        fn counts_are_the_integral_and_starts_never_decrease(
            start in 0u64..200,
            stages in prop::collection::vec((0u64..20, 0u64..200), 1..6),
        ) {
            let list: Vec<_> = stages.iter().map(|(d, t)| stage(*d, *t)).collect();
            let got = starts(start, &list);
            let (mut from, mut twice) = (start, 0);
            for (seconds, target) in &stages {
                twice += (from + target) * seconds;
                from = *target;
            }
            prop_assert_eq!(got.len() as u64, twice / 2);
            prop_assert!(got.windows(2).all(|pair| pair[0] <= pair[1]));
        }

        #[test]
        fn each_iteration_starts_in_the_first_nanosecond_when_it_is_due(
            from in 0u64..100_000,
            to in 0u64..100_000,
            length in 1u64..100_000_000_000,
            part in 0.0..1.0f64,
        ) {
            let line = Line {
                begins: Duration::ZERO,
                length,
                from,
                to,
                before: 0,
                after: u128::from(from + to) * u128::from(length),
            };
            let count = ((line.after as f64 * part) as u128).clamp(1.min(line.after), line.after);
            let at = line.offset_of(count);
            prop_assert!(line.is_due(count, at));
            prop_assert!(at == 0 || !line.is_due(count, at - 1));
        }
    }
}
