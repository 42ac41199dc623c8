//! What is concluded of simulated runs whose truth is known.

use plimsoll_stats::Random;
use plimsoll_stats::change_points::change_points;
use plimsoll_stats::comparison::{
    Comparison, Conclusion, Incomparable, NoiseFloor, Side, compare, noise_floor, order,
};
use plimsoll_stats::knee::{NoKnee, Step, knee_of_runs};
use plimsoll_stats::warm_up::{Steadiness, warm_up};

/// Pairs of runs on a machine that drifts, B being `ratio` × A.
fn pairs(random: &mut Random, count: usize, ratio: f64) -> Vec<(f64, f64)> {
    let mut pairs = Vec::new();
    let mut at = 0.0;
    let mut measure = |side: Side, random: &mut Random| {
        at += 1.0;
        let level = if side == Side::A { 1.0 } else { ratio };
        20.0 * level * (0.01 * at + 0.05 * random.normal()).exp()
    };
    for sides in order(count).chunks(2) {
        let mut pair = (0.0, 0.0);
        for side in sides {
            let figure = measure(*side, random);
            match side {
                Side::A => pair.0 = figure,
                Side::B => pair.1 = figure,
            }
        }
        pairs.push(pair);
    }
    pairs
}

fn concluded(comparison: Result<Comparison, Incomparable>) -> Conclusion {
    comparison.unwrap().conclusion
}

#[test]
fn the_same_compared_with_itself_two_hundred_times_rarely_differs() {
    let mut random = Random::new(2);
    for count in [6, 8, 10, 20] {
        let different = (0..200)
            .filter(|_| {
                concluded(compare(&pairs(&mut random, count, 1.0), 0.05, None))
                    == Conclusion::Different
            })
            .count();
        assert!(
            different <= 10,
            "{count} pairs: {different} of 200 are said to differ"
        );
    }
}

#[test]
fn a_real_difference_is_found_with_its_size() {
    let mut random = Random::new(3);
    let (mut found, mut held) = (0, 0);
    for _ in 0..200 {
        let comparison = compare(&pairs(&mut random, 10, 1.15), 0.05, None).unwrap();
        found += usize::from(comparison.conclusion == Conclusion::Different);
        held += usize::from(comparison.low <= 1.15 && 1.15 <= comparison.high);
    }
    assert!(found >= 180, "{found} of 200");
    assert!(held >= 186, "the interval held the ratio in {held} of 200");
}

#[test]
fn a_difference_within_the_noise_is_called_that() {
    let mut random = Random::new(4);
    let noise = noise_floor(&pairs(&mut random, 8, 1.0), 0.95).unwrap();
    assert!(noise.0 > 1.0 && noise.0 < 1.3, "{noise:?}");
    let small: Vec<(f64, f64)> = (0..8)
        .map(|n| {
            (
                10.0 + f64::from(n),
                10.02 * (1.0 + 0.0001 * f64::from(n)) / 10.0 * (10.0 + f64::from(n)),
            )
        })
        .collect();
    assert_eq!(
        concluded(compare(&small, 0.05, None)),
        Conclusion::Different
    );
    assert_eq!(
        concluded(compare(&small, 0.05, Some(NoiseFloor(1.05)))),
        Conclusion::InsideNoise
    );
}

#[test]
fn too_few_or_impossible_pairs_are_refused() {
    assert_eq!(
        compare(&[(1.0, 2.0); 5], 0.05, None),
        Err(Incomparable::TooFewPairs)
    );
    assert_eq!(
        compare(&[(1.0, 0.0); 6], 0.05, None),
        Err(Incomparable::NotPositive)
    );
    assert_eq!(
        compare(&[(1.0, f64::NAN); 6], 0.05, None),
        Err(Incomparable::NotPositive)
    );
    let sides: String = order(4)
        .iter()
        .map(|side| if *side == Side::A { 'A' } else { 'B' })
        .collect();
    assert_eq!(sides, "ABBAABBA");
}

#[test]
fn changes_of_level_are_found_where_they_were_made() {
    let mut random = Random::new(5);
    let mut series: Vec<f64> = (0..150).map(|_| 100.0 + random.normal()).collect();
    series[60..].iter_mut().for_each(|value| *value *= 1.05);
    series[110..].iter_mut().for_each(|value| *value *= 0.97);
    let found = change_points(&series);
    let at: Vec<usize> = found.iter().map(|point| point.at).collect();
    assert!(
        at.len() == 2 && at[0].abs_diff(60) <= 1 && at[1].abs_diff(110) <= 1,
        "{found:?}"
    );
    assert!(
        (found[0].after / found[0].before - 1.05).abs() < 0.01,
        "{found:?}"
    );
}

