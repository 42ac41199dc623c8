//! Compares a command with itself. In the simulated runs, seconds correlate with their neighbors,
//! and runs differ by more than their seconds show.

use plimsoll_results::compare::{self, Compared};
use plimsoll_results::distribution::Distribution;
use plimsoll_results::environment::Environment;
use plimsoll_results::figures::{self, Figure, RunFigures};
use plimsoll_results::record::{Header, Record, SCHEMA, Second};
use plimsoll_stats::comparison::Outcome;
use plimsoll_stats::{Histogram, Random};

/// A normally distributed random number (Box and Muller 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// Simulates a run of `seconds`. Latencies are log-normal around a level that varies from second to
/// second (a first-order autoregression with 0.6) around the level of the run. The level of the run
/// varies between runs by `noise`.
fn run(random: &mut Random, seconds: u64, noise: f64, slower: f64) -> RunFigures {
    RunFigures::of(&record(random, seconds, noise, slower), 0).expect("figures")
}

fn record(random: &mut Random, seconds: u64, noise: f64, slower: f64) -> Record {
    let own = 10.0 * slower * (noise * normal(random)).exp();
    let mut level = 0.0;
    let seconds = (0..seconds)
        .map(|second| {
            level = 0.6 * level + 0.05 * normal(random);
            let mut times = Histogram::new();
            let count = 60 + random.below(20);
            for _ in 0..count {
                times.record(own * (level + 0.4 * normal(random)).exp());
            }
            let mut line = Second {
                second,
                users: 5,
                ..Second::default()
            };
            line.counters.insert("http_reqs".to_owned(), count as f64);
            line.rates
                .insert("http_req_failed".to_owned(), (0, count as u64));
            line.trends
                .insert("http_req_duration".to_owned(), Distribution::of(&times));
            line
        })
        .collect();
    Record {
        header: Header {
            schema: SCHEMA.to_owned(),
            plimsoll: "0".to_owned(),
            kind: "http".to_owned(),
            command: Vec::new(),
            started: String::new(),
            model: "closed".to_owned(),
            title: String::new(),
            load: Vec::new(),
            warm_up_seconds: 0.0,
            configuration: serde_json::Value::Null,
            configuration_hash: String::new(),
            environment: Environment::default(),
        },
        seconds,
        tail: Vec::new(),
        end: None,
    }
}

fn figures() -> Vec<&'static Figure> {
    ["rate", "failed", "mean", "p50", "p95", "p99"]
        .into_iter()
        .map(|name| figures::find(name).expect("a figure"))
        .collect()
}

fn differs(all: &[Compared]) -> bool {
    all.iter().any(Compared::is_different)
}

const COMPARISONS: u32 = 200;
/// Five in a hundred comparisons.
const MAX_FALSE: u32 = 10;

#[test]
fn the_same_in_pairs_is_rarely_called_different() {
    let figures = figures();
    for (seed, pairs) in [(1, 6), (2, 8), (3, 12)] {
        let mut random = Random::new(seed);
        let mut wrong = 0;
        for _ in 0..COMPARISONS {
            let runs: Vec<_> = (0..pairs)
                .map(|_| {
                    (
                        run(&mut random, 5, 0.05, 1.0),
                        run(&mut random, 5, 0.05, 1.0),
                    )
                })
                .collect();
            wrong += u32::from(differs(&compare::pairs(&runs, &figures, &|_| None)));
        }
        assert!(
            wrong <= MAX_FALSE,
            "{pairs} pairs, seed {seed}: {wrong} false of {COMPARISONS}"
        );
    }
}

#[test]
fn the_same_in_single_runs_is_rarely_called_different() {
    // Runs that vary by 3 %, compared with the assumed noise.
    let figures = figures();
    let mut random = Random::new(4);
    let wrong: u32 = (0..COMPARISONS)
        .map(|_| {
            let (a, b) = (
                run(&mut random, 30, 0.03, 1.0),
                run(&mut random, 30, 0.03, 1.0),
            );
            u32::from(differs(&compare::single(&a, &b, &figures, &|_| None)))
        })
        .sum();
    assert!(wrong <= MAX_FALSE, "seed 4: {wrong} false of {COMPARISONS}");
}

/// Excluding a warm-up that a run does not have must not cause differences. An actual warm-up must
/// be excluded.
#[test]
fn the_same_without_its_warm_up_is_rarely_called_different() {
    let figures = figures();
    let mut random = Random::new(9);
    let mut settled = || {
        let record = record(&mut random, 60, 0.03, 1.0);
        RunFigures::without_warm_up(&record).expect("figures").0
    };
    // A share near the bound needs more comparisons.
    let comparisons = 3 * COMPARISONS;
    let wrong: u32 = (0..comparisons)
        .map(|_| {
            let (a, b) = (settled(), settled());
            u32::from(differs(&compare::single(&a, &b, &figures, &|_| None)))
        })
        .sum();
    assert!(
        wrong <= 3 * MAX_FALSE,
        "seed 9: {wrong} false of {comparisons}"
    );
    let mut random = Random::new(10);
    let mut warming = record(&mut random, 60, 0.0, 1.0);
    for second in &mut warming.seconds[..10] {
        *second = record(&mut random, 1, 0.0, 4.0).seconds.remove(0);
    }
    for (number, second) in warming.seconds.iter_mut().enumerate() {
        second.second = number as u64;
    }
    let (figures, warm_up) = RunFigures::without_warm_up(&warming).expect("figures");
    assert!((10..=15).contains(&warm_up.seconds()), "{warm_up:?}");
    let p50 = figures::find("p50").expect("a figure");
    let median = figures.value(p50).expect("enough samples");
    assert!((8.0..12.0).contains(&median), "{median}");
}

