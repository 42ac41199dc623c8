use std::time::Duration;

use plan::{Rate, Stage};

use crate::Pacer;

/// Iterations at a rate that follows straight lines between stages.
///
/// ```text
///  rate
///   b ┤        ╱│        Within a stage of length T the rate at time t is
///     │      ╱  │            r(t) = a + (b − a)·t/T,
///   a ┤────╱    │        and the iterations begun by then are its integral,
///     │         │            N(t) = a·t + (b − a)·t²/(2T).
///     └─────────┴── t    Iteration n starts where N(t) = n. With the slope
///     0         T        s = (b − a)/T, the root of s/2·t² + a·t = n is
///                            t = 2n / (a + √(a² + 2·s·n)),
/// ```
///
/// which is the quadratic formula turned round, so that it neither divides by
/// a slope of zero nor loses digits where `s` is small.
#[derive(Clone, Debug)]
pub struct RampingRate {
    segments: Vec<Segment>,
}

/// One stage, with what came before it. Rates are iterations per nanosecond.
#[derive(Clone, Debug)]
struct Segment {
    begins: Duration,
    length: f64,
    from: f64,
    to: f64,
    /// Iterations begun before it. Kept apart from the share within the
    /// stage, so that a late stage is computed as exactly as an early one.
    before: f64,
    within: f64,
}

impl RampingRate {
    /// From `start` through `stages`, whose targets are iterations per
    /// `start.per`. A stage without duration is a jump.
    pub fn new(start: Rate, stages: &[Stage]) -> Self {
        let per = start.per.as_nanos().max(1) as f64;
        let mut from = start.count as f64 / per;
        let mut begins = Duration::ZERO;
        let mut before = 0.0;
        let mut segments = Vec::with_capacity(stages.len());
        for stage in stages {
            let to = stage.target as f64 / per;
            let length = stage.duration.as_nanos() as f64;
            let within = (from + to) / 2.0 * length;
            if !stage.duration.is_zero() {
                segments.push(Segment { begins, length, from, to, before, within });
            }
            before += within;
            begins = begins.saturating_add(stage.duration);
            from = to;
        }
        RampingRate { segments }
    }
}

impl Pacer for RampingRate {
    fn start_of(&self, number: u64) -> Option<Duration> {
        let number = number as f64;
        // The stage in which the count passes `number`; stages in which
        // nothing starts are passed over.
        let place = self.segments.partition_point(|s| s.before + s.within <= number);
        let segment = self.segments.get(place)?;
        Some(segment.begins + segment.offset_of((number - segment.before).max(0.0)))
    }
}

impl Segment {
    fn offset_of(&self, iterations: f64) -> Duration {
        let slope = (self.to - self.from) / self.length;
        let under_root = (self.from * self.from + 2.0 * slope * iterations).max(0.0);
        let denominator = self.from + under_root.sqrt();
        let nanos = if denominator > 0.0 { 2.0 * iterations / denominator } else { 0.0 };
        Duration::from_nanos(nanos.clamp(0.0, self.length) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stage(seconds: u64, target: u64) -> Stage {
        Stage { duration: Duration::from_secs(seconds), target }
    }

    fn starts(start: u64, stages: &[Stage]) -> Vec<f64> {
        let rate = Rate { count: start, per: Duration::from_secs(1) };
        let pacer = RampingRate::new(rate, stages);
        (0..).map_while(|n| pacer.start_of(n)).map(|at| at.as_secs_f64()).collect()
    }

    #[test]
    fn a_level_stage_is_a_constant_rate() {
        let got = starts(2, &[stage(2, 2)]);
        assert_eq!(got, [0.0, 0.5, 1.0, 1.5]);
    }

    #[test]
    fn a_ramp_from_nothing_starts_along_the_root() {
        // N(t) = t²/2·10/10 s: iteration n at √(2n).
        let got = starts(0, &[stage(10, 10)]);
        assert_eq!(got.len(), 50);
        for (n, at) in got.iter().enumerate() {
            assert!((at - (2.0 * n as f64).sqrt()).abs() < 1e-6, "{n} at {at}");
        }
    }

    #[test]
    fn a_jump_takes_no_time_and_a_pause_starts_nothing() {
        let got = starts(0, &[stage(1, 0), stage(0, 2), stage(1, 2)]);
        assert_eq!(got, [1.0, 1.5]);
    }

    proptest! {
        #[test]
        fn counts_are_the_integral_and_starts_never_fall(
            start in 0u64..200,
            stages in prop::collection::vec((0u64..20, 0u64..200), 1..6),
        ) {
            let list: Vec<_> = stages.iter().map(|(d, t)| stage(*d, *t)).collect();
            let got = starts(start, &list);
            let mut from = start as f64;
            let mut integral = 0.0;
            for (seconds, target) in &stages {
                integral += (from + *target as f64) / 2.0 * *seconds as f64;
                from = *target as f64;
            }
            prop_assert!((got.len() as f64 - integral).abs() <= 1.0, "{} for {integral}", got.len());
            prop_assert!(got.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}