#[test]
fn a_steady_history_rarely_has_a_change() {
    let mut random = Random::new(6);
    let changed = (0..200)
        .filter(|_| {
            let series: Vec<f64> = (0..100).map(|_| 100.0 + random.normal()).collect();
            !change_points(&series).is_empty()
        })
        .count();
    // Searching for the best split among many makes more than p = 0.001 of them.
    assert!(changed <= 20, "{changed} of 200 steady histories");
    assert!(change_points(&[]).is_empty());
    assert!(change_points(&[1.0; 100]).is_empty());
    assert!(change_points(&[f64::NAN; 100]).is_empty());
}

#[test]
fn warm_up_is_cut_and_a_run_that_never_settles_is_told() {
    let mut random = Random::new(7);
    let mut settling: Vec<f64> = (0..60).map(|_| 10.0 + 0.2 * random.normal()).collect();
    for (second, value) in settling.iter_mut().enumerate().take(10) {
        *value += 20.0 / (1.0 + second as f64);
    }
    let found = warm_up(&settling).unwrap();
    assert!((5..=15).contains(&found.cut), "{found:?}");
    assert!(
        matches!(found.steadiness, Steadiness::Steady { .. }),
        "{found:?}"
    );
    let rising: Vec<f64> = (0..60)
        .map(|second| f64::from(second) + 0.2 * random.normal())
        .collect();
    assert!(!matches!(
        warm_up(&rising).unwrap().steadiness,
        Steadiness::Steady { .. }
    ));
    assert_eq!(warm_up(&rising[..19]), None);
    let steady: Vec<f64> = (0..60).map(|_| 10.0 + random.normal()).collect();
    assert!(matches!(
        warm_up(&steady).unwrap().steadiness,
        Steadiness::Steady { .. } | Steadiness::TooShort
    ));
}

/// Seconds that resemble their neighbours (a first-order autoregression), of one level.
fn neighbours(random: &mut Random, seconds: usize, resemblance: f64) -> Vec<f64> {
    let mut level = 0.0;
    (0..seconds + 20)
        .map(|_| {
            level = resemblance * level + random.normal();
            100.0 + 5.0 * level
        })
        .skip(20)
        .collect()
}

#[test]
fn little_is_cut_from_what_was_steady_all_along_and_a_warm_up_is() {
    let mut random = Random::new(9);
    for resemblance in [0.0, 0.6] {
        for seconds in [20, 30, 60, 120, 300] {
            let cut = (0..1000)
                .filter(|_| {
                    let windows = neighbours(&mut random, seconds, resemblance);
                    warm_up(&windows).unwrap().cut > 0
                })
                .count();
            assert!(
                cut <= 50,
                "seed 9: {cut} of 1000 runs of {seconds} s, {resemblance}"
            );
            // Twenty seconds show only what is far beyond their unrest.
            let least = if seconds == 20 { 10 } else { 170 };
            let found = (0..200)
                .filter(|_| {
                    let mut windows = neighbours(&mut random, seconds, resemblance);
                    windows.iter_mut().take(8).for_each(|value| *value *= 2.0);
                    warm_up(&windows).unwrap().cut >= 5
                })
                .count();
            assert!(
                found >= least,
                "seed 9: {found} of 200 runs of {seconds} s, {resemblance}"
            );
        }
    }
    // One request that came late in a rate that is kept exactly is no warm-up.
    let mut exact = vec![100.0; 60];
    exact[0] = 99.0;
    assert_eq!(warm_up(&exact).unwrap().cut, 0);
}

#[test]
fn the_knee_of_a_capped_server_is_its_cap() {
    let mut random = Random::new(8);
    let steps: Vec<Step> = (1..=20)
        .map(|step| {
            let load = 200.0 * f64::from(step);
            let reached = (0..5)
                .map(|_| load.min(2000.0) * (1.0 + 0.005 * random.normal()))
                .collect();
            Step { load, reached }
        })
        .collect();
    let knee = knee_of_runs(&steps, 0.95, 1).unwrap();
    assert!(
        knee.low >= 1800.0 && knee.high <= 2200.0 && knee.estimate == 2000.0,
        "{knee:?}"
    );
    let straight: Vec<Step> = (1..=20)
        .map(|step| Step {
            load: f64::from(step),
            reached: vec![f64::from(step); 3],
        })
        .collect();
    assert_eq!(knee_of_runs(&straight, 0.95, 1), Err(NoKnee::Straight));
    assert_eq!(knee_of_runs(&steps[..5], 0.95, 1), Err(NoKnee::TooFewLoads));
    let single: Vec<Step> = steps
        .iter()
        .map(|step| Step {
            load: step.load,
            reached: step.reached[..1].to_vec(),
        })
        .collect();
    assert_eq!(knee_of_runs(&single, 0.95, 1), Err(NoKnee::NoRepeats));
}
