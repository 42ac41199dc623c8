//! Conclusions from simulated runs with a known truth.

use plimsoll_stats::Random;
use plimsoll_stats::change_points::change_points;
use plimsoll_stats::knee::{NoKnee, Step, knee_of_runs};
use plimsoll_stats::warm_up::{Steadiness, warm_up};

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
    // Searching for the best split among many finds more changes than p = 0.001 suggests.
    assert!(changed <= 20, "{changed} of 200 steady histories");
    assert!(change_points(&[]).is_empty());
    assert!(change_points(&[1.0; 100]).is_empty());
    assert!(change_points(&[f64::NAN; 100]).is_empty());
}

#[test]
fn warm_up_is_cut_and_a_run_that_never_settles_is_reported() {
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

/// Seconds that correlate with their neighbors (a first-order autoregression), at a constant level.
fn neighbors(random: &mut Random, seconds: usize, resemblance: f64) -> Vec<f64> {
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
fn steady_runs_are_rarely_cut_and_warm_ups_are() {
    let mut random = Random::new(9);
    for resemblance in [0.0, 0.6] {
        for seconds in [20, 30, 60, 120, 300] {
            let cut = (0..1000)
                .filter(|_| {
                    let windows = neighbors(&mut random, seconds, resemblance);
                    warm_up(&windows).unwrap().cut > 0
                })
                .count();
            assert!(
                cut <= 50,
                "seed 9: {cut} of 1000 runs of {seconds} s, {resemblance}"
            );
            // Twenty seconds show only what far exceeds their noise.
            let least = if seconds == 20 { 10 } else { 170 };
            let found = (0..200)
                .filter(|_| {
                    let mut windows = neighbors(&mut random, seconds, resemblance);
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
    // A single late request in an otherwise exact rate is not a warm-up.
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
