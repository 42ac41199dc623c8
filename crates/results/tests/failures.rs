//! Failed requests in the figures of a run.

use plimsoll_results::distribution::Distribution;
use plimsoll_results::environment::Environment;
use plimsoll_results::figures::{self, RunFigures};
use plimsoll_results::record::{End, Header, Record, SCHEMA, Second};
use plimsoll_stats::Histogram;

/// A run of ten seconds, each with a hundred requests of 10 ms, of which `failed` failed.
fn record(protocol: &str, trend: &str, failed: u64) -> Record {
    let mut times = Histogram::new();
    (0..100).for_each(|_| times.record(10.0));
    let (rate, outcome) = (format!("{protocol}_req_failed"), (failed, 100));
    let seconds = (0..10).map(|second| {
        let mut line = Second {
            second,
            ..Second::default()
        };
        if protocol == "http" {
            line.counters.insert("http_reqs".to_owned(), 100.0);
        }
        line.counters.insert("iterations".to_owned(), 25.0);
        line.rates.insert(rate.clone(), outcome);
        line.trends
            .insert(trend.to_owned(), Distribution::of(&times));
        line
    });
    let mut end = End {
        duration_seconds: 10.0,
        ..End::default()
    };
    end.rates.insert(rate.clone(), (failed * 10, 1_000));
    end.generator.reasons = vec![("server".to_owned(), "none got a response".to_owned())];
    Record {
        header: Header {
            schema: SCHEMA.to_owned(),
            plimsoll: "0".to_owned(),
            kind: "run".to_owned(),
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
        seconds: seconds.collect(),
        tail: Vec::new(),
        end: Some(end),
    }
}

fn value(run: &RunFigures, name: &str) -> Option<f64> {
    run.value(figures::find(name).expect("a figure"))
}

#[test]
fn failed_requests_are_not_in_the_rate() {
    for (protocol, trend) in [
        ("http", "http_req_duration{expected_response:true}"),
        ("grpc", "grpc_req_duration"),
    ] {
        let run = RunFigures::of(&record(protocol, trend, 30), 0).expect("figures");
        assert_eq!(value(&run, "rate"), Some(70.0), "{protocol}");
        assert_eq!(value(&run, "failed"), Some(0.3), "{protocol}");
    }
    let record = record("other", "iteration_duration", 30);
    let run = RunFigures::of(&record, 0).expect("figures");
    assert_eq!(value(&run, "rate"), Some(25.0));
}

#[test]
fn a_run_without_a_successful_request_has_no_figures() {
    for protocol in ["http", "grpc"] {
        let trend = format!("{protocol}_req_duration");
        let error = RunFigures::of(&record(protocol, &trend, 100), 0).unwrap_err();
        assert_eq!(
            error,
            "every request failed (none got a response), so it has no times"
        );
        assert!(RunFigures::of(&record(protocol, &trend, 99), 0).is_ok());
    }
}
