use plimsoll_stats::Random;

use super::*;
use crate::{Reason, Verdict};

fn gaps(lengths: impl IntoIterator<Item = f64>) -> Vec<Vec<ArrivalGap>> {
    let gaps = lengths
        .into_iter()
        .map(|length| ArrivalGap { places: 1, length });
    vec![gaps.collect()]
}

fn exponential(count: usize) -> Vec<f64> {
    let mut random = Random::new(9);
    (0..count).map(|_| -(1.0 - random.unit()).ln()).collect()
}

fn evidence(process: &str, shape: f64, sent: Vec<Vec<ArrivalGap>>) -> Evidence {
    let arrivals = Arrivals {
        scenario: "default".to_owned(),
        process: process.to_owned(),
        requested: Requested::Gaps {
            shape,
            in_bursts: process.starts_with("on-off"),
            sent,
        },
    };
    let mut evidence = Evidence::default();
    evidence.arrivals = vec![arrivals];
    evidence.send_lag_p99 = Some(Duration::from_micros(900));
    evidence.latency_median = Some(Duration::from_millis(2));
    evidence
}

fn last(verdict: &Verdict) -> &Reason {
    verdict.reasons.last().unwrap()
}

#[test]
fn arrivals_as_requested_are_valid_and_their_meaning_is_stated() {
    for (process, shape, meaning) in [
        ("poisson", 1.0, "queues of independent users"),
        ("on-off:1s/4s", 1.0, "queues of its bursts"),
    ] {
        let verdict = evidence(process, shape, gaps(exponential(2_000))).judge();
        assert_eq!(verdict.level, Level::Valid, "{verdict:?}");
        let text = &last(&verdict).text;
        let start = format!("arrivals {process} (Anderson-Darling ");
        assert!(text.starts_with(&start) && text.contains(meaning), "{text}");
    }
    for (shape, meaning) in [(0.5, "are longer"), (2.0, "are shorter")] {
        // There are too few gaps to test.
        let verdict = evidence("gamma", shape, gaps([1.0])).judge();
        assert!(last(&verdict).text.contains(meaning), "{verdict:?}");
    }
}

#[test]
fn a_trace_is_not_tested_and_its_meaning_is_stated() {
    let mut evidence = evidence("trace:a.log", 1.0, Vec::new());
    evidence.arrivals[0].requested = Requested::Times;
    let verdict = evidence.judge();
    let expected =
        "arrivals trace:a.log: percentiles include the queues that the recorded times cause";
    assert_eq!(last(&verdict).text, expected);
}

#[test]
fn other_intervals_are_suspect_and_their_effect_is_stated() {
    let even = (0..1_000).map(|i| 0.9 + f64::from(i % 10) / 50.0);
    let verdict = evidence("poisson", 1.0, gaps(even)).judge();
    assert_eq!(verdict.level, Level::Suspect);
    assert_eq!(last(&verdict).cause, Cause::Client);
    let text = &last(&verdict).text;
    assert!(
        text.starts_with("iterations did not start as poisson arrivals (Anderson-Darling ")
            && text.contains("of 1000 intervals, at most 10.3 by chance)")
            && text.ends_with("high percentiles are too low"),
        "{text}"
    );
    // A timer with a period of one mean gap, so that several arrivals wait for the same tick.
    let mut at = 0.0_f64;
    let ticks: Vec<f64> = exponential(2_000)
        .into_iter()
        .map(|gap| {
            at += gap;
            at.ceil()
        })
        .collect();
    let ticks = ticks.windows(2).map(|pair| pair[1] - pair[0]);
    let verdict = evidence("poisson", 1.0, gaps(ticks)).judge();
    assert_eq!(verdict.level, Level::Suspect);
    // The gaps are twice as long as requested, because every second iteration was dropped.
    let halves = exponential(2_000);
    let halves = halves.chunks(2).map(|pair| pair[0] + pair[1]);
    let mut dropped = evidence("poisson", 1.0, gaps(halves));
    dropped.dropped = 1_000;
    dropped.scheduled = 2_000;
    dropped.started = 1_000;
    let verdict = dropped.judge();
    let text = &last(&verdict).text;
    assert_eq!(last(&verdict).cause, Cause::Server);
    assert!(text.contains("iterations were dropped"), "{text}");
}

#[test]
fn dependent_intervals_are_suspect_though_each_follows_the_distribution() {
    let mut lengths = exponential(2_000);
    for eight in lengths.chunks_mut(8) {
        eight.sort_by(f64::total_cmp);
    }
    let verdict = evidence("poisson", 1.0, gaps(lengths)).judge();
    let text = &last(&verdict).text;
    assert_eq!(verdict.level, Level::Suspect);
    assert!(
        text.contains("(correlation +0.") && text.contains("with the next one"),
        "{text}"
    );
    assert!(text.ends_with("high percentiles are too high"), "{text}");
}

#[test]
fn a_lag_that_is_small_for_the_latency_does_not_matter() {
    let even = (0..1_000).map(|_| 1.0);
    let mut evidence = evidence("poisson", 1.0, gaps(even));
    evidence.send_lag_p99 = Some(Duration::from_micros(20));
    let verdict = evidence.judge();
    assert_eq!(verdict.level, Level::Valid);
    let text = &last(&verdict).text;
    assert!(
        text.starts_with("arrivals poisson except for a send lag of 20"),
        "{text}"
    );
    evidence.latency_median = Some(Duration::from_micros(100));
    assert_eq!(evidence.judge().level, Level::Suspect);
}

#[test]
fn the_part_of_one_machine_follows_the_sum_of_several_gaps() {
    let own = |places: u64| {
        let lengths = exponential(6_000);
        let sums: Vec<f64> = lengths.chunks(3).map(|gaps| gaps.iter().sum()).collect();
        let gaps = sums.into_iter().map(|length| ArrivalGap { places, length });
        evidence("poisson", 1.0, vec![gaps.collect()]).judge().level
    };
    assert_eq!(own(3), Level::Valid);
    assert_eq!(own(4), Level::Suspect);
}

#[test]
fn several_scenarios_are_named() {
    let mut evidence = evidence("poisson", 1.0, gaps((0..500).map(|_| 1.0)));
    let mut other = evidence.arrivals[0].clone();
    other.scenario = "buyers".to_owned();
    evidence.arrivals.push(other);
    let verdict = evidence.judge();
    assert_eq!(verdict.reasons.len(), 2);
    assert!(
        last(&verdict)
            .text
            .starts_with("iterations of buyers did not start"),
        "{verdict:?}"
    );
}
