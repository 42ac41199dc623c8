//! Tests the search against simulated services. A function decides each trial, so the tests are fast.

use super::*;

#[test]
fn one_failed_trial_far_below_the_limit_does_not_end_the_search() {
    for mishap in 1..8 {
        let mut count = 0;
        let (found, trials) = search(SETTINGS, |rate, _| {
            count += 1;
            rate <= 2_000 && count != mishap
        });
        let (kept, broken) = (found.kept.expect("kept"), found.broken.expect("broken"));
        assert!(
            found.confirmed && (1_900..=2_000).contains(&kept) && broken <= 2_200,
            "{mishap}: {found:?}"
        );
        assert!(trials <= 50, "{mishap}: {trials} trials");
    }
}

#[test]
fn a_service_that_becomes_slower_is_followed_down_and_reported_as_drifting() {
    let mut drifts = 0;
    for change in 5..16 {
        let mut count = 0;
        let (found, trials) = search(SETTINGS, |rate, _| {
            count += 1;
            rate <= if count < change { 4_000 } else { 2_500 }
        });
        let (kept, broken) = (found.kept.expect("kept"), found.broken.expect("broken"));
        assert!(
            (2_300..=2_500).contains(&kept) && broken > 2_500,
            "{change}: {found:?}"
        );
        // The limit was higher before, so the result only applies to the later part of the search.
        if let Some(drift) = found.drift {
            assert!(!found.confirmed && drift.slower, "{change}: {found:?}");
            assert!(drift.high > 2_500, "{change}: {found:?}");
        }
        drifts += usize::from(found.drift.is_some());
        assert!(trials <= 50, "{change}: {trials} trials");
    }
    // Drift cannot be detected before a rate above the later limit was met.
    assert!(drifts >= 9, "{drifts}");
}

const SETTINGS: LimitSettings = LimitSettings {
    start: 100,
    least: 1,
    most: 1_000_000,
    precision: 0.02,
    repeats: 3,
    trials: 200,
    seed: 1,
};

/// Searches with a service whose trials are all valid. Returns the result and the number of trials.
fn search(settings: LimitSettings, mut meets: impl FnMut(u64, bool) -> bool) -> (Limit, u32) {
    search_by(settings, |rate, soak| match meets(rate, soak) {
        true => Outcome::Met { sure: true },
        false => Outcome::Missed { sure: true },
    })
}

/// Searches with scripted outcomes.
fn search_by(
    settings: LimitSettings,
    mut outcome: impl FnMut(u64, bool) -> Outcome,
) -> (Limit, u32) {
    let mut search = LimitSearch::new(settings);
    for trials in 0..=settings.trials {
        match search.step() {
            Step::Done(limit) => return (limit, trials),
            step @ Step::Try(rate) => search.record(step, outcome(rate, false)),
            step @ Step::Soak(rate) => search.record(step, outcome(rate, true)),
        }
    }
    panic!("the search does not end");
}

#[test]
fn a_sharp_limit_is_in_an_interval_of_the_required_width() {
    for limit in [1, 2, 3, 37, 99, 100, 101, 1_999, 250_000] {
        let (found, trials) = search(SETTINGS, |rate, _| rate <= limit);
        let (kept, broken) = (found.kept.expect("kept"), found.broken.expect("broken"));
        assert!(kept <= limit && limit < broken, "{limit}: {found:?}");
        let width = broken - kept;
        assert!(
            width == 1 || width as f64 <= kept as f64 * 0.02 + 1.0,
            "{limit}: {found:?}"
        );
        assert!(found.confirmed && trials <= 40, "{limit}: {trials} trials");
    }
}

#[test]
fn a_limit_outside_of_the_bounds_is_reported() {
    let (none, _) = search(SETTINGS, |_, _| false);
    assert_eq!(
        none,
        Limit {
            kept: None,
            broken: Some(1),
            generator: None,
            drift: None,
            confirmed: true
        }
    );
    let (all, _) = search(
        LimitSettings {
            most: 5_000,
            ..SETTINGS
        },
        |_, _| true,
    );
    assert_eq!(
        all,
        Limit {
            kept: Some(5_000),
            broken: None,
            generator: None,
            drift: None,
            confirmed: true
        }
    );
}

#[test]
fn a_failed_soak_lowers_the_result() {
    // Short trials meet the objective up to 1,000, but a long one shows that 900 is the limit.
    let (found, _) = search(SETTINGS, |rate, soak| {
        rate <= if soak { 900 } else { 1_000 }
    });
    let kept = found.kept.expect("kept");
    assert!(found.confirmed && (870..=900).contains(&kept), "{found:?}");
}

