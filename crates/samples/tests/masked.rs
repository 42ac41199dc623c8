//! Masks the secrets of a script in everything that a recorder returns.

mod scene;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_samples::{
    CallFacts, Contains, HttpFacts, Kind, Mask, REDACTED, Registry, Stage, WatchSettings,
};
use scene::{Scene, at, find, ms, threshold};

const SECRET: &str = "topsecret";

#[test]
fn no_output_of_the_recorder_contains_a_secret() {
    let mask = Arc::new(Mask::default());
    mask.hide(SECRET);
    let scene = Scene::of(WatchSettings {
        outputs: true,
        breakdown: true,
        by_name: true,
        mask: Some(mask),
        ..WatchSettings::default()
    });
    let base = scene.base(&[("group", "::in topsecret"), ("mine", SECRET)]);
    let metadata = BTreeMap::from([("user".to_owned(), SECRET.to_owned())]);
    let base = base.with_metadata(Some(Arc::new(metadata)));
    let recorder = &scene.recorder;
    recorder.http(
        &HttpFacts {
            method: "GET",
            url: "http://host/?token=topsecret",
            error: "Get \"http://host/?token=topsecret\": refused",
            extra: &[("own", SECRET), (SECRET, "key")],
            ..HttpFacts::default()
        },
        &base,
    );
    recorder.call(&CallFacts {
        name: "shop.topsecret",
        error: "topsecret is unknown",
        ..CallFacts::default()
    });
    recorder.check(
        "topsecret is valid",
        true,
        &base,
        &[("own", SECRET)],
        at(2.0),
    );
    recorder.group("::in topsecret", ms(1.0), &base, at(2.0));
    recorder.iteration(ms(1.0), None, &base, at(2.0));
    let summary = scene.summary(1.0);
    let records = scene.totals.borrow_mut().take_records().concat();
    assert_eq!(summary.checks[0].name, format!("{REDACTED} is valid"));
    assert_eq!(summary.names.listed.len(), 2);
    assert_eq!(summary.http.errors.len(), 2);
    for shown in [format!("{summary:?}"), format!("{records:?}")] {
        assert!(
            shown.contains(REDACTED) && !shown.contains(SECRET),
            "{shown}"
        );
    }
}

#[test]
fn thresholds_do_not_show_a_secret() {
    let mask = Arc::new(Mask::default());
    ["tok_1", "4711", "true", "http_reqs"]
        .iter()
        .for_each(|secret| mask.hide(secret));
    let registry = Registry::new();
    let mine = registry.register("tok_1", Kind::Counter, Contains::Default);
    let mine = mine.expect("a valid name");
    let settings = WatchSettings {
        thresholds: vec![
            threshold("http_reqs{own:tok_1}", "count>4711"),
            threshold("tok_1", "count<4711"),
            threshold("tok_1{own:tok_1}", "count<4711"),
        ],
        breakdown: true,
        mask: Some(mask),
        ..WatchSettings::default()
    };
    let scene = Scene::with(registry, settings);
    let facts = HttpFacts {
        method: "GET",
        status: 200,
        expected: Some(true),
        extra: &[("own", "tok_1")],
        ..HttpFacts::default()
    };
    let base = scene.base(&[("group", "::a"), ("scenario", "b")]);
    scene.recorder.http(&facts, &base);
    scene
        .recorder
        .add(mine, 1.0, &base, &[("own", "tok_1")], at(1.0))
        .expect("a number");
    let summary = scene.summary(1.0);
    let totals = scene.totals.borrow();
    let elapsed = Duration::from_secs(1);
    let report = totals.evaluate(elapsed, Stage::Over);
    let by_tag: Vec<_> = totals.by_tag(elapsed);
    for shown in [
        format!("{summary:?}"),
        format!("{report:?}"),
        format!("{by_tag:?}"),
        format!("{:?}", totals.metrics(elapsed)),
    ] {
        assert!(
            shown.contains(REDACTED) && !shown.contains("tok_1") && !shown.contains("<4711"),
            "{shown}"
        );
    }
    assert!(find(&summary, "SECRET_REDACTED").is_some());
    // A script's secret does not change the names that the program chose.
    let own = format!("http_reqs{{own:{REDACTED}}}");
    assert_eq!(report.crossed(), [own.as_str()]);
    assert!(find(&summary, "http_req_duration{expected_response:true}").is_some());
}

#[test]
fn thresholds_judge_the_tags_that_the_script_has_set() {
    let mask = Arc::new(Mask::default());
    mask.hide("a");
    let scene = Scene::of(WatchSettings {
        thresholds: vec![threshold("http_reqs{name:cart}", "count==1")],
        mask: Some(mask),
        ..WatchSettings::default()
    });
    let facts = HttpFacts {
        method: "GET",
        name: Some("cart"),
        status: 200,
        ..HttpFacts::default()
    };
    scene.recorder.http(&facts, &scene.base(&[]));
    let summary = scene.summary(1.0);
    let name = format!("http_reqs{{n{REDACTED}me:c{REDACTED}rt}}");
    let metric = find(&summary, &name).expect("the threshold's metric");
    assert!(metric.thresholds[0].ok);
}