#[test]
fn seconds_alone_without_noise_between_runs_are_reported_unchanged() {
    // Without noise between runs, and without assumed noise, the intervals alone must be correct.
    let figures = figures();
    let mut random = Random::new(5);
    let wrong: u32 = (0..COMPARISONS)
        .map(|_| {
            let (a, b) = (
                run(&mut random, 60, 0.0, 1.0),
                run(&mut random, 60, 0.0, 1.0),
            );
            u32::from(differs(&compare::single(&a, &b, &figures, &|_| Some(0.0))))
        })
        .sum();
    assert!(wrong <= MAX_FALSE, "seed 5: {wrong} false of {COMPARISONS}");
}

#[test]
fn differences_are_found_and_measured() {
    let figures = figures();
    let mut random = Random::new(6);
    let runs: Vec<_> = (0..10)
        .map(|_| {
            (
                run(&mut random, 5, 0.03, 1.0),
                run(&mut random, 5, 0.03, 1.3),
            )
        })
        .collect();
    let all = compare::pairs(&runs, &figures, &|_| None);
    let of = |name: &str| {
        all.iter()
            .find(|one| one.figure.name == name)
            .expect("compared")
    };
    for name in ["mean", "p50", "p95"] {
        let one = of(name);
        assert_eq!(one.outcome, Outcome::Larger, "{one:?}");
        assert!(
            one.is_worse() && one.change.expect("a ratio").holds(1.3),
            "{one:?}"
        );
    }
    for name in ["failed", "rate"] {
        let one = of(name);
        assert!(
            !one.is_different() && one.outcome != Outcome::NotMeasured,
            "{one:?}"
        );
    }
    // Differences within the noise of A do not count.
    let noisy = compare::pairs(&runs, &figures, &|_| Some(0.5));
    let mean = noisy
        .iter()
        .find(|one| one.figure.name == "mean")
        .expect("compared");
    assert_eq!(mean.outcome, Outcome::NoDifference);
    assert!(mean.at_most.is_some_and(|share| share > 0.3 && share < 0.5));
    let single = compare::single(&runs[0].0, &runs[0].1, &figures, &|_| None);
    assert!(
        single.iter().all(|one| one.outcome == Outcome::NotMeasured),
        "five seconds"
    );
    let (a, b) = (
        run(&mut random, 30, 0.0, 1.0),
        run(&mut random, 30, 0.0, 1.5),
    );
    let single = compare::single(&a, &b, &figures, &|_| None);
    let mean = single
        .iter()
        .find(|one| one.figure.name == "mean")
        .expect("compared");
    assert_eq!(mean.outcome, Outcome::Larger);
    assert!(mean.change.expect("a ratio").holds(1.5), "{mean:?}");
}

#[test]
fn few_pairs_and_the_noise_of_a_against_a() {
    let figures = figures();
    let mut random = Random::new(7);
    let mut of = |count| -> Vec<_> {
        (0..count)
            .map(|_| {
                (
                    run(&mut random, 5, 0.05, 1.0),
                    run(&mut random, 5, 0.05, 1.0),
                )
            })
            .collect()
    };
    let few = compare::pairs(&of(2), &figures, &|_| None);
    assert!(few.iter().all(|one| one.outcome == Outcome::NotMeasured));
    let why = few[0].why.as_deref().unwrap_or_default();
    assert!(why.contains("use at least 3"), "{why}");
    // If the pairs leave the outcome undecided, the result contains the number of pairs that would
    // settle it.
    for one in compare::pairs(&of(3), &figures, &|_| None) {
        if one.outcome == Outcome::Uncertain {
            assert!(one.would_decide.is_none_or(|pairs| pairs > 3), "{one:?}");
        }
    }
    // Six pairs must show a difference in one of six metrics.
    let slower = |seed| run(&mut Random::new(seed), 5, 0.03, 1.4);
    let six: Vec<_> = of(6)
        .into_iter()
        .zip(10..)
        .map(|((a, _), seed)| (a, slower(seed)))
        .collect();
    let all = compare::pairs(&six, &figures, &|_| Some(0.1));
    let p95 = all.iter().find(|one| one.figure.name == "p95");
    let p95 = p95.expect("compared");
    assert_eq!(p95.outcome, Outcome::Larger, "{p95:?}");
    let p50 = figures::find("p50").expect("a figure");
    let noise = compare::measured_noise(&of(8), p50).expect("enough pairs");
    assert!((0.005..0.3).contains(&noise), "{noise}");
    assert_eq!(compare::measured_noise(&of(2), p50), None);
}
