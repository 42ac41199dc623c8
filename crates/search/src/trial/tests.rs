//! The outcomes of trials with known figures.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_results::distribution::Distribution;
use plimsoll_results::environment::Environment;
use plimsoll_results::record::{Generator, Header, Second};

use super::*;
use crate::Objective;

pub(crate) fn settings(objective: &str, fail_rate: f64) -> Settings {
    Settings {
        objectives: vec![Objective::parse(objective).expect("an objective")],
        fail_rate,
        trial: Duration::from_secs(1),
        warm_up: Duration::ZERO,
        soak: Duration::from_secs(1),
        start: 100,
        most: 1_000_000,
        precision: 0.02,
        repeats: 3,
        trials: 60,
    }
}

/// The record of a run of one second.
pub(crate) fn record(second: Second, end: End) -> Record {
    Record {
        header: Header {
            schema: String::new(),
            plimsoll: String::new(),
            kind: "http".to_owned(),
            command: Vec::new(),
            started: String::new(),
            model: "open".to_owned(),
            title: String::new(),
            load: Vec::new(),
            warm_up_seconds: 0.0,
            configuration: serde_json::Value::Null,
            configuration_hash: String::new(),
            environment: Environment::default(),
        },
        seconds: vec![second],
        tail: Vec::new(),
        end: Some(end),
    }
}

/// One second with seven users and a thousand scheduled iterations. `times` are the response times in milliseconds; the
/// other iterations were dropped.
fn trial(settings: &Settings, times: &[f64], verdict: &str, cause: &str) -> Trial {
    trial_at(settings, 1_000, times, None, verdict, cause)
}

/// The same with `rate` scheduled iterations, each of which started `lag` milliseconds late.
fn trial_at(
    settings: &Settings,
    rate: u64,
    times: &[f64],
    lag: Option<f64>,
    verdict: &str,
    cause: &str,
) -> Trial {
    let of = |times: &[f64]| {
        let mut histogram = Histogram::new();
        times.iter().for_each(|time| histogram.record(*time));
        Distribution::of(&histogram)
    };
    let distribution = of(times);
    let lag = lag.map(|lag| ("iteration_send_lag".to_owned(), of(&vec![lag; times.len()])));
    let counters = BTreeMap::from([
        ("iterations".to_owned(), times.len() as f64),
        (
            "dropped_iterations".to_owned(),
            rate as f64 - times.len() as f64,
        ),
    ]);
    let second = Second {
        users: 7,
        counters,
        rates: BTreeMap::from([("http_req_failed".to_owned(), (0, times.len() as u64))]),
        trends: BTreeMap::from([
            ("http_req_response_time".to_owned(), distribution.clone()),
            ("iteration_duration".to_owned(), distribution),
        ])
        .into_iter()
        .chain(lag)
        .collect(),
        ..Second::default()
    };
    let end = End {
        duration_seconds: 1.0,
        counters: second.counters.clone(),
        rates: second.rates.clone(),
        trends: second.trends.clone(),
        generator: Generator {
            verdict: verdict.to_owned(),
            reasons: vec![(cause.to_owned(), "it was so".to_owned())],
            ..Generator::default()
        },
        ..End::default()
    };
    let record = record(second, end);
    Trial::of(settings, rate, false, &record).expect("a trial")
}

const MET: Outcome = Outcome::Met { sure: true };
const MISSED: Outcome = Outcome::Missed { sure: true };

#[test]
fn dropped_iterations_count_against_the_objective() {
    let settings = settings("p95<50ms", 0.001);
    assert_eq!(
        trial(&settings, &[10.0; 1_000], "valid", "client").outcome(),
        MET
    );
    // One in a thousand requests may fail or be dropped. The trial's verdict is suspect.
    let one = trial(&settings, &[10.0; 999], "suspect", "server");
    assert_eq!(one.outcome(), Outcome::Met { sure: false });
    let two = trial(&settings, &[10.0; 998], "suspect", "server");
    assert_eq!(two.broken, ["0.20% dropped"]);
    // Seven in a hundred requests may fail, but dropped ones still count as slower than all others.
    let settings = self::settings("p95<50ms", 0.10);
    let many = trial(&settings, &[10.0; 960], "suspect", "server");
    assert!(many.broken.is_empty(), "{:?}", many.broken);
    let more = trial(&settings, &[10.0; 940], "suspect", "server");
    assert_eq!(more.figures, [f64::INFINITY]);
    assert_eq!(more.broken[0], "not p95<50ms");
}

