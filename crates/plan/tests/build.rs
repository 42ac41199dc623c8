//! From layers of options to a plan, as in k6 v1.8.1.

use std::time::Duration;

use plimsoll_plan::{Executor, Exports, Layers, Options, Plan, Scenario, consolidate};
use serde_json::{Value, json};

fn options(value: Value) -> Options {
    Options::from_json(value)
        .unwrap_or_else(|e| panic!("{e}"))
        .0
}

fn exports(functions: &[&str]) -> Exports {
    Exports {
        functions: functions.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn build(value: Value) -> Plan {
    Plan::build(&options(value), &exports(&["default", "foo"])).unwrap_or_else(|e| panic!("{e}"))
}

fn faults(value: Value) -> Vec<String> {
    let errors = Plan::build(&options(value), &exports(&["default", "foo"])).expect_err("a fault");
    errors.0.iter().map(ToString::to_string).collect()
}

fn one_fault(scenario: Value) -> String {
    let faults_found = faults(json!({"scenarios": {"a": scenario}}));
    assert_eq!(faults_found.len(), 1, "{faults_found:?}");
    faults_found.into_iter().next().unwrap()
}

fn only(value: Value) -> Scenario {
    let plan = build(value);
    assert_eq!(plan.scenarios.len(), 1);
    plan.scenarios.into_iter().next().unwrap()
}

fn layered(script: Value, env: Value, flags: Value) -> (Options, Vec<String>) {
    let layers = Layers {
        script: options(script),
        env: options(env),
        flags: options(flags),
        ..Layers::default()
    };
    let (sum, warnings) = consolidate(layers).unwrap_or_else(|e| panic!("{e}"));
    (sum, warnings.iter().map(ToString::to_string).collect())
}

fn set(options: &Options) -> Value {
    options.to_script_json()
}

#[test]
fn the_higher_layer_wins_and_scenario_options_belong_together() {
    let (sum, warnings) = layered(
        json!({"duration": "10s", "vus": 3}),
        json!({}),
        json!({"iterations": 5}),
    );
    assert_eq!(set(&sum), json!({"vus": 3, "iterations": 5}));
    assert!(warnings.is_empty(), "{warnings:?}");

    let stages = json!({"stages": [{"duration": "1s", "target": 1}], "vus": 2});
    let (sum, _) = layered(stages.clone(), json!({"duration": "5s"}), json!({"vus": 7}));
    assert_eq!(set(&sum), json!({"vus": 7, "duration": "5s"}));
    let (sum, _) = layered(stages, json!({}), json!({"vus": 5}));
    assert_eq!(
        set(&sum)["stages"][0]["target"],
        1,
        "vus alone shapes nothing"
    );
}

#[test]
fn losing_scenarios_causes_a_warning() {
    let script = json!({"scenarios": {"a": {"executor": "constant-vus", "duration": "1s"}}});
    let (sum, warnings) = layered(
        script.clone(),
        json!({}),
        json!({"vus": 5, "duration": "5s"}),
    );
    assert_eq!(set(&sum), json!({"vus": 5, "duration": "5s"}));
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("the command line sets `duration`"),
        "{warnings:?}"
    );
    let (sum, warnings) = layered(script, json!({}), json!({"vus": 5}));
    assert!(sum.scenarios.is_some() && warnings.is_empty());
}

#[test]
fn maps_replace_each_other_but_dns_merges() {
    let config = options(
        json!({"tags": {"c": "d"}, "dns": {"ttl": "1m"}, "hosts": {"b": "2.2.2.2"},
        "thresholds": {"http_reqs": ["count>2"]}}),
    );
    let script = options(
        json!({"tags": {}, "dns": {"select": "first"}, "hosts": {"a": "1.1.1.1"}, "thresholds": {}}),
    );
    let flags = options(json!({"dns": {"policy": "any"}}));
    let (sum, _) = consolidate(Layers {
        config,
        script,
        flags,
        ..Layers::default()
    })
    .unwrap();
    let shown = sum.to_json();
    assert_eq!(shown["tags"], json!({"c": "d"}));
    assert_eq!(
        shown["dns"],
        json!({"ttl": "1m", "select": "first", "policy": "any"})
    );
    assert_eq!(shown["hosts"], json!({"a": "1.1.1.1"}));
    assert_eq!(shown["thresholds"], json!({}));
}

#[test]
fn tags_of_all_layers_are_merged_on_request() {
    let (sum, _) = consolidate(Layers {
        config: options(json!({"tags": {"a": "config", "b": "config"}})),
        script: options(json!({"tags": {"b": "script", "c": "script"}})),
        flags: options(json!({"tags": {"c": "flag"}})),
        merges_tags: true,
        ..Layers::default()
    })
    .unwrap();
    let merged = json!({"a": "config", "b": "script", "c": "flag"});
    assert_eq!(sum.to_json()["tags"], merged);
}

#[test]
fn two_kinds_of_scenarios_in_one_layer_are_a_contradiction() {
    for mixed in [
        json!({"duration": "10s", "stages": [{"duration": "10s", "target": 5}]}),
        json!({"iterations": 5, "stages": [{"duration": "10s", "target": 5}]}),
        json!({"iterations": 5, "scenarios": {"a": {"executor": "constant-vus", "duration": "1s"}}}),
        json!({"duration": "1s", "scenarios": {"a": {"executor": "constant-vus", "duration": "1s"}}}),
    ] {
        let layers = |flags| Layers {
            script: options(mixed.clone()),
            flags: options(flags),
            ..Layers::default()
        };
        let errors = consolidate(layers(json!({}))).expect_err("excluding each other");
        assert!(errors.to_string().contains("the script sets"), "{errors}");
        assert!(
            consolidate(layers(json!({"iterations": 1}))).is_ok(),
            "wiped by a flag"
        );
    }
    let both = Layers {
        script: options(json!({"iterations": 5, "duration": "1s"})),
        ..Layers::default()
    };
    assert!(consolidate(both).is_ok());
}

#[test]
fn shortcuts_become_one_scenario() {
    let scenario = only(json!({"vus": 3, "iterations": 10, "duration": "1m"}));
    let shared = |users, iterations, seconds| Executor::SharedIterations {
        users,
        iterations,
        max_duration: Duration::from_secs(seconds),
    };
    assert_eq!(
        (scenario.name.as_str(), scenario.executor),
        ("default", shared(3, 10, 60))
    );
    assert_eq!(only(json!({"iterations": 10})).executor, shared(1, 10, 600));
    let constant = Executor::ConstantUsers {
        users: 5,
        duration: Duration::from_secs(10),
    };
    assert_eq!(
        only(json!({"vus": 5, "duration": "10s"})).executor,
        constant
    );
    match only(json!({"vus": 2, "stages": [{"duration": "10s", "target": 5}]})).executor {
        Executor::RampingUsers { start, stages, .. } => {
            assert_eq!((start, stages[0].target), (2, 5))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_scenario_options_one_user_runs_once() {
    for (value, warnings) in [
        (json!({}), 0),
        (json!({"vus": 5}), 1),
        (json!({"stages": []}), 1),
        (json!({"scenarios": {}}), 1),
        (json!({"vus": 5, "stages": []}), 2),
    ] {
        let plan = build(value.clone());
        assert_eq!(plan.warnings.len(), warnings, "{value}");
        let once = Executor::PerUserIterations {
            users: 1,
            iterations: 1,
            max_duration: Duration::from_secs(600),
        };
        assert_eq!(plan.scenarios[0].executor, once);
    }
}

#[test]
fn missing_options_get_defaults() {
    let shown = build(json!({"iterations": 3})).options.to_test_json();
    assert_eq!(
        shown["scenarios"]["default"]["executor"],
        "shared-iterations"
    );
    assert_eq!(shown["scenarios"]["default"]["vus"], Value::Null);
    assert_eq!(
        shown["summaryTrendStats"],
        json!(["avg", "min", "med", "max", "p(90)", "p(95)"])
    );
    assert_eq!(shown["systemTags"].as_array().unwrap().len(), 14);
}

#[test]
fn scenarios_are_sorted_by_start_and_name() {
    let scenario =
        |start: &str| json!({"executor": "constant-vus", "duration": "1s", "startTime": start});
    let plan = build(
        json!({"scenarios": {"c": scenario("0s"), "a": scenario("5s"), "b": scenario("0s")}}),
    );
    let names: Vec<_> = plan.scenarios.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["b", "c", "a"]);
}

#[test]
fn all_errors_of_all_scenarios_are_reported() {
    let faults_found = faults(json!({
        "scenarios": {
            "a b": {"executor": "constant-vus", "vus": 0, "duration": "500ms", "exec": ""},
            "b": {"executor": "constant-arrival-rate"},
            "c": {"executor": "ramping-arrival-rate", "startRate": -1, "preAllocatedVUs": 2,
                  "stages": [{"duration": "1s", "target": -3}, {"target": 1}, {"duration": "1s"}]},
        },
        "thresholds": {"http_reqs": ["rate", "rate>1"], "a{b": ["count>1"]},
        "setupTimeout": 0,
        "executionSegment": "0:1/4", "executionSegmentSequence": "0,1/2,1",
    }));
    for place in [
        "scenarios.a b: ",
        "scenarios.a b.vus: ",
        "scenarios.a b.duration: ",
        "scenarios.a b.exec: ",
        "scenarios.b.rate: ",
        "scenarios.b.duration: ",
        "scenarios.b.preAllocatedVUs: ",
        "scenarios.c.startRate: ",
        "scenarios.c.stages[0]: ",
        "scenarios.c.stages[1]: ",
        "scenarios.c.stages[2]: ",
        "thresholds.http_reqs: ",
        "thresholds.a{b: ",
        "setupTimeout: ",
        "executionSegment: ",
    ] {
        assert_eq!(
            faults_found.iter().filter(|f| f.starts_with(place)).count(),
            1,
            "{place} in {faults_found:#?}"
        );
    }
    assert_eq!(faults_found.len(), 15, "{faults_found:#?}");
}

#[test]
fn each_executor_checks_its_own_fields() {
    let cases = [
        (json!({"executor": "constant-vus"}), "duration: is missing"),
        (
            json!({"executor": "constant-vus", "duration": "1s", "vus": 0}),
            "vus: must be more than 0",
        ),
        (
            json!({"executor": "constant-vus", "duration": "999ms"}),
            "duration: must be at least 1s",
        ),
        (
            json!({"executor": "constant-vus", "duration": "1s", "vus": 5_000_000_000_i64}),
            "vus: 5000000000 users",
        ),
        (
            json!({"executor": "constant-vus", "duration": "1s", "exec": "fooo"}),
            "did you mean \"foo\"",
        ),
        (
            json!({"executor": "shared-iterations", "vus": 5}),
            "iterations: must be at least 1 for each user, so at least 5",
        ),
        (
            json!({"executor": "shared-iterations", "maxDuration": 0}),
            "maxDuration: must be at least 1s",
        ),
        (
            json!({"executor": "per-vu-iterations", "iterations": 0}),
            "iterations: must be more than 0",
        ),
        (
            json!({"executor": "ramping-vus"}),
            "stages: at least one stage",
        ),
        (
            json!({"executor": "ramping-vus", "startVUs": -1, "stages": [{"duration": "1s", "target": 3}]}),
            "startVUs: ",
        ),
        (
            json!({"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "1s", "target": 0}]}),
            "nothing would run",
        ),
        (
            json!({"executor": "constant-arrival-rate", "rate": 0, "duration": "1s", "preAllocatedVUs": 1}),
            "rate: must be more than 0",
        ),
        (
            json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 5, "maxVUs": 3}),
            "maxVUs: 3 is below",
        ),
        (
            json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 1, "timeUnit": 0}),
            "timeUnit: must be more than 0",
        ),
        (
            json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 0}),
            "no user could ever run",
        ),
        (
            json!({"executor": "externally-controlled", "vus": 5, "maxVUs": 3, "duration": 0}),
            "vus: 5 is above maxVUs",
        ),
        (
            json!({"executor": "externally-controlled", "vus": 5}),
            "duration: is missing",
        ),
        (
            json!({"executor": "externally-controlled", "duration": 0, "gracefulStop": "1s"}),
            "gracefulStop: ",
        ),
    ];
    for (scenario, expected) in cases {
        let faults_found = one_fault(scenario.clone());
        assert!(
            faults_found.contains(expected),
            "{scenario}: {faults_found}"
        );
    }
}

