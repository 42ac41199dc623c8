//! Random arrivals around a schedule: Poisson, gamma and bursts.

use std::cell::RefCell;
use std::time::Duration;

use crate::Pacer;

/// The iterations of a schedule at random times, with the same density as the schedule.
///
/// The schedule maps the numbers 0 to N to times. Take N random points between 0 and N: the n-th
/// iteration starts at the time of the n-th point. The N + 1 gaps between the points are gamma
/// distributed with a common shape, given that their sum is N. With shape 1 the points are
/// independent of each other, and the arrivals are a Poisson process conditioned on its total.
///
/// Any point can be computed without the points before it, so every worker and every machine
/// computes the same times without communicating. The sum of the first m of n gaps is a
/// Beta(shape·m, shape·(n − m)) share of the sum of all gaps. So the code halves the gaps
/// repeatedly until it reaches a block of a few gaps. The random numbers depend only on the seed
/// and on the part that is halved.
#[derive(Debug)]
pub struct RandomArrivals<P> {
    whole: P,
    /// The end of the schedule, as time since its start.
    end: Duration,
    count: u64,
    shape: f64,
    seed: u64,
    block: RefCell<Block>,
}

/// Number of gaps that are computed together.
const BLOCK: u64 = 64;

/// More iterations than any run has, and still exact as a floating-point number.
const MAX_ITERATIONS: u64 = 1 << 50;

/// Ends of neighboring gaps, as shares of the whole.
#[derive(Clone, Debug, Default)]
struct Block {
    first: u64,
    ends: Vec<f64>,
}

impl<P: Pacer> RandomArrivals<P> {
    /// The iterations of `whole`, which ends at `end`, at random times. `shape` must be greater than 0.
    pub fn new(whole: P, end: Duration, shape: f64, seed: u64) -> Self {
        let is_due = |number: u64| whole.start_of(number).is_some();
        let (mut count, mut step) = (0, 1);
        while count < MAX_ITERATIONS && is_due(count + step - 1) {
            count += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if is_due(count + step - 1) {
                count += step;
            }
        }
        RandomArrivals {
            whole,
            end,
            count: count.min(MAX_ITERATIONS),
            shape,
            seed,
            block: RefCell::default(),
        }
    }

    /// Number of iterations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of iterations that the schedule has due by `time`, with a fraction: the position of
    /// `time` between 0 and N. The gaps between the positions of arrivals have the same distribution
    /// everywhere, with mean 1, for any schedule.
    pub fn place_at(&self, time: Duration) -> f64 {
        // Binary search for the first iteration that is later.
        let (mut before, mut after) = (0, self.count);
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            match self.time_after(middle) <= time {
                true => before = middle,
                false => after = middle,
            }
        }
        let (from, to) = (self.time_after(before), self.time_after(after));
        let gap = to.saturating_sub(from).as_secs_f64();
        let part = match gap > 0.0 {
            true => time.saturating_sub(from).as_secs_f64() / gap,
            false => 1.0,
        };
        (before as f64 + part.min(1.0)).min(self.count as f64)
    }

    /// The time at which the schedule reaches `number` iterations.
    fn time_after(&self, number: u64) -> Duration {
        let starts_at_once = self.whole.start_of(0) == Some(Duration::ZERO);
        match (starts_at_once, number) {
            (true, _) => self.whole.start_of(number).unwrap_or(self.end),
            (false, 0) => Duration::ZERO,
            (false, _) => self.whole.start_of(number - 1).unwrap_or(self.end),
        }
    }

    /// The end of gap `number`, as a share of all gaps.
    fn share(&self, number: u64) -> f64 {
        let mut block = self.block.borrow_mut();
        let end_of = |block: &Block| {
            let at = usize::try_from(number.checked_sub(block.first)?).ok()?;
            block.ends.get(at).copied()
        };
        if let Some(end) = end_of(&block) {
            return end;
        }
        *block = self.block_of(number);
        end_of(&block).unwrap_or(1.0)
    }

    fn block_of(&self, number: u64) -> Block {
        let (mut first, mut after) = (0, self.count + 1);
        let (mut low, mut high) = (0.0, 1.0);
        while after - first > BLOCK {
            let left = (after - first) / 2;
            let mut random = Random::new([self.seed, first, after]);
            let a = random.gamma(self.shape * left as f64);
            let b = random.gamma(self.shape * (after - first - left) as f64);
            let share = if a + b > 0.0 { a / (a + b) } else { 0.5 };
            let middle = between(low, high, share);
            if number < first + left {
                (after, high) = (first + left, middle);
            } else {
                (first, low) = (first + left, middle);
            }
        }
        let mut random = Random::new([self.seed, first, after]);
        let gaps: Vec<f64> = (first..after).map(|_| random.gamma(self.shape)).collect();
        let sum: f64 = gaps.iter().sum();
        let mut passed = 0.0;
        let ends = gaps.iter().map(|gap| {
            passed += gap;
            let share = if sum > 0.0 { passed / sum } else { 1.0 };
            between(low, high, share)
        });
        Block {
            first,
            ends: ends.collect(),
        }
    }
}

