//! Tests whether a 95 % interval contains the true value in 95 of 100 runs. In the simulated runs,
//! seconds correlate with their neighbors, as in real systems.

use plimsoll_stats::interval::{Insufficient, mean, quantile};
use plimsoll_stats::{Histogram, Interval, Random};

/// Number of simulated runs per value.
const RUNS: usize = 1000;
/// Quantiles of the standard normal distribution.
const Z: [(f64, f64); 4] = [
    (0.5, 0.0),
    (0.95, 1.644_853_626_951_473),
    (0.99, 2.326_347_874_040_841),
    (0.999, 3.090_232_306_167_813),
];

/// A run of one-second windows. The level of a second is a first-order autoregression with this
/// correlation, and samples are log-normal around it.
struct Simulated {
    windows: usize,
    samples: usize,
    correlation: f64,
    /// The standard deviations of the levels of seconds, and of the samples around them.
    of_levels: f64,
    of_samples: f64,
}

impl Simulated {
    fn run(&self, random: &mut Random) -> Vec<Histogram> {
        let mut level = random.normal();
        let innovation = (1.0 - self.correlation * self.correlation).sqrt();
        (0..self.windows)
            .map(|_| {
                level = self.correlation * level + innovation * random.normal();
                let mut window = Histogram::new();
                for _ in 0..self.samples {
                    let log = self.of_levels * level + self.of_samples * random.normal();
                    window.record(log.exp());
                }
                window
            })
            .collect()
    }

    fn variance(&self) -> f64 {
        self.of_levels.powi(2) + self.of_samples.powi(2)
    }

    fn true_mean(&self) -> f64 {
        (self.variance() / 2.0).exp()
    }

    fn true_quantile(&self, z: f64) -> f64 {
        (self.variance().sqrt() * z).exp()
    }
}

const KINDS: [Simulated; 3] = [
    Simulated {
        windows: 120,
        samples: 40,
        correlation: 0.0,
        of_levels: 0.2,
        of_samples: 0.4,
    },
    Simulated {
        windows: 120,
        samples: 40,
        correlation: 0.5,
        of_levels: 0.2,
        of_samples: 0.4,
    },
    Simulated {
        windows: 300,
        samples: 40,
        correlation: 0.8,
        of_levels: 0.15,
        of_samples: 0.4,
    },
];

/// Computes an interval of a figure from a run and a seed.
type Figure<'a> = &'a dyn Fn(&[Histogram], u64) -> Result<Interval, Insufficient>;

/// The percentage of runs whose interval contains the true value.
fn coverage(kind: &Simulated, seed: u64, figure: Figure, truth: f64) -> f64 {
    let mut random = Random::new(seed);
    let held = (0..RUNS)
        .filter(|run| {
            let windows = kind.run(&mut random);
            figure(&windows, *run as u64).unwrap().holds(truth)
        })
        .count();
    held as f64 / RUNS as f64 * 100.0
}

#[test]
fn intervals_of_the_mean_contain_it() {
    for (at, kind) in KINDS.iter().enumerate() {
        let held = coverage(
            kind,
            11,
            &|windows, seed| mean(windows, 0.95, seed),
            kind.true_mean(),
        );
        assert!((93.0..=97.0).contains(&held), "kind {at}: {held:.1} %");
    }
}

#[track_caller]
fn quantile_held(at: usize, q: f64, range: std::ops::RangeInclusive<f64>) {
    let (_, z) = Z.into_iter().find(|(known, _)| *known == q).unwrap();
    let kind = &KINDS[at];
    let held = coverage(
        kind,
        12,
        &|windows, seed| quantile(windows, q, 0.95, seed),
        kind.true_quantile(z),
    );
    assert!(
        range.contains(&held),
        "quantile {q}, kind {at}: {held:.1} %"
    );
}

#[test]
fn intervals_of_the_median_contain_it() {
    (0..KINDS.len()).for_each(|at| quantile_held(at, 0.5, 93.0..=97.0));
}

#[test]
fn intervals_of_p95_contain_it() {
    (0..KINDS.len()).for_each(|at| quantile_held(at, 0.95, 93.0..=97.0));
}

/// The coverage for the far tail, as stated in docs/statistics.md.
#[test]
fn intervals_of_the_far_tail_reach_what_is_stated() {
    (0..KINDS.len()).for_each(|at| quantile_held(at, 0.99, 92.0..=98.0));
    let long = Simulated {
        samples: 100,
        windows: 120,
        ..KINDS[1]
    };
    let held = coverage(
        &long,
        13,
        &|windows, seed| quantile(windows, 0.999, 0.95, seed),
        long.true_quantile(Z[3].1),
    );
    assert!((90.0..=98.0).contains(&held), "{held:.1} %");
}

#[test]
fn too_little_data_is_refused() {
    let mut random = Random::new(1);
    let few = KINDS[0].run(&mut random);
    assert_eq!(mean(&few[..9], 0.95, 1), Err(Insufficient::Windows));
    assert_eq!(
        quantile(&few[..20], 0.999, 0.95, 1),
        Err(Insufficient::Samples)
    );
    assert_eq!(quantile(&[], 0.5, 0.95, 1), Err(Insufficient::Samples));
    let steady: Vec<Histogram> = (0..20)
        .map(|_| {
            let mut window = Histogram::new();
            window.record_all(&[3.0; 10]);
            window
        })
        .collect();
    let interval = mean(&steady, 0.95, 1).unwrap();
    assert_eq!((interval.low, interval.high), (3.0, 3.0));
    assert_eq!(
        mean(&few, 0.95, 5),
        mean(&few, 0.95, 5),
        "the seed alone decides"
    );
}

/// A larger histogram has buckets instead of values. The interval stays the same up to the width of
/// a bucket.
#[test]
fn buckets_give_the_interval_of_the_values() {
    let kind = Simulated {
        samples: 3000,
        windows: 30,
        ..KINDS[1]
    };
    let windows = kind.run(&mut Random::new(3));
    assert!(!windows[0].is_exact());
    let interval = quantile(&windows, 0.95, 0.95, 1).unwrap();
    let truth = kind.true_quantile(Z[1].1);
    assert!(
        (interval.estimate / truth - 1.0).abs() < 0.15,
        "{interval:?} {truth}"
    );
    assert!(interval.low < interval.estimate && interval.estimate < interval.high);
}
