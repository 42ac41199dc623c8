//! JSON summaries of recorded data.

mod support;

use std::time::{Duration, UNIX_EPOCH};

use plimsoll_output::summary_data::{SummaryContext, handle_summary_argument};
use plimsoll_output::summary_export::summary_export;
use plimsoll_output::summary_machine::{RunIdentity, machine_readable};
use plimsoll_output::{default_trend_stats, pretty_json};
use plimsoll_verdict::{Level, Verdict};
use serde_json::{Value, json};
use support::{Figures, expect};

fn figures() -> plimsoll_samples::Summary {
    Figures::read(include_str!("figures/groups.json")).summary()
}

fn context() -> SummaryContext {
    SummaryContext {
        trend_stats: default_trend_stats(),
        setup_data: Some(json!({ "token": 1 })),
        verdict: Some(Verdict {
            level: Level::Valid,
            reasons: Vec::new(),
            disturbed: false,
        }),
        ..SummaryContext::default()
    }
}

#[test]
fn handle_summary_receives_the_summary() {
    expect(
        "handle_summary.json",
        &pretty_json(&handle_summary_argument(&figures(), &context())),
    );
}

#[test]
fn setup_data_without_a_value_has_no_key() {
    let about = SummaryContext {
        setup_data: None,
        ..context()
    };
    assert_eq!(
        handle_summary_argument(&figures(), &about).get("setup_data"),
        None
    );
    assert_eq!(summary_export(&figures(), &about).get("setup_data"), None);
}

#[test]
fn the_export() {
    expect(
        "summary_export.json",
        &pretty_json(&summary_export(&figures(), &context())),
    );
}

#[test]
fn thresholds_are_reversed_in_the_export() {
    let data = handle_summary_argument(&figures(), &context());
    let export = summary_export(&figures(), &context());
    let mut seen = 0;
    for (name, metric) in data["metrics"].as_object().expect("metrics by name") {
        for (source, outcome) in metric
            .get("thresholds")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let crossed = &export["metrics"][name]["thresholds"][source];
            assert_eq!(
                outcome["ok"].as_bool(),
                crossed.as_bool().map(|crossed| !crossed)
            );
            seen += 1;
        }
    }
    assert!(seen > 3);
}

#[test]
fn the_machine_readable_one() {
    let run = RunIdentity {
        script: "export default function () {}".to_owned(),
        generated_at: UNIX_EPOCH + Duration::from_millis(1_500),
        version: "1.2.3".to_owned(),
        k6_version: "2.2.0".to_owned(),
    };
    let data = machine_readable(&figures(), &run, &context());
    expect("machine_readable.json", &pretty_json(&data));
}
