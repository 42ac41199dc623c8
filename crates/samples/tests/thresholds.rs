//! Thresholds: which are met, and when they abort a run.

mod scene;

use std::time::Duration;

use plimsoll_plan::Threshold;
use plimsoll_samples::{
    Contains, HttpFacts, Kind, MetricId, Registry, Stage, ThresholdReport, Watch, WatchSettings,
};
use scene::{Scene, at, threshold};

struct Mine {
    scene: Scene,
    counter: MetricId,
    gauge: MetricId,
    rate: MetricId,
    trend: MetricId,
}

fn mine(thresholds: Vec<Threshold>) -> Mine {
    let registry = Registry::new();
    let register = |name, kind| registry.register(name, kind, Contains::Default).unwrap();
    let counter = register("my_counter", Kind::Counter);
    let gauge = register("my_gauge", Kind::Gauge);
    let rate = register("my_rate", Kind::Rate);
    let trend = register("my_trend", Kind::Trend);
    let settings = WatchSettings {
        thresholds,
        ..WatchSettings::default()
    };
    Mine {
        scene: Scene::with(registry, settings),
        counter,
        gauge,
        rate,
        trend,
    }
}

fn judge(scene: &Scene, seconds: u64, stage: Stage) -> ThresholdReport {
    scene.hand_over();
    let elapsed = Duration::from_secs(seconds);
    scene.totals.borrow().evaluate(elapsed, stage)
}

#[test]
fn every_method_measures_its_figure() {
    let table: &[(&str, &str, bool, f64)] = &[
        ("my_counter", "count==20", true, 20.0),
        ("my_counter", "count!=20", false, 20.0),
        ("my_counter", "rate>=2", true, 2.0),
        ("my_counter", "rate>2", false, 2.0),
        ("my_gauge", "value<5", true, 4.0),
        ("my_gauge", "value===4", true, 4.0),
        ("my_rate", "rate<=0.75", true, 0.75),
        ("my_rate", "rate<0.75", false, 0.75),
        ("my_trend", "avg<6", true, 5.5),
        ("my_trend", "min>=1", true, 1.0),
        ("my_trend", "max<10", false, 10.0),
        ("my_trend", "med<=5.5", true, 5.5),
        ("my_trend", "p(90)<9.2", true, 9.1),
        ("my_trend", "p(95)<9.5", false, 9.55),
        ("my_trend", "p(0)==1", true, 1.0),
        ("my_trend", "p(100)==10", true, 10.0),
        ("my_trend{half:upper}", "avg==8", true, 8.0),
        ("my_trend{half:upper}", "p(50)<8", false, 8.0),
        ("my_trend{half:upper,odd:true}", "max==9", true, 9.0),
        ("my_trend{half:nowhere}", "avg<1", true, 0.0),
        ("my_rate{never:seen}", "rate>0.99", true, 0.0),
    ];
    let thresholds = table.iter().map(|row| threshold(row.0, row.1)).collect();
    let mine = mine(thresholds);
    let scene = &mine.scene;
    let base = scene.base(&[("scenario", "default")]);
    let add = |metric, value, extra: &[(&str, &str)]| {
        scene
            .recorder
            .add(metric, value, &base, extra, at(value))
            .unwrap();
    };
    (0..10).for_each(|_| add(mine.counter, 2.0, &[]));
    [1.0, 9.0]
        .iter()
        .for_each(|&value| add(mine.gauge, value, &[]));
    scene
        .recorder
        .add(mine.gauge, 4.0, &base, &[], at(99.0))
        .unwrap();
    [1.0, 1.0, 7.0, 0.0]
        .iter()
        .for_each(|&value| add(mine.rate, value, &[]));
    for value in 1..=10u32 {
        let half = if value > 5 { "upper" } else { "lower" };
        let odd = if value % 2 == 1 { "true" } else { "false" };
        add(mine.trend, value.into(), &[("half", half), ("odd", odd)]);
    }
    let report = judge(scene, 10, Stage::Over);
    assert_eq!(report.judged.len(), table.len());
    for (judged, (metric, source, ok, measured)) in report.judged.iter().zip(table) {
        assert_eq!(&judged.metric, metric);
        assert_eq!(&judged.outcome.source, source);
        assert_eq!(judged.outcome.ok, *ok, "{metric} {source}");
        let error = (judged.outcome.measured - measured).abs();
        assert!(
            error < 1e-9,
            "{metric} {source}: {}",
            judged.outcome.measured
        );
        assert!(!judged.abort);
    }
    assert_eq!(
        report.crossed(),
        ["my_counter", "my_rate", "my_trend", "my_trend{half:upper}"]
    );
    assert!(!report.holds() && !report.abort());
    // The summary shows the same results.
    let summary = scene.summary(10.0);
    let upper = scene::metric(&summary, "my_trend{half:upper}");
    assert_eq!(upper.thresholds.len(), 2);
    assert_eq!(upper.tags, [("half".to_owned(), "upper".to_owned())]);
    assert!(upper.thresholds[0].ok && !upper.thresholds[1].ok);
}