#[test]
fn a_shortage_of_users_is_the_generators_limit_but_a_slow_service_is_not() {
    let settings = settings("p95<50ms", 0.001);
    let short = trial(&settings, &[45.0; 500], "suspect", "server");
    assert!(short.short_of_users, "{:?}", short.broken);
    assert_eq!(short.outcome(), Outcome::GeneratorLimit);
    assert!(short.shortage().contains("all 7 users were busy"));
    assert!(short.outcome_text().contains("not counted"));
    // Seven users are enough for a thousand iterations of 2 ms, so the service was too slow.
    let settings = self::settings("p95<2ms", 0.001);
    let held_up = trial(&settings, &[1.0; 500], "suspect", "server");
    assert_eq!(held_up.outcome(), MISSED);
    // The same number of iterations was dropped, but the responses were too slow.
    let settings = self::settings("p95<50ms", 0.001);
    let slow = trial(&settings, &[55.0; 500], "suspect", "server");
    assert!(!slow.short_of_users);
    assert_eq!(slow.outcome(), MISSED);
}

#[test]
fn a_miss_that_the_generator_may_have_caused_does_not_count() {
    let settings = settings("p95<50ms", 0.001);
    let slow = |verdict, cause| trial(&settings, &[55.0; 1_000], verdict, cause).outcome();
    assert_eq!(slow("valid", "client"), MISSED);
    assert_eq!(slow("suspect", "server"), MISSED);
    for verdict in ["suspect", "invalid"] {
        for cause in ["client", "clock"] {
            assert_eq!(slow(verdict, cause), Outcome::GeneratorLimit);
        }
    }
    assert_eq!(slow("suspect", "network"), Outcome::Missed { sure: false });
    // A problem of the generator does not make a service faster, but a trial with such a problem confirms nothing.
    let met = trial(&settings, &[10.0; 1_000], "suspect", "client");
    assert_eq!(met.outcome(), Outcome::Met { sure: false });
}

#[test]
fn without_any_response_nothing_is_met() {
    let settings = settings("p95<50ms", 1.0);
    let nothing = trial(&settings, &[], "valid", "client");
    assert_eq!(nothing.outcome(), MISSED);
}

#[test]
fn a_growing_backlog_is_not_served() {
    assert_eq!(growth(&[4.0, 14.0, 24.0]), 10.0);
    assert_eq!(growth(&[4.0, 5.0, 4.0]), 0.0);
    assert_eq!(growth(&[4.0]), 0.0);
    assert_eq!(growth(&[]), 0.0);
}

#[test]
fn the_generator_does_not_explain_statuses_of_the_service() {
    let settings = settings("p95<50ms", 0.001);
    let of = |statuses: &[(&str, u64)], failed: u64| {
        let end = End {
            duration_seconds: 1.0,
            rates: BTreeMap::from([("http_req_failed".to_owned(), (failed, 1_000))]),
            statuses: statuses
                .iter()
                .map(|(status, count)| ((*status).to_owned(), *count))
                .collect(),
            generator: Generator {
                verdict: "invalid".to_owned(),
                reasons: vec![("client".to_owned(), "it was busy".to_owned())],
                ..Generator::default()
            },
            ..End::default()
        };
        let second = Second {
            rates: end.rates.clone(),
            ..Second::default()
        };
        let record = record(second, end);
        Trial::of(&settings, 1_000, false, &record)
            .expect("a trial")
            .outcome()
    };
    assert_eq!(of(&[("200", 900), ("500", 100)], 100), MISSED);
    // The script expects this status.
    assert_eq!(
        of(&[("200", 900), ("404", 100)], 0),
        Outcome::GeneratorLimit
    );
    assert_eq!(of(&[("200", 1_000)], 0), Outcome::GeneratorLimit);
}

#[test]
fn a_trial_of_too_few_requests_for_its_percentile_is_not_sure() {
    let settings = settings("p95<50ms", 0.001);
    let trial = |rate, time| {
        trial_at(
            &settings,
            rate,
            &vec![time; rate as usize],
            None,
            "valid",
            "",
        )
    };
    let few = trial(199, 10.0);
    assert_eq!(few.outcome(), Outcome::Met { sure: false });
    assert_eq!((few.needed.as_slice(), few.due), (&[Some(200)][..], 199));
    assert!(
        few.line(&settings).contains("p95=10.00ms?  met"),
        "{}",
        few.line(&settings)
    );
    assert_eq!(trial(200, 10.0).outcome(), MET);
    // Ten requests that take longer than the bound show that it is exceeded.
    assert_eq!(trial(9, 60.0).outcome(), Outcome::Missed { sure: false });
    assert_eq!(trial(10, 60.0).outcome(), MISSED);
    // Dropped iterations are a reason of their own.
    let dropped = trial_at(&settings, 9, &[60.0; 5], None, "valid", "");
    assert_eq!(dropped.outcome(), MISSED);
}

#[test]
fn a_response_time_that_the_generators_delay_does_not_explain_is_a_miss_of_the_service() {
    let settings = settings("p95<50ms", 0.001);
    let busy = |time, lag| {
        trial_at(
            &settings,
            1_000,
            &[time; 1_000],
            Some(lag),
            "suspect",
            "client",
        )
        .outcome()
    };
    assert_eq!(busy(209.0, 2.2), Outcome::Missed { sure: false });
    assert_eq!(busy(54.0, 2.2), Outcome::GeneratorLimit);
    assert_eq!(busy(209.0, 100.0), Outcome::GeneratorLimit);
}