impl<P: Pacer> Pacer for RandomArrivals<P> {
    fn start_of(&self, number: u64) -> Option<Duration> {
        if number >= self.count {
            return None;
        }
        let place = self.share(number) * self.count as f64;
        // The conversion rounds down, and saturates.
        let before = (place as u64).min(self.count - 1);
        let (from, to) = (self.time_after(before), self.time_after(before + 1));
        let share = (place - before as f64).clamp(0.0, 1.0);
        let gap = to.saturating_sub(from);
        // Rounding must not pass the next iteration.
        let part = Duration::try_from_secs_f64(gap.as_secs_f64() * share).unwrap_or(gap);
        Some(from + part.min(gap))
    }
}

/// The point between `low` and `high` that `share` selects. Rounding must not exceed `high`, where
/// the next part begins.
fn between(low: f64, high: f64, share: f64) -> f64 {
    (low + (high - low) * share).min(high)
}

/// A schedule compressed into the first `on` of every `on + off`.
#[derive(Debug)]
pub struct Bursts<P> {
    whole: P,
    on: u128,
    cycle: u128,
}

impl<P> Bursts<P> {
    /// `on` must be greater than zero.
    pub fn new(whole: P, on: Duration, off: Duration) -> Self {
        Bursts {
            whole,
            on: on.as_nanos(),
            cycle: (on.as_nanos() + off.as_nanos()).max(1),
        }
    }

    /// The time in the original schedule that corresponds to the compressed `time`. A whole pause
    /// corresponds to the end of the burst before it.
    pub fn expanded(&self, time: Duration) -> Duration {
        let nanos = time.as_nanos();
        let within = nanos % self.cycle;
        let even = nanos - within + within.min(self.on) * self.cycle / self.on;
        Duration::from_nanos(u64::try_from(even).unwrap_or(u64::MAX))
    }
}

impl<P: Pacer> Pacer for Bursts<P> {
    fn start_of(&self, number: u64) -> Option<Duration> {
        let even = self.whole.start_of(number)?.as_nanos();
        let within = even % self.cycle;
        let nanos = even - within + within * self.on / self.cycle;
        Some(Duration::from_nanos(u64::try_from(nanos).ok()?))
    }
}