#[test]
fn after_the_run_all_metrics_except_rates_without_samples_count_as_zero() {
    let mine = mine(vec![
        threshold("my_trend", "avg>0"),
        threshold("my_trend", "avg<1"),
        threshold("my_rate", "rate>0.9"),
        threshold("my_counter", "count>0"),
        threshold("my_gauge", "value<1"),
    ]);
    assert!(judge(&mine.scene, 2, Stage::Running).judged.is_empty());
    let report = judge(&mine.scene, 2, Stage::Over);
    let ok: Vec<bool> = report
        .judged
        .iter()
        .map(|judged| judged.outcome.ok)
        .collect();
    assert_eq!(ok, [false, true, true, false, true]);
    // Metrics with thresholds are shown even without samples.
    let summary = mine.scene.summary(2.0);
    let names: Vec<&str> = summary.metrics.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["my_counter", "my_gauge", "my_rate", "my_trend"]);
}

#[test]
fn a_metric_is_shown_for_its_submetrics_threshold() {
    let mine = mine(vec![threshold("my_trend{ a:b }", "avg<1")]);
    let summary = mine.scene.summary(1.0);
    let names: Vec<&str> = summary.metrics.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["my_trend", "my_trend{a:b}"]);
}

#[test]
fn only_thresholds_with_abort_on_fail_end_a_run_and_not_too_early() {
    let failing = |abort_on_fail, delay| Threshold {
        abort_on_fail,
        delay_abort_eval: Duration::from_secs(delay),
        ..threshold("my_counter", "count<1")
    };
    for (abort_on_fail, delay, seconds, aborts) in [
        (false, 0, 60, false),
        (true, 0, 0, true),
        (true, 10, 9, false),
        (true, 10, 10, true),
    ] {
        let mine = mine(vec![failing(abort_on_fail, delay)]);
        let base = mine.scene.base(&[]);
        let running = judge(&mine.scene, seconds, Stage::Running);
        assert!(!running.abort(), "there are no samples yet");
        let added = mine
            .scene
            .recorder
            .add(mine.counter, 1.0, &base, &[], at(0.0));
        added.unwrap();
        let running = judge(&mine.scene, seconds, Stage::Running);
        assert!(!running.holds());
        assert_eq!(running.abort(), aborts, "{abort_on_fail} {delay} {seconds}");
    }
}

#[test]
fn all_errors_are_reported_together() {
    let settings = WatchSettings {
        thresholds: vec![
            threshold("http_req_durration", "p(95)<500"),
            threshold("http_reqs", "avg<1"),
            threshold("http_req_duration", "avg<1"),
            threshold("vus", "rate<1"),
        ],
        ..WatchSettings::default()
    };
    let errors = Watch::new(&Registry::new(), settings).unwrap_err();
    assert_eq!(errors.0.len(), 3);
    let message = errors.to_string();
    assert!(message.contains("http_req_duration"), "{message}");
    assert!(message.contains("count, rate"), "{message}");
}

#[test]
fn thresholds_can_judge_our_metrics() {
    let scene = Scene::of(WatchSettings {
        thresholds: vec![threshold("http_req_response_time", "p(99)<5")],
        ..WatchSettings::default()
    });
    let facts = HttpFacts {
        scheduled: Some(at(1.0)),
        started: at(5.0),
        done: at(7.0),
        status: 200,
        ..HttpFacts::default()
    };
    scene.recorder.http(&facts, &scene.base(&[]));
    let report = judge(&scene, 1, Stage::Over);
    assert_eq!(report.judged[0].outcome.measured, 6.0);
}