#[test]
fn a_noisy_edge_gives_an_interval_around_it() {
    for seed in 0..50 {
        let mut random = Random::new(1_000 + seed);
        let settings = LimitSettings { seed, ..SETTINGS };
        // The objective is always met below 1,900, never above 2,100, and randomly in between.
        let (found, _) = search(settings, |rate, _| {
            random.unit() > (rate as f64 - 1_900.0) / 200.0
        });
        let (kept, broken) = (found.kept.expect("kept"), found.broken.expect("broken"));
        assert!((1_800..2_060).contains(&kept), "seed {seed}: {found:?}");
        assert!(
            (1_900..2_250).contains(&broken) && broken > kept,
            "seed {seed}: {found:?}"
        );
    }
}

#[test]
fn the_number_of_trials_is_bounded() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let settings = LimitSettings {
            trials: 60,
            seed,
            ..SETTINGS
        };
        let (found, trials) = search(settings, |_, _| random.unit() < 0.5);
        assert!(trials <= 60, "seed {seed}");
        if let (Some(kept), Some(broken)) = (found.kept, found.broken) {
            assert!(kept < broken, "seed {seed}: {found:?}");
        }
    }
}

#[test]
fn a_generator_that_is_short_of_anything_is_never_the_services_limit() {
    // The service's limit is 5,000; the generator's is `capacity`.
    for capacity in [30, 60, 100, 777, 4_000, 4_999] {
        let (found, trials) = search_by(SETTINGS, |rate, _| {
            if rate > capacity {
                Outcome::GeneratorLimit
            } else {
                Outcome::Met { sure: true }
            }
        });
        let kept = found.kept.expect("kept");
        assert!(kept <= capacity, "{capacity}: {found:?}");
        assert!(
            kept as f64 >= capacity as f64 * 0.95,
            "{capacity}: {found:?}"
        );
        assert_eq!((found.broken, found.drift), (None, None), "{capacity}");
        let beyond = found.generator.expect("the generator's limit");
        assert!(
            beyond > capacity && !found.confirmed,
            "{capacity}: {found:?}"
        );
        assert!(trials <= 60, "{capacity}: {trials} trials");
    }
}

#[test]
fn a_generator_without_capacity_ends_the_search_without_a_result() {
    let (found, trials) = search_by(SETTINGS, |_, _| Outcome::GeneratorLimit);
    assert_eq!((found.kept, found.broken), (None, None));
    assert!(found.generator.is_some() && !found.confirmed);
    assert!(trials <= PATIENCE * HOPELESS as u32, "{trials} trials");
}

#[test]
fn occasional_generator_problems_do_not_change_the_result() {
    for seed in 0..50 {
        let mut random = Random::new(7_000 + seed);
        let settings = LimitSettings { seed, ..SETTINGS };
        // Every fifth trial is disturbed, whatever its rate.
        let (found, _) = search_by(settings, |rate, _| {
            if random.unit() < 0.2 {
                Outcome::GeneratorLimit
            } else if rate <= 2_000 {
                Outcome::Met { sure: true }
            } else {
                Outcome::Missed { sure: true }
            }
        });
        assert!(
            found.kept.is_some_and(|kept| kept <= 2_000),
            "{seed}: {found:?}"
        );
        assert!(
            found.broken.is_none_or(|broken| broken > 2_000),
            "{seed}: {found:?}"
        );
        assert_eq!(found.drift, None, "{seed}");
        if found.confirmed {
            assert!(
                found.kept >= Some(1_900) && found.broken <= Some(2_200),
                "{seed}: {found:?}"
            );
        }
    }
}

#[test]
fn doubtful_trials_confirm_nothing_and_end() {
    let doubtful = |met_is_sure: bool, missed_is_sure: bool, soak_is_sure: bool| {
        search_by(SETTINGS, |rate, soak| match rate <= 2_000 {
            true if soak => Outcome::Met { sure: soak_is_sure },
            true => Outcome::Met { sure: met_is_sure },
            false => Outcome::Missed {
                sure: missed_is_sure,
            },
        })
    };
    for (met, missed, soak) in [
        (false, true, true),
        (true, false, true),
        (true, true, false),
        (false, false, false),
    ] {
        let (found, trials) = doubtful(met, missed, soak);
        assert!(!found.confirmed, "{met} {missed} {soak}: {found:?}");
        assert!(
            found
                .kept
                .is_some_and(|kept| (1_900..=2_000).contains(&kept)),
            "{found:?}"
        );
        assert!(
            found.broken.is_some_and(|broken| broken > 2_000),
            "{found:?}"
        );
        assert!(trials <= 50, "{trials} trials");
    }
    assert!(doubtful(true, true, true).0.confirmed);
}

