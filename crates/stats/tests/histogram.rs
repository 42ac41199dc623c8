//! Tests the histogram against exact sorting, against HdrHistogram, and on inputs with known results.

use hdrhistogram::Histogram as Hdr;
use plimsoll_stats::{EXACT_BOUND, Histogram, RELATIVE_WIDTH};
use proptest::prelude::*;

const QS: [f64; 8] = [0.0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.999, 1.0];

fn histogram_of(values: &[f64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|&value| histogram.record(value));
    histogram
}

/// The two values around rank q·(n − 1), and the interpolation between them.
fn exact(sorted: &[f64], q: f64) -> (f64, f64, f64) {
    let place = q * (sorted.len() - 1) as f64;
    let low = sorted[place.floor() as usize];
    let high = sorted[place.ceil() as usize];
    (low, high, low + (high - low) * (place - place.floor()))
}

/// Repeats values until the histogram can no longer keep them individually.
fn many(values: &[f64]) -> Vec<f64> {
    let times = EXACT_BOUND / values.len() + 2;
    std::iter::repeat_n(values, times)
        .flatten()
        .copied()
        .collect()
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        12 => 0.0..1e4f64,
        2 => (-12.0..12.0f64).prop_map(|power| 10f64.powf(power)),
        1 => (-6.0..6.0f64).prop_map(|power| -(10f64.powf(power))),
        1 => (-300.0..300.0f64).prop_map(|power| 10f64.powf(power)),
        1 => Just(0.0),
        1 => (0u32..1000).prop_map(f64::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn few_values_give_exact_quantiles(values in prop::collection::vec(any_value(), 1..200)) {
        let histogram = histogram_of(&values);
        prop_assert!(histogram.is_exact());
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        for q in QS {
            prop_assert_eq!(histogram.quantile(q), exact(&sorted, q).2);
        }
    }

    #[test]
    fn many_values_give_quantiles_within_a_bucket(
        values in prop::collection::vec(any_value(), 1..300),
    ) {
        let values = many(&values);
        let histogram = histogram_of(&values);
        prop_assert!(!histogram.is_exact());
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        prop_assert_eq!(histogram.min(), sorted[0]);
        prop_assert_eq!(histogram.max(), sorted[sorted.len() - 1]);
        prop_assert_eq!(histogram.count(), sorted.len() as u64);
        for q in QS {
            let (low, high, expected) = exact(&sorted, q);
            let allowed = low.abs().max(high.abs()) * RELATIVE_WIDTH * 1.000_001;
            let got = histogram.quantile(q);
            prop_assert!((got - expected).abs() <= allowed, "q {q}: {got} for {expected}");
        }
    }

    #[test]
    fn quantiles_rise(values in prop::collection::vec(any_value(), 1..100)) {
        let histogram = histogram_of(&many(&values));
        prop_assert!(histogram.quantiles(&QS).is_sorted());
    }

    #[test]
    fn merging_is_recording_together(
        a in prop::collection::vec(any_value(), 0..1500),
        b in prop::collection::vec(any_value(), 0..1500),
    ) {
        let mut merged = histogram_of(&a);
        merged.merge(&histogram_of(&b));
        let together = histogram_of(&[a, b].concat());
        prop_assert_eq!(merged.count(), together.count());
        prop_assert_eq!(merged.min(), together.min());
        prop_assert_eq!(merged.max(), together.max());
        let magnitude = together.sum().abs().max(1.0) * 1e-9;
        prop_assert!((merged.sum() - together.sum()).abs() <= magnitude.max(1e-9 * together.max().abs()));
        prop_assert_eq!(merged.is_exact(), together.is_exact());
        prop_assert!(merged.buckets().eq(together.buckets()));
        prop_assert_eq!(merged.raw(), together.raw());
    }

    #[test]
    fn recording_in_bulk_is_recording_one_by_one(
        values in prop::collection::vec(any_value(), 0..1500),
        zeros in 0u64..2000,
    ) {
        let mut bulk = Histogram::new();
        values.chunks(256).for_each(|chunk| bulk.record_all(chunk));
        bulk.record_zeros(zeros);
        let mut single = histogram_of(&values);
        (0..zeros).for_each(|_| single.record(0.0));
        prop_assert_eq!(bulk.count(), single.count());
        prop_assert_eq!(bulk.min(), single.min());
        prop_assert_eq!(bulk.max(), single.max());
        prop_assert!(bulk.buckets().eq(single.buckets()));
        prop_assert_eq!(bulk.raw(), single.raw());
    }

    #[test]
    fn a_cleared_histogram_is_a_new_one(
        before in prop::collection::vec(any_value(), 0..1500),
        after in prop::collection::vec(any_value(), 0..1500),
    ) {
        let mut used = histogram_of(&before);
        used.clear();
        after.iter().for_each(|&value| used.record(value));
        let new = histogram_of(&after);
        prop_assert_eq!(used.quantiles(&QS), new.quantiles(&QS));
        prop_assert_eq!(used.sum(), new.sum());
        prop_assert_eq!(used.count(), new.count());
    }

    /// At the ranks that HdrHistogram reports, both are within three significant digits of the true
    /// value, and therefore of each other.
    #[test]
    fn as_good_as_hdr_histogram(
        values in prop::collection::vec(1u64..3_600_000_000, 1100..1500),
    ) {
        let mut hdr = Hdr::<u64>::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        values.iter().for_each(|&value| hdr.record(value).unwrap());
        let ours = histogram_of(&values.iter().map(|&value| value as f64).collect::<Vec<_>>());
        let last = values.len() - 1;
        for rank in [0, last / 4, last / 2, last * 9 / 10, last] {
            // Use the middle of the rank's range, so that rounding cannot lead HdrHistogram to a
            // neighbor.
            let theirs = hdr.value_at_quantile((rank as f64 + 0.5) / values.len() as f64) as f64;
            let ours = ours.quantile(rank as f64 / last as f64);
            prop_assert!((ours - theirs).abs() <= theirs * 0.002, "{ours} {theirs}");
        }
        prop_assert_eq!(hdr.len(), ours.count());
        prop_assert!((hdr.mean() - ours.mean()).abs() <= hdr.mean() * 0.001);
    }
}

#[test]
fn empty_is_zero_everywhere() {
    let empty = Histogram::new();
    assert_eq!(empty.quantiles(&QS), vec![0.0; QS.len()]);
    assert_eq!((empty.min(), empty.max(), empty.mean()), (0.0, 0.0, 0.0));
    assert!(empty.is_empty());
}

#[test]
fn a_constant_is_reported_exactly() {
    for constant in [0.0, 1.0, 0.123_456_789, -7.7, 1e12, 1e-9] {
        let histogram = histogram_of(&vec![constant; 100_000]);
        assert_eq!(histogram.quantiles(&QS), vec![constant; QS.len()]);
    }
}

#[test]
fn two_modes_are_distinguished() {
    // 95,000 responses of 1 ms and 5,000 of 100 ms.
    let mut values = vec![1.0; 95_000];
    values.resize(100_000, 100.0);
    let histogram = histogram_of(&values);
    assert!((histogram.quantile(0.5) - 1.0).abs() <= RELATIVE_WIDTH);
    assert!((histogram.quantile(0.949) - 1.0).abs() <= RELATIVE_WIDTH);
    assert!((histogram.quantile(0.951) - 100.0).abs() <= 100.0 * RELATIVE_WIDTH);
    assert!((histogram.mean() - 5.95).abs() < 1e-9);
    // Between the modes, the interpolation is that of k6: q(n − 1) = 94999.05.
    let between = histogram.quantile(0.95);
    assert!((between - 5.95).abs() <= 0.2, "{between}");
}

#[test]
fn a_stall_is_seen() {
    // A server that responds in 1 ms but stops for 1 s in every 5 s, with 1000 requests per second.
    // Requests that are due during a stop wait for its end.
    let mut values = Vec::new();
    for request in 0..50_000u32 {
        let phase = f64::from(request % 5_000);
        values.push(if phase < 1_000.0 {
            1_001.0 - phase
        } else {
            1.0
        });
    }
    let histogram = histogram_of(&values);
    let near = |q: f64, truth: f64| {
        let got = histogram.quantile(q);
        assert!(
            (got - truth).abs() <= truth * RELATIVE_WIDTH + 0.1,
            "{q}: {got} for {truth}"
        );
    };
    near(0.5, 1.0);
    near(0.9, 501.0);
    near(0.99, 951.0);
    assert_eq!(histogram.max(), 1_001.0);
}

#[test]
fn nan_is_not_a_value() {
    let mut histogram = Histogram::new();
    histogram.record(f64::NAN);
    assert!(histogram.is_empty());
    histogram.record_all(&[1.0, f64::NAN, 3.0]);
    assert_eq!(histogram.count(), 2);
    assert_eq!(histogram.mean(), 2.0);
}

#[test]
fn infinities_are_counted_and_ordered() {
    let mut histogram = histogram_of(&many(&[f64::NEG_INFINITY, -1.0, 1.0, f64::INFINITY]));
    assert_eq!(histogram.quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(histogram.quantile(0.1), f64::NEG_INFINITY);
    assert_eq!(histogram.quantile(1.0), f64::INFINITY);
    assert!((histogram.quantile(0.4) + 1.0).abs() <= RELATIVE_WIDTH);
    histogram.record_all(&[f64::NEG_INFINITY, f64::INFINITY]);
    assert!(histogram.sum().is_nan());
}

#[test]
fn memory_follows_the_spread_and_not_the_number() {
    let mut histogram = Histogram::new();
    let mut held = 0;
    for round in 0..20 {
        for value in 0..50_000u32 {
            // Values from 0.1 to 100 ms.
            histogram.record(0.1 + f64::from(value) / 500.0);
        }
        if round == 0 {
            held = histogram.heap_bytes();
        }
    }
    assert_eq!(histogram.heap_bytes(), held);
    assert!(held < 100_000, "{held}");
}

#[test]
fn memory_is_bounded_for_any_values() {
    let mut histogram = Histogram::new();
    let mut bits = 1u64;
    for _ in 0..500_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        histogram.record(f64::from_bits(bits));
    }
    // Every exponent with both signs: 2 · 2^11 · 1024 counts, plus the directory.
    assert!(histogram.heap_bytes() < 36 << 20);
}

#[test]
fn histograms_survive_a_round_trip() {
    let seed = 20;
    let mut random = plimsoll_stats::Random::new(seed);
    for count in [0, 1, 3, 1_000, 5_000] {
        let mut histogram = Histogram::new();
        for _ in 0..count {
            let magnitude = 10_f64.powf(random.unit() * 12.0 - 6.0);
            histogram.record(match random.unit() {
                share if share < 0.1 => 0.0,
                share if share < 0.2 => -magnitude,
                _ => magnitude,
            });
        }
        let paper = histogram.on_paper();
        assert!(
            paper.is_sorted_by(|one, other| one.0 < other.0),
            "seed {seed}"
        );
        let restored = Histogram::restored(
            histogram.sum(),
            histogram.min(),
            histogram.max(),
            paper.clone(),
        )
        .expect("sound");
        assert_eq!(restored.count(), histogram.count());
        assert_eq!(restored.sum(), histogram.sum());
        assert_eq!(
            (restored.min(), restored.max()),
            (histogram.min(), histogram.max())
        );
        // The buckets are exactly the same, so further round trips lose nothing.
        assert_eq!(restored.on_paper(), paper);
        if !histogram.is_exact() {
            let buckets = |histogram: &Histogram| histogram.buckets().collect::<Vec<_>>();
            assert_eq!(buckets(&restored), buckets(&histogram), "seed {seed}");
        }
        for (value, _) in paper {
            let digits = format!("{value:e}");
            let digits = digits.split('e').next().unwrap_or_default();
            assert!(digits.trim_matches('-').len() <= 7, "{value} is long");
        }
    }
}

#[test]
fn contradictory_figures_are_not_a_histogram() {
    assert!(Histogram::restored(1.0, 2.0, 1.0, [(1.0, 1)]).is_none());
    assert!(Histogram::restored(1.0, 1.0, 1.0, [(f64::NAN, 1)]).is_none());
    assert!(Histogram::restored(1.0, 1.0, 1.0, [(1.0, u64::MAX), (2.0, 1)]).is_none());
    let empty = Histogram::restored(0.0, 0.0, 0.0, []).expect("empty");
    assert!(empty.is_empty() && empty.quantile(0.5) == 0.0);
}

#[test]
fn values_out_of_range_are_counted_and_summed() {
    let mut histogram = Histogram::new();
    (1..=1000).for_each(|value| histogram.record(f64::from(value)));
    assert_eq!(histogram.beyond(991.0), (10, 9955.0));
    assert_eq!(histogram.beyond(1001.0), (0, 0.0));
    // There are too many values to keep individually, so the result is accurate to the width of a bucket.
    (0..99_000).for_each(|_| histogram.record(1.0));
    let (count, sum) = histogram.beyond(991.0);
    assert!((9..=11).contains(&count), "{count}");
    assert!((sum / 9955.0 - 1.0).abs() < 0.12, "{sum}");
}

#[test]
fn quantiles_of_buckets_are_found_at_their_ranks() {
    let mut histogram = Histogram::new();
    let mut values: Vec<f64> = (0..3000)
        .map(|at| {
            let spread = f64::from((at * 7919) % 3001) / 100.0;
            if at % 7 == 0 { 0.0 } else { spread - 12.0 }
        })
        .collect();
    values.iter().for_each(|value| histogram.record(*value));
    assert!(!histogram.is_exact());
    values.sort_unstable_by(f64::total_cmp);
    for (rank, value) in values.iter().enumerate() {
        let found = histogram.quantile(rank as f64 / (values.len() - 1) as f64);
        let error = (found - value).abs();
        assert!(
            error <= value.abs() * 0.01 + 0.02,
            "{rank}: {found}, not {value}"
        );
    }
}