/// An exchange is selected by its tags. Tags that the program sets take precedence over the request's own tags, which
/// take precedence over the user's.
#[test]
fn exchanges_are_selected_by_every_tag_they_have() {
    let facts = HttpFacts {
        method: "GET",
        url: "http://me:secret@host/x",
        status: 404,
        proto: "HTTP/1.1",
        tls_version: "tls1.3",
        error_code: 1404,
        expected: Some(false),
        ip: "10.0.0.1",
        extra: &[
            ("mine", "1"),
            ("mine", "2"),
            ("status", "777"),
            ("proto", "no"),
            ("run", "own"),
        ],
        ..HttpFacts::default()
    };
    let standing = [
        ("scenario", "s"),
        ("group", "::g"),
        ("run", "base"),
        ("error", "user's"),
    ];
    let table = [
        ("method:GET", true),
        ("method:POST", false),
        ("status:404", true),
        ("status:0404", false),
        ("status:777", false),
        ("url:http://****:****@host/x", true),
        ("name:http://****:****@host/x", true),
        ("url:http://me:secret@host/x", false),
        ("proto:HTTP/1.1", true),
        ("proto:no", false),
        ("tls_version:tls1.3", true),
        ("error_code:1404", true),
        // Nothing failed on the wire, so the user's own tag remains.
        ("error:user's", true),
        ("expected_response:false", true),
        ("expected_response:true", false),
        // The tag `ip` is not enabled.
        ("ip:10.0.0.1", false),
        ("mine:2", true),
        ("mine:1", false),
        ("run:own", true),
        ("run:base", false),
        ("scenario:s", true),
        ("group:::g", true),
        ("scenario:s,status:404", true),
        ("scenario:t,status:404", false),
        ("check:any", false),
    ];
    let thresholds = table
        .iter()
        .map(|(tags, _)| threshold(&format!("http_reqs{{{tags}}}"), "count==1"));
    let scene = Scene::of(WatchSettings {
        thresholds: thresholds.collect(),
        ..WatchSettings::default()
    });
    scene.recorder.http(&facts, &scene.base(&standing));
    let report = judge(&scene, 1, Stage::Over);
    for (judged, (tags, selected)) in report.judged.iter().zip(table) {
        assert_eq!(judged.outcome.ok, selected, "{tags}");
    }
}

#[test]
fn a_name_replaces_the_url() {
    let thresholds = [
        "http_reqs{name:N}",
        "http_reqs{url:N}",
        "http_reqs{name:http://host/1}",
    ];
    let scene = Scene::of(WatchSettings {
        thresholds: thresholds
            .map(|metric| threshold(metric, "count==1"))
            .into(),
        ..WatchSettings::default()
    });
    let facts = HttpFacts {
        url: "http://host/1",
        name: Some("N"),
        ..HttpFacts::default()
    };
    scene.recorder.http(&facts, &scene.base(&[]));
    let report = judge(&scene, 1, Stage::Over);
    let ok: Vec<bool> = report
        .judged
        .iter()
        .map(|judged| judged.outcome.ok)
        .collect();
    assert_eq!(ok, [true, true, false]);
}

#[test]
fn more_selectors_than_bits_in_a_word() {
    let thresholds =
        (0..200).map(|n| threshold(&format!("http_req_duration{{name:n{n}}}"), "avg>0"));
    let scene = Scene::of(WatchSettings {
        thresholds: thresholds.collect(),
        ..WatchSettings::default()
    });
    let base = scene.base(&[]);
    for n in 0..200u32 {
        let name = format!("n{n}");
        for _ in 0..=n {
            let facts = HttpFacts {
                phases: plimsoll_samples::Phases {
                    waiting: scene::ms(f64::from(n)),
                    ..Default::default()
                },
                name: Some(&name),
                ..HttpFacts::default()
            };
            scene.recorder.http(&facts, &base);
        }
    }
    let summary = scene.summary(1.0);
    for n in 0..200u32 {
        let name = format!("http_req_duration{{name:n{n}}}");
        let values = &scene::metric(&summary, &name).values;
        assert_eq!(values.count(), Some(f64::from(n + 1)), "{name}");
        assert_eq!(values.avg(), Some(f64::from(n)), "{name}");
    }
}

#[test]
fn checks_are_selected_by_their_name() {
    let scene = Scene::of(WatchSettings {
        thresholds: vec![
            threshold("checks{check:good}", "rate==1"),
            threshold("checks{check:bad}", "rate==1"),
            threshold("checks{group:::g}", "rate==0"),
        ],
        ..WatchSettings::default()
    });
    let base = scene.base(&[("group", "::g")]);
    scene
        .recorder
        .check("good", true, &base, &[("group", "")], at(0.0));
    scene
        .recorder
        .check("bad", false, &base, &[("check", "good")], at(0.0));
    let report = judge(&scene, 1, Stage::Over);
    let ok: Vec<bool> = report
        .judged
        .iter()
        .map(|judged| judged.outcome.ok)
        .collect();
    assert_eq!(ok, [true, false, true]);
}

#[test]
fn watched_metrics_are_shown_without_samples_and_must_exist() {
    use plimsoll_plan::threshold::MetricSelector;
    let settings = |name: &str| WatchSettings {
        watched: vec![MetricSelector::parse(name).unwrap()],
        ..WatchSettings::default()
    };
    let registry = Registry::new();
    let errors = Watch::new(&registry, settings("http_reqz{a:b}")).unwrap_err();
    assert!(errors.to_string().contains("did you mean \"http_reqs\"?"));
    let scene = Scene::of(settings("http_reqs{a:b}"));
    let summary = scene.totals.borrow().summary(Duration::from_secs(1));
    let names: Vec<_> = summary.metrics.iter().map(|metric| &metric.name).collect();
    assert!(
        names.iter().any(|name| *name == "http_reqs{a:b}"),
        "{names:?}"
    );
    assert!(names.iter().any(|name| *name == "http_reqs"), "{names:?}");
}