#[test]
fn a_script_without_functions_is_reported() {
    let errors = Plan::build(&Options::default(), &exports(&[])).unwrap_err();
    assert!(
        errors.to_string().contains("exports no function"),
        "{errors}"
    );
}

#[test]
fn an_arrival_rate_may_start_without_users() {
    let scenario = only(
        json!({"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 1,
        "duration": "1s", "preAllocatedVUs": 0, "maxVUs": 3}}}),
    );
    assert_eq!((scenario.planned_users(), scenario.max_users()), (0, 3));
}

/// The lines that k6 v1.8.1 prints for the same script, as a whole and as one of three segments.
#[test]
fn descriptions_match_those_of_k6() {
    let script = |segment: &str| {
        json!({"executionSegment": segment, "scenarios": {
            "a": {"executor": "shared-iterations", "maxDuration": "1m", "startTime": "5s", "gracefulStop": "3s", "exec": "foo"},
            "b": {"executor": "per-vu-iterations", "vus": 3, "iterations": 4, "gracefulStop": "0s"},
            "c": {"executor": "constant-vus", "vus": 3, "duration": "1s"},
            "d": {"executor": "ramping-vus", "startVUs": 2, "stages": [{"duration": "1s", "target": 20}, {"duration": 0, "target": 5}], "gracefulRampDown": "0s"},
            "d2": {"executor": "ramping-vus", "startVUs": 2, "stages": [{"duration": "1s", "target": 20}, {"duration": 0, "target": 5}], "gracefulStop": "1m"},
            "e": {"executor": "constant-arrival-rate", "rate": 3, "timeUnit": "1m", "duration": "1s", "preAllocatedVUs": 4, "maxVUs": 9},
            "e2": {"executor": "constant-arrival-rate", "rate": 3000, "timeUnit": "7s", "duration": "1s", "preAllocatedVUs": 4},
            "f": {"executor": "ramping-arrival-rate", "startRate": 33, "timeUnit": "1s", "stages": [{"duration": "1s", "target": 20}], "preAllocatedVUs": 4, "startTime": "1500ms"},
            "g": {"executor": "externally-controlled", "vus": 3, "maxVUs": 10, "duration": "1s"},
            "h": {"executor": "externally-controlled", "vus": 3, "duration": "0s"},
        }})
    };
    let faults_found = |segment: &str| -> Vec<String> {
        let plan = build(script(segment));
        let mut lines: Vec<_> = plan
            .scenarios
            .iter()
            .map(|s| format!("{}: {}", s.name, s.description()))
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(
        faults_found("0:1"),
        [
            "a: 1 iterations shared among 1 VUs (maxDuration: 1m0s, exec: foo, startTime: 5s, gracefulStop: 3s)",
            "b: 4 iterations for each of 3 VUs (maxDuration: 10m0s)",
            "c: 3 looping VUs for 1s (gracefulStop: 30s)",
            "d2: Up to 20 looping VUs for 1s over 2 stages (gracefulRampDown: 30s, gracefulStop: 1m0s)",
            "d: Up to 20 looping VUs for 1s over 2 stages (gracefulRampDown: 0s, gracefulStop: 30s)",
            "e2: 428.57 iterations/s for 1s (maxVUs: 4, gracefulStop: 30s)",
            "e: 0.05 iterations/s for 1s (maxVUs: 4-9, gracefulStop: 30s)",
            "f: Up to 33.00 iterations/s for 1s over 1 stages (maxVUs: 4, startTime: 1.5s, gracefulStop: 30s)",
            "g: Externally controlled execution with 3 VUs, 10 max VUs, 1s duration",
            "h: Externally controlled execution with 3 VUs, 3 max VUs, infinite duration",
        ]
    );
    assert_eq!(
        faults_found("1/3:2/3")[..7],
        [
            "a: 0 iterations shared among 0 VUs (maxDuration: 1m0s, exec: foo, startTime: 5s, gracefulStop: 3s)",
            "b: 4 iterations for each of 1 VUs (maxDuration: 10m0s)",
            "c: 1 looping VUs for 1s (gracefulStop: 30s)",
            "d2: Up to 7 looping VUs for 1s over 2 stages (gracefulRampDown: 30s, gracefulStop: 1m0s)",
            "d: Up to 7 looping VUs for 1s over 2 stages (gracefulRampDown: 0s, gracefulStop: 30s)",
            "e2: 107.14 iterations/s for 1s (maxVUs: 1, gracefulStop: 30s)",
            "e: 0.02 iterations/s for 1s (maxVUs: 1-3, gracefulStop: 30s)",
        ]
    );
}

#[test]
fn thresholds_keep_their_source_and_settings() {
    let plan = build(json!({"thresholds": {
        "http_req_duration{a:b}": ["p(95)<500", {"threshold": "avg<1", "abortOnFail": true, "delayAbortEval": "2s"}],
        "http_reqs{vu:1}": ["count>1", "rate>1"],
    }}));
    let faults_found: Vec<_> = plan
        .thresholds
        .iter()
        .map(|t| {
            (
                t.metric.source.as_str(),
                t.source.as_str(),
                t.abort_on_fail,
                t.delay_abort_eval.as_secs(),
            )
        })
        .collect();
    assert_eq!(
        faults_found,
        [
            ("http_req_duration{a:b}", "p(95)<500", false, 0),
            ("http_req_duration{a:b}", "avg<1", true, 2),
            ("http_reqs{vu:1}", "count>1", false, 0),
            ("http_reqs{vu:1}", "rate>1", false, 0),
        ]
    );
    assert_eq!(
        plan.warnings.len(),
        1,
        "one for the tag that selects nothing"
    );
}

#[test]
fn scenarios_that_do_not_overlap_share_users() {
    let scenario = |users: u32, start: &str| json!({"executor": "constant-vus", "vus": users, "duration": "10s", "gracefulStop": "1s", "startTime": start});
    let plan = build(json!({"scenarios": {
        "a": scenario(3, "0s"), "b": scenario(2, "5s"), "c": scenario(4, "11s"), "d": scenario(2, "16s"),
    }}));
    let slots = plan.assign_slots();
    assert_eq!(
        slots,
        [vec![0, 1, 2], vec![3, 4], vec![0, 1, 2, 5], vec![3, 4]]
    );
    assert_eq!(plan.requirements().planned_users, 6);
}

#[test]
fn overlapping_scenarios_never_share() {
    let scenarios: serde_json::Map<String, Value> = (0..40u32)
        .map(|n| {
            let start = format!("{}s", n * 7 % 23);
            let duration = format!("{}s", 1 + n * 5 % 11);
            (
                format!("s{n}"),
                json!({"executor": "constant-vus", "vus": 1 + n % 5, "duration": duration,
                "gracefulStop": "1s", "startTime": start}),
            )
        })
        .collect();
    let plan = build(json!({"scenarios": scenarios}));
    let slots = plan.assign_slots();
    for (i, a) in plan.scenarios.iter().enumerate() {
        assert_eq!(slots[i].len(), a.planned_users() as usize);
        for (j, b) in plan.scenarios.iter().enumerate().skip(i + 1) {
            let overlap = b.start_time < a.end().unwrap() && a.start_time < b.end().unwrap();
            let shared = slots[i].iter().any(|slot| slots[j].contains(slot));
            assert!(!(overlap && shared), "{} and {}", a.name, b.name);
        }
    }
    let highest = slots.iter().flatten().max().unwrap() + 1;
    assert_eq!(
        highest,
        plan.requirements().planned_users,
        "no slot more than needed"
    );
}

#[test]
fn a_plan_without_a_script_is_one_scenario() {
    let executor = Executor::ConstantUsers {
        users: 2,
        duration: Duration::from_secs(1),
    };
    let plan = Plan::single(Scenario::new("http", executor), Vec::new());
    assert_eq!(plan.requirements().max_users, 2);
    assert_eq!(plan.assign_slots(), [vec![0, 1]]);
}

#[test]
fn arrivals_are_read_for_arrival_rates_only() {
    let rate = |arrivals: Value| {
        json!({"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 5, "duration": "1s",
            "preAllocatedVUs": 1, "arrivals": arrivals}}})
    };
    let scenario = only(rate(json!("poisson@7")));
    assert_eq!(scenario.arrivals.to_string(), "poisson@7");
    assert!(scenario.description().contains("arrivals: poisson@7"));
    let written = &build(rate(json!("gamma:2"))).options.to_json()["scenarios"]["a"];
    assert_eq!(written["arrivals"], "gamma:2");
    for wrong in [json!("often"), json!(3)] {
        assert!(Options::from_json(rate(wrong)).is_err());
    }
    let closed = json!({"scenarios": {"a": {"executor": "constant-vus", "duration": "1s", "arrivals": "poisson"}}});
    assert!(Options::from_json(closed).is_err());
    let even = only(
        json!({"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 5,
        "duration": "1s", "preAllocatedVUs": 1}}}),
    );
    assert!(even.arrivals.is_even());
}

#[test]
fn metrics_with_an_empty_list_of_thresholds_are_watched() {
    let plan =
        build(json!({"thresholds": {"http_reqs": [], "http_reqs{a:b}": [], "checks": ["rate>0"]}}));
    let watched: Vec<_> = plan.watched.iter().map(|on| on.source.as_str()).collect();
    assert_eq!(watched, ["http_reqs", "http_reqs{a:b}"]);
    assert_eq!(plan.thresholds.len(), 1);
}
