//! Results conform to `docs/schema/lab-result-1.json`, and are the same after writing and reading.

mod support;

use plimsoll_results::lab::{Host, LabResult};
use plimsoll_testkit::schema::faults;
use serde_json::Value;
use support::fixture;

const SCHEMA: &str = include_str!("../../../docs/schema/lab-result-1.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

fn json(result: &LabResult) -> Value {
    serde_json::to_value(result).expect("a result is JSON")
}

#[test]
fn results_follow_the_schema() {
    for (name, result) in [
        ("full", fixture::full()),
        ("quick", fixture::quick()),
        ("work", fixture::work()),
        ("empty", fixture::empty()),
        ("host", with_host()),
    ] {
        let faults = faults(&schema(), &json(&result));
        assert!(faults.is_empty(), "{name}: {faults:#?}");
    }
}

/// A result with another host.
fn with_host() -> LabResult {
    let mut result = fixture::quick();
    result.hosts.push(Host {
        name: "machine".into(),
        processes: vec!["authz".into()],
        environment: result.environment.clone(),
        busy_processors: Some((0.5, 1.5)),
    });
    result
}

#[test]
fn violations_of_the_schema_are_detected() {
    let good = json(&fixture::full());
    let broken = |pointer: &str, value: Value| {
        let mut broken = good.clone();
        *broken.pointer_mut(pointer).expect("an existing place") = value;
        faults(&schema(), &broken).len()
    };
    assert_eq!(broken("/form", "fast".into()), 1);
    assert_eq!(broken("/cells/0/verdict", "fine".into()), 1);
    assert_eq!(broken("/cells/0/state/state", "done".into()), 1);
    assert_eq!(broken("/cells/0/figures/0/value", "3 ms".into()), 1);
    assert_eq!(broken("/cells/0/figures/0/interval", 3.into()), 1);
    assert_eq!(
        broken(
            "/cells/0/repeats/0/used/0/context_switches",
            Value::Array(vec![1.into()])
        ),
        1
    );
    assert_eq!(broken("/comparisons/0/outcome", "same".into()), 1);
    let mut more = good.clone();
    more["cells"][0]["color"] = "red".into();
    assert_eq!(faults(&schema(), &more).len(), 1);
    let mut less = good.clone();
    less.as_object_mut()
        .and_then(|object| object.shift_remove("findings"));
    assert_eq!(faults(&schema(), &less).len(), 1);
}

#[test]
fn a_result_survives_a_round_trip() {
    for (name, result) in fixture::all() {
        let text = serde_json::to_string(&result).expect("a result is JSON");
        let back: LabResult = serde_json::from_str(&text).expect("what was written");
        // Floats in maps and lists come back bit for bit.
        assert!(back == result, "{name}");
        assert_eq!(
            plimsoll_report::markdown(&back),
            plimsoll_report::markdown(&result)
        );
    }
}