/// Pseudo-random numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn new(seeds: [u64; 3]) -> Random {
        let mut random = Random(0);
        for seed in seeds {
            random.0 = random.next() ^ seed;
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A random number greater than 0 and less than 1.
    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        // The method of Box and Muller, 1958.
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape == 1.0 {
            return -self.uniform().ln();
        }
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * self.uniform().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConstantRate, RampingRate, Striped};
    use plimsoll_plan::{Division, Rate, Segment, SegmentSequence, Stage};

    fn rate(count: u64) -> Rate {
        Rate {
            count,
            per: Duration::from_secs(1),
        }
    }

    fn arrivals(count: u64, seconds: u64, shape: f64, seed: u64) -> RandomArrivals<ConstantRate> {
        let end = Duration::from_secs(seconds);
        RandomArrivals::new(ConstantRate::new(rate(count), end), end, shape, seed)
    }

    fn all(pacer: &impl Pacer) -> Vec<Duration> {
        (0..).map_while(|number| pacer.start_of(number)).collect()
    }

    fn gaps(starts: &[Duration]) -> Vec<f64> {
        starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64())
            .collect()
    }

    /// The Anderson–Darling statistic of values that should be uniform between 0 and 1.
    fn anderson_darling(mut values: Vec<f64>) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let sum: f64 = (0..n)
            .map(|i| (2 * i + 1) as f64 * (values[i].ln() + (1.0 - values[n - 1 - i]).ln()))
            .sum();
        -(n as f64) - sum / n as f64
    }

    fn correlation(values: &[f64], lag: usize) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let both = values.iter().zip(&values[lag..]);
        both.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / variance
    }

    /// Above this value, the Anderson–Darling test rejects with 99.9% confidence.
    const REJECTED: f64 = 6.0;

    #[test]
    fn poisson_arrivals_have_independent_exponential_gaps() {
        for (count, seconds) in [(1_000, 20), (20_000, 2)] {
            for seed in 1..6 {
                let starts = all(&arrivals(count, seconds, 1.0, seed));
                assert_eq!(starts.len() as u64, count * seconds);
                assert!(starts.is_sorted());
                let gaps = gaps(&starts);
                let shares = gaps.iter().map(|gap| {
                    let share = 1.0 - (-gap * count as f64).exp();
                    share.clamp(1e-12, 1.0 - 1e-12)
                });
                let statistic = anderson_darling(shares.collect());
                assert!(statistic < REJECTED, "{count}/s, seed {seed}: {statistic}");
                for lag in 1..4 {
                    let correlation = correlation(&gaps, lag);
                    let bound = 4.0 / (gaps.len() as f64).sqrt();
                    assert!(correlation.abs() < bound, "lag {lag}: {correlation}");
                }
            }
        }
    }

    /// The squared coefficient of variation of a gamma distribution is 1 / shape.
    #[test]
    fn the_shape_sets_the_burstiness() {
        for shape in [0.25, 0.5, 2.0, 10.0, 10_000.0] {
            let gaps = gaps(&all(&arrivals(1_000, 50, shape, 3)));
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance =
                gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            let squared = variance / mean.powi(2);
            assert!((squared * shape - 1.0).abs() < 0.1, "{shape}: {squared}");
        }
    }

    #[test]
    fn random_arrivals_have_the_schedules_total_and_duration() {
        for shape in [0.01, 1.0, 50.0] {
            for count in [0, 1, 2, 63, 64, 65, 1_000] {
                let starts = all(&arrivals(count, 3, shape, 9));
                assert_eq!(starts.len() as u64, 3 * count);
                assert!(starts.is_sorted());
                assert!(
                    starts
                        .last()
                        .is_none_or(|last| *last <= Duration::from_secs(3))
                );
            }
        }
    }

    #[test]
    fn times_depend_on_the_seed_but_not_on_the_order_of_queries() {
        let forward = all(&arrivals(500, 2, 0.5, 4));
        let pacer = arrivals(500, 2, 0.5, 4);
        let mut backward: Vec<_> = (0..1_000).rev().filter_map(|n| pacer.start_of(n)).collect();
        backward.reverse();
        assert_eq!(forward, backward);
        assert_ne!(forward, all(&arrivals(500, 2, 0.5, 5)));
    }

    #[test]
    fn the_parts_of_several_machines_make_up_the_whole() {
        let sequence = SegmentSequence::parse("0,1/4,3/4,1").unwrap();
        let mut together: Vec<_> = ["0:1/4", "1/4:3/4", "3/4:1"]
            .into_iter()
            .flat_map(|segment| {
                let segment = Segment::parse(segment).unwrap();
                let stripe = Division::of(segment, &sequence).unwrap().stripe();
                all(&Striped::new(arrivals(300, 2, 1.0, 6), stripe))
            })
            .collect();
        together.sort_unstable();
        assert_eq!(together, all(&arrivals(300, 2, 1.0, 6)));
    }

    #[test]
    fn random_arrivals_follow_the_density_of_a_ramp() {
        let second = Duration::from_secs(10);
        let stage = |target| Stage {
            duration: second,
            target,
        };
        let ramp = RampingRate::new(rate(0), &[stage(1_000), stage(1_000)]);
        let even = all(&ramp);
        let starts = all(&RandomArrivals::new(ramp, 2 * second, 1.0, 8));
        assert_eq!(starts.len(), even.len());
        for until in [5, 10, 15] {
            let until = Duration::from_secs(until);
            let due = |starts: &[Duration]| starts.iter().filter(|at| **at < until).count() as f64;
            let deviation = (due(&starts) - due(&even)).abs() / due(&even).sqrt();
            assert!(
                deviation < 4.0,
                "{until:?}: {deviation} standard deviations"
            );
        }
    }

    #[test]
    fn an_endless_schedule_has_arrivals_from_its_start() {
        let starts: Vec<_> = {
            let whole = ConstantRate::new(rate(1_000), Duration::MAX);
            let pacer = RandomArrivals::new(whole, Duration::MAX, 1.0, 2);
            (0..1_000).filter_map(|n| pacer.start_of(n)).collect()
        };
        assert!(starts.is_sorted());
        let last = starts[999].as_secs_f64();
        assert!((0.85..1.15).contains(&last), "{last}");
    }

    #[test]
    fn positions_are_the_inverse_of_times() {
        let end = Duration::from_secs(10);
        let stage = |target| Stage {
            duration: end,
            target,
        };
        let ramp = RampingRate::new(rate(0), &[stage(1_000), stage(10)]);
        let pacer = RandomArrivals::new(ramp, 2 * end, 1.0, 8);
        let (on, off) = (Duration::from_millis(200), Duration::from_millis(800));
        let bursts = Bursts::new(&pacer, on, off);
        for number in (0..pacer.count()).step_by(97) {
            let expected = pacer.share(number) * pacer.count as f64;
            let place = pacer.place_at(pacer.start_of(number).unwrap());
            assert!(
                (place - expected).abs() < 1e-3,
                "{number}: {place} {expected}"
            );
            let in_burst = bursts.expanded(bursts.start_of(number).unwrap());
            assert!((pacer.place_at(in_burst) - expected).abs() < 1e-3);
        }
        assert_eq!(pacer.place_at(Duration::MAX), pacer.count() as f64);
        assert_eq!(
            bursts.expanded(Duration::from_millis(3_700)),
            Duration::from_secs(4)
        );
        assert_eq!(arrivals(0, 3, 1.0, 1).place_at(end), 0.0);
    }

    #[test]
    fn bursts_leave_pauses() {
        let (on, off) = (Duration::from_millis(200), Duration::from_millis(800));
        let starts = all(&Bursts::new(arrivals(1_000, 5, 1.0, 1), on, off));
        assert_eq!(starts.len(), 5_000);
        assert!(starts.is_sorted());
        assert!(starts.iter().all(|at| at.subsec_millis() < 200));
    }
}
