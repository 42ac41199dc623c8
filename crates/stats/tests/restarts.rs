//! Simulated labs with a known truth: restarts that differ, runs within them that differ, a machine
//! that changes from restart to restart, and a cell that is measured twice (A/A).

use plimsoll_stats::Random;
use plimsoll_stats::comparison::{
    Limits, Outcome, Paired, detectable, holm, noise_floor, pairs_to_detect,
};
use plimsoll_stats::repetition::Repeated;

/// Number of simulated labs per value. It gives a share of 5 % a standard error of half a
/// percentage point.
const LABS: usize = 2_000;
/// The standard deviation of the restarts of a cell.
const BETWEEN_RESTARTS: f64 = 0.05;
/// The standard deviation of runs within a restart.
const WITHIN: f64 = 0.02;
/// The standard deviation of the effect that all cells of a restart share.
const SHARED: f64 = 0.10;

/// The percentage of labs for which `holds` is true.
fn share(seed: u64, mut holds: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random::new(seed);
    let held = (0..LABS).filter(|_| holds(&mut random)).count();
    held as f64 / LABS as f64 * 100.0
}

/// The runs of a cell in each restart.
fn cell(random: &mut Random, value: f64, shared: &[f64], runs: usize) -> Vec<Vec<f64>> {
    let restart = |shared: &f64, random: &mut Random| -> Vec<f64> {
        let level = value * (shared + BETWEEN_RESTARTS * random.normal()).exp();
        (0..runs)
            .map(|_| level * (WITHIN * random.normal()).exp())
            .collect()
    };
    shared.iter().map(|one| restart(one, random)).collect()
}

/// The effect of each restart on all cells.
fn machine(random: &mut Random, restarts: usize) -> Vec<f64> {
    (0..restarts).map(|_| SHARED * random.normal()).collect()
}

/// The pairs of two cells in a lab. The values of the second cell are `ratio` times as high.
fn pairs(random: &mut Random, shared: &[f64], ratio: f64) -> Vec<(f64, f64)> {
    let of = |random: &mut Random, value: f64| {
        let runs = cell(random, value, shared, 1);
        Repeated::of(&runs).expect("runs").restarts
    };
    let (one, other) = (of(random, 20.0), of(random, 20.0 * ratio));
    one.into_iter().zip(other).collect()
}

/// The outcomes of a lab's primary comparisons, with a noise floor and Holm's correction.
fn lab(random: &mut Random, restarts: usize, ratios: &[f64]) -> Vec<Outcome> {
    let shared = machine(random, restarts);
    let floor = noise_floor(&pairs(random, &shared, 1.0)).expect("enough restarts");
    let limits = Limits::with_floor(None, Some(floor));
    let tests: Vec<Paired> = ratios
        .iter()
        .map(|ratio| Paired::ratios(&pairs(random, &shared, *ratio)).expect("enough restarts"))
        .collect();
    let p: Vec<f64> = tests.iter().map(|test| test.p).collect();
    let corrected = holm(&p).into_iter();
    tests
        .iter()
        .zip(corrected)
        .map(|(test, p)| test.decide(p, limits).outcome)
        .collect()
}

fn is_different(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Larger | Outcome::Smaller)
}

/// Geometric means vary around the true value, which is 20.
#[test]
fn intervals_over_restarts_contain_the_value_in_95_of_100_labs() {
    for (restarts, runs) in [(2, 1), (3, 1), (3, 4), (5, 1), (5, 3), (8, 1)] {
        let held = share(1, |random| {
            let shared = machine(random, restarts);
            let runs = cell(random, 20.0, &shared, runs);
            let (low, high) = Repeated::of(&runs)
                .and_then(|found| found.interval)
                .expect("two restarts or more");
            low <= 20.0 && 20.0 <= high
        });
        assert!(
            (93.5..=96.5).contains(&held),
            "{restarts} restarts of {runs} runs: {held:.1} %"
        );
    }
}

/// An interval that treats the runs of one start as independent would contain it in fewer than half
/// of all labs.
#[test]
fn intervals_over_all_runs_would_be_too_narrow() {
    let held = share(2, |random| {
        let shared = machine(random, 3);
        let runs = cell(random, 20.0, &shared, 10);
        let (low, high) = Repeated::of(&[runs.concat()])
            .and_then(|found| found.interval)
            .expect("many runs");
        low <= 20.0 && 20.0 <= high
    });
    assert!(held < 60.0, "{held:.1} %");
}

/// An effect that all cells of a restart share cancels out in each pair.
#[test]
fn intervals_of_ratios_contain_the_ratio_in_95_of_100_labs() {
    for restarts in [3, 5, 8] {
        for ratio in [1.0, 1.1, 3.0] {
            let held = share(3, |random| {
                let shared = machine(random, restarts);
                let found = Paired::ratios(&pairs(random, &shared, ratio)).expect("enough");
                let (low, high) = found.interval();
                low <= ratio.ln() && ratio.ln() <= high
            });
            assert!(
                (93.5..=96.5).contains(&held),
                "{restarts} restarts, {ratio}: {held:.1} %"
            );
        }
    }
}

/// In at most 5 of 100 labs with equal cells, any of the primary comparisons shows a difference.
#[test]
fn equal_cells_are_rarely_called_different_in_any_comparison_of_a_lab() {
    for restarts in [3, 5, 8] {
        for comparisons in [1, 6] {
            let ratios = vec![1.0; comparisons];
            let wrong = share(4, |random| {
                lab(random, restarts, &ratios).iter().any(is_different)
            });
            assert!(
                wrong <= 5.0,
                "{restarts} restarts, {comparisons} comparisons: {wrong:.1} %"
            );
        }
    }
}

/// The statistical power stated in docs/statistics.md: one of six primary comparisons has a difference.
#[test]
fn differences_are_found_as_often_as_documented() {
    for (restarts, ratio, least, most) in STATED {
        let mut ratios = vec![1.0; 6];
        ratios[0] = ratio;
        let found = share(5, |random| {
            lab(random, restarts, &ratios).first() == Some(&Outcome::Larger)
        });
        assert!(
            (least..=most).contains(&found),
            "{restarts} restarts, {ratio}: {found:.1} %"
        );
    }
}

/// The number of restarts, the ratio, and the minimum and maximum percentage of labs that find it.
const STATED: [(usize, f64, f64, f64); 6] = [
    (3, 1.5, 45.0, 54.0),
    (3, 2.0, 84.0, 92.0),
    (5, 1.3, 89.0, 96.0),
    (8, 1.1, 35.0, 44.0),
    (8, 1.15, 81.0, 89.0),
    (12, 1.1, 72.0, 81.0),
];

/// Without a noise floor, the smallest difference that `lab plan` prints is found as often as it
/// promises.
#[test]
fn the_smallest_difference_of_a_plan_is_found_in_80_of_100_labs() {
    let spread = (BETWEEN_RESTARTS.powi(2) + WITHIN.powi(2)).sqrt() * std::f64::consts::SQRT_2;
    for restarts in [3, 5, 8] {
        let smallest = detectable(restarts, spread, 0.05).expect("enough restarts");
        let found = share(6, |random| {
            let shared = machine(random, restarts);
            let found = Paired::ratios(&pairs(random, &shared, smallest.exp())).expect("enough");
            found.decide(found.p, Limits::of_ratio(None)).outcome == Outcome::Larger
        });
        assert!(
            (75.0..=90.0).contains(&found),
            "{restarts} restarts: {found:.1} %"
        );
        let needed = pairs_to_detect(smallest * 1.001, spread, 0.05);
        assert_eq!(needed, Some(restarts));
    }
}