#[test]
fn a_service_that_becomes_faster_is_reported_as_drifting() {
    // If the change is later, the upper end is already settled, and the result is a lower bound.
    for change in 8..12 {
        let mut count = 0;
        let (found, _) = search(SETTINGS, |rate, _| {
            count += 1;
            rate <= if count < change { 1_000 } else { 3_000 }
        });
        let drift = found.drift.unwrap_or_else(|| panic!("{change}: {found:?}"));
        assert!(!drift.slower && !found.confirmed, "{change}: {found:?}");
        assert!(
            drift.high > 2_500 && drift.low < Some(1_600),
            "{change}: {found:?}"
        );
    }
}

#[test]
fn a_service_that_slows_down_steadily_is_drifting_with_its_range() {
    for percent in [1, 2, 4] {
        let mut limit = 4_000.0_f64;
        let (found, _) = search(SETTINGS, |rate, _| {
            limit *= 1.0 - f64::from(percent) / 100.0;
            rate as f64 <= limit
        });
        let drift = found
            .drift
            .unwrap_or_else(|| panic!("{percent} % per trial: {found:?}"));
        assert!(!found.confirmed && drift.slower, "{percent}: {found:?}");
        assert!(
            drift.high <= 4_000 && drift.low < Some(drift.high),
            "{percent}: {found:?}"
        );
    }
}

#[test]
fn a_blurred_edge_and_a_soak_that_fails_are_not_drift() {
    for seed in 0..50 {
        let mut random = Random::new(3_000 + seed);
        let settings = LimitSettings { seed, ..SETTINGS };
        let (found, _) = search(settings, |rate, _| {
            random.unit() > (rate as f64 - 1_950.0) / 100.0
        });
        assert_eq!(found.drift, None, "seed {seed}: {found:?}");
    }
    let (found, _) = search(SETTINGS, |rate, soak| {
        rate <= if soak { 500 } else { 1_000 }
    });
    assert_eq!(found.drift, None, "{found:?}");
}

/// Checks for all outcomes that the search ends, that its ends are in order, that it met the rate
/// that it reports as met, and that it confirms only what valid trials showed.
#[test]
fn random_outcomes_never_give_an_unobserved_result() {
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let settings = LimitSettings {
            trials: 1 + random.below(80) as u32,
            most: 1 + random.below(5_000) as u64,
            repeats: 1 + random.below(4) as u32,
            seed,
            ..SETTINGS
        };
        let limit = 1 + random.below(3_000) as u64;
        let noise = random.unit();
        let mut seen: Vec<(u64, Outcome)> = Vec::new();
        let (found, _) = search_by(settings, |rate, _| {
            let is_met = if random.unit() < noise {
                random.unit() < 0.5
            } else {
                rate <= limit
            };
            let sure = random.unit() < 0.8;
            let outcome = match (is_met, random.unit() < 0.2) {
                (true, _) => Outcome::Met { sure },
                (false, true) => Outcome::GeneratorLimit,
                (false, false) => Outcome::Missed { sure },
            };
            seen.push((rate, outcome));
            outcome
        });
        let times = |rate: u64, expected: Outcome| {
            let same = seen
                .iter()
                .filter(|(of, outcome)| (*of, *outcome) == (rate, expected));
            same.count() as u32
        };
        let met = |rate| times(rate, Outcome::Met { sure: true });
        let missed = |rate| times(rate, Outcome::Missed { sure: true });
        if let Some(kept) = found.kept {
            assert!(
                met(kept) + times(kept, Outcome::Met { sure: false }) > 0,
                "{seed}"
            );
            assert!(
                found.broken.is_none_or(|broken| kept < broken),
                "{seed}: {found:?}"
            );
            assert!(
                found.generator.is_none_or(|beyond| kept < beyond),
                "{seed}: {found:?}"
            );
        }
        if let Some(broken) = found.broken {
            assert!(
                missed(broken) + times(broken, Outcome::Missed { sure: false }) > 0,
                "{seed}"
            );
        }
        if found.confirmed {
            assert!(found.drift.is_none() && found.generator.is_none(), "{seed}");
            // The soak is one of the trials of the lower end. A missed soak counts as all repeats
            // of the upper end.
            assert!(
                found.kept.is_none_or(|kept| met(kept) > settings.repeats),
                "{seed}: {found:?}"
            );
            assert!(
                found.broken.is_none_or(|broken| missed(broken) > 0),
                "{seed}: {found:?}"
            );
        }
    }
}
