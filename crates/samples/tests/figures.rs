//! From recorder to summary, with known results.

mod scene;

use std::time::Duration;

use plimsoll_samples::{
    BaseTags, CallFacts, Contains, HttpFacts, Kind, Phases, RegisterError, SystemTag, SystemTags,
    Values, WatchSettings, Window, builtin,
};
use scene::{Scene, at, ms};

/// An exchange of 1 + 8 + 1 ms on a reused connection.
fn quick() -> HttpFacts<'static> {
    HttpFacts {
        phases: Phases {
            sending: ms(1.0),
            waiting: ms(8.0),
            receiving: ms(1.0),
            ..Phases::default()
        },
        started: at(100.0),
        done: at(110.0),
        method: "GET",
        url: "http://127.0.0.1/x",
        status: 200,
        proto: "HTTP/1.1",
        expected: Some(true),
        ..HttpFacts::default()
    }
}

#[test]
fn an_exchange_gives_every_http_metric_its_value() {
    let scene = Scene::plain();
    let base = scene.base(&[("scenario", "default"), ("group", "")]);
    let facts = HttpFacts {
        phases: Phases {
            queued: ms(1.0),
            looking_up: ms(2.0),
            connecting: ms(3.0),
            tls: ms(4.0),
            sending: ms(5.0),
            waiting: ms(6.0),
            receiving: ms(7.0),
        },
        scheduled: Some(at(50.0)),
        started: at(60.0),
        done: at(88.0),
        ..quick()
    };
    scene.recorder.http(&facts, &base);
    let summary = scene.summary(2.0);
    let only = |name: &str| scene::metric(&summary, name).values.avg().unwrap();
    assert_eq!(only("http_req_blocked"), 10.0);
    assert_eq!(only("http_req_looking_up"), 2.0);
    assert_eq!(only("http_req_connecting"), 3.0);
    assert_eq!(only("http_req_tls_handshaking"), 4.0);
    assert_eq!(only("http_req_sending"), 5.0);
    assert_eq!(only("http_req_waiting"), 6.0);
    assert_eq!(only("http_req_receiving"), 7.0);
    assert_eq!(only("http_req_duration"), 18.0);
    assert_eq!(only("http_req_total"), 28.0);
    assert_eq!(only("http_req_response_time"), 38.0);
    assert_eq!(only("http_req_duration{expected_response:true}"), 18.0);
    let reqs = &scene::metric(&summary, "http_reqs").values;
    assert_eq!((reqs.count(), reqs.rate()), (Some(1.0), Some(0.5)));
    let failed = &scene::metric(&summary, "http_req_failed").values;
    assert_eq!((failed.passes(), failed.fails()), (Some(0), Some(1)));
    assert!(scene::find(&summary, "http_req_failed_duration").is_none());
    assert_eq!(summary.http.statuses, [(200, 1)]);
    assert_eq!(summary.http.protocols, [("HTTP/1.1".to_owned(), 1)]);
}

#[test]
fn our_metrics_are_marked_and_absent_from_closed_models() {
    let scene = Scene::plain();
    let base = scene.base(&[]);
    scene.recorder.http(&quick(), &base);
    let summary = scene.summary(1.0);
    assert!(scene::find(&summary, "http_req_response_time").is_none());
    assert!(scene::metric(&summary, "http_req_total").extra);
    assert!(!scene::metric(&summary, "http_req_duration").extra);
}

#[test]
fn failed_exchanges_have_separate_latencies() {
    let scene = Scene::plain();
    let base = scene.base(&[]);
    for _ in 0..300 {
        scene.recorder.http(&quick(), &base);
    }
    let refused = HttpFacts {
        phases: Phases::default(),
        started: at(100.0),
        done: at(100.5),
        status: 0,
        proto: "",
        error: "dial: connection refused",
        error_code: 1212,
        expected: Some(false),
        ..quick()
    };
    (0..100).for_each(|_| scene.recorder.http(&refused, &base));
    let scheduled = HttpFacts {
        scheduled: Some(at(90.0)),
        ..refused
    };
    scene.recorder.http(&scheduled, &base);
    let nobody_asked = HttpFacts {
        expected: None,
        ..refused
    };
    scene.recorder.http(&nobody_asked, &base);
    let summary = scene.summary(1.0);
    let values = |name: &str| scene::metric(&summary, name).values.clone();
    // k6's metric counts a refused connection as 0 ms. Our additional metric contains its duration.
    assert_eq!(values("http_req_duration").min(), Some(0.0));
    assert_eq!(values("http_req_duration").count(), Some(402.0));
    assert_eq!(values("http_req_failed_duration").min(), Some(0.5));
    assert_eq!(values("http_req_failed_duration").count(), Some(102.0));
    // A service that refuses requests quickly is not fast.
    assert_eq!(values("http_req_total").count(), Some(300.0));
    assert!(scene::find(&summary, "http_req_response_time").is_none());
    let expected = values("http_req_duration{expected_response:true}");
    assert_eq!(
        (expected.count(), expected.min()),
        (Some(300.0), Some(10.0))
    );
    let failed = values("http_req_failed");
    assert_eq!((failed.passes(), failed.fails()), (Some(101), Some(300)));
    assert_eq!(summary.http.statuses, [(0, 102), (200, 300)]);
    assert_eq!(summary.http.errors.len(), 1);
    assert_eq!(summary.http.errors[0].count, 102);
    assert_eq!(summary.http.errors[0].code, 1212);
}

#[test]
fn requests_that_this_machine_could_not_send_are_counted_by_cause() {
    let scene = Scene::plain();
    let base = scene.base(&[]);
    let failed = HttpFacts {
        status: 0,
        proto: "",
        error: "dial: any text",
        error_code: 1213,
        ..quick()
    };
    let exhausted = HttpFacts {
        exhausted: true,
        ..failed
    };
    scene.recorder.http(&failed, &base);
    scene.recorder.http(&exhausted, &base);
    scene.recorder.call(&CallFacts {
        error: "Unavailable: any text",
        exhausted: true,
        ..CallFacts::default()
    });
    assert_eq!(scene.summary(1.0).http.exhausted, 2);
}

#[test]
fn the_error_list_is_bounded_and_nothing_is_lost() {
    let scene = Scene::plain();
    let base = scene.base(&[]);
    for n in 0..1_000 {
        let error = format!("read: connection {n} reset");
        let facts = HttpFacts {
            error: &error,
            error_code: 1220,
            status: 0,
            ..quick()
        };
        scene.recorder.http(&facts, &base);
        scene.recorder.http(&facts, &base);
        if n % 100 == 99 {
            scene.hand_over();
        }
    }
    let http = scene.summary(1.0).http;
    assert_eq!(http.errors.len(), 100);
    let listed: u64 = http.errors.iter().map(|error| error.count).sum();
    assert_eq!(listed + http.other_errors, 2_000);
}

#[test]
fn custom_metrics_add_up_over_recorders_and_windows() {
    let scene = Scene::plain();
    let register = |name, kind| scene.registry.register(name, kind, Contains::Default);
    let counter = register("my_counter", Kind::Counter).unwrap();
    let gauge = register("my_gauge", Kind::Gauge).unwrap();
    let rate = register("my_rate", Kind::Rate).unwrap();
    let trend = register("my_trend", Kind::Trend).unwrap();
    let other = scene.another_recorder();
    for round in 0..4u32 {
        for recorder in [&scene.recorder, &other] {
            let base = recorder.base_tags(&[("scenario", "a")].into_iter().collect());
            let now = at(f64::from(round));
            recorder.add(counter, 2.5, &base, &[], now).unwrap();
            recorder
                .add(gauge, f64::from(round), &base, &[], now)
                .unwrap();
            recorder
                .add(rate, f64::from(round % 2), &base, &[], now)
                .unwrap();
            recorder
                .add(trend, f64::from(round), &base, &[], now)
                .unwrap();
        }
        scene.merge(scene.recorder.take_window());
        scene.merge(other.take_window());
    }
    let summary = scene.summary(4.0);
    let values = |name: &str| scene::metric(&summary, name).values.clone();
    let counted = values("my_counter");
    assert_eq!((counted.count(), counted.rate()), (Some(20.0), Some(5.0)));
    let gauge = values("my_gauge");
    assert_eq!(
        (gauge.value(), gauge.min(), gauge.max()),
        (Some(3.0), Some(0.0), Some(3.0))
    );
    assert_eq!(values("my_rate").rate(), Some(0.5));
    let trend = values("my_trend");
    assert_eq!(
        (trend.avg(), trend.med(), trend.max()),
        (Some(1.5), Some(1.5), Some(3.0))
    );
}

#[test]
fn the_latest_gauge_wins_whichever_window_comes_first() {
    let scene = Scene::plain();
    let gauge = scene
        .registry
        .register("gauge", Kind::Gauge, Contains::Default);
    let gauge = gauge.unwrap();
    let other = scene.another_recorder();
    let base = scene.base(&[]);
    scene.recorder.add(gauge, 7.0, &base, &[], at(9.0)).unwrap();
    let theirs = other.base_tags(&[("a", "b")].into_iter().collect());
    other.add(gauge, 1.0, &theirs, &[], at(3.0)).unwrap();
    scene.merge(scene.recorder.take_window());
    scene.merge(other.take_window());
    let summary = scene.summary(1.0);
    let values = &scene::metric(&summary, "gauge").values;
    assert_eq!(values.value(), Some(7.0));
    assert_eq!(values.min(), Some(1.0));
}

#[test]
fn an_invalid_number_is_refused() {
    let scene = Scene::plain();
    let trend = scene
        .registry
        .register("my_trend", Kind::Trend, Contains::Time);
    let base = scene.base(&[]);
    let refused = scene
        .recorder
        .add(trend.unwrap(), f64::NAN, &base, &[], at(0.0));
    assert_eq!(refused, Err(plimsoll_samples::AddError::NotANumber));
    assert!(scene::find(&scene.summary(1.0), "my_trend").is_none());
}

#[test]
fn a_metric_may_be_registered_while_recorders_run() {
    let scene = Scene::plain();
    let base = scene.base(&[]);
    scene.recorder.http(&quick(), &base);
    scene.hand_over();
    let late = scene
        .registry
        .register("late_one", Kind::Counter, Contains::Data);
    scene
        .recorder
        .add(late.unwrap(), 3.0, &base, &[], at(1.0))
        .unwrap();
    let summary = scene.summary(1.0);
    assert_eq!(
        scene::metric(&summary, "late_one").values.count(),
        Some(3.0)
    );
    assert_eq!(scene::metric(&summary, "late_one").contains, Contains::Data);
}

#[test]
fn names_are_checked_and_redeclaring_must_agree() {
    let scene = Scene::plain();
    let register = |name: &str, kind, contains| scene.registry.register(name, kind, contains);
    for bad in ["", "a", "1a", "a b", "é", "a-b", &"x".repeat(130)] {
        let refused = register(bad, Kind::Trend, Contains::Default);
        assert_eq!(refused, Err(RegisterError::Name(bad.to_owned())));
    }
    assert!(register(&"x".repeat(129), Kind::Trend, Contains::Default).is_ok());
    let id = register("twice", Kind::Counter, Contains::Default);
    assert_eq!(register("twice", Kind::Counter, Contains::Default), id);
    let other_kind = register("twice", Kind::Trend, Contains::Default).unwrap_err();
    assert_eq!(
        other_kind.to_string(),
        "metric 'twice' already exists but with type counter, instead of trend"
    );
    let other_contains = register("twice", Kind::Counter, Contains::Time).unwrap_err();
    assert_eq!(
        other_contains.to_string(),
        "metric 'twice' already exists but with a value type default, instead of time"
    );
    let builtin = register("http_req_duration", Kind::Trend, Contains::Time);
    assert_eq!(builtin, Ok(builtin::HTTP_REQ_DURATION));
}

#[test]
fn a_script_may_use_the_names_of_our_metrics() {
    let scene = Scene::plain();
    let theirs = scene
        .registry
        .register("http_req_total", Kind::Counter, Contains::Default)
        .unwrap();
    assert_ne!(theirs, builtin::HTTP_REQ_TOTAL);
    assert_eq!(scene.registry.find("http_req_total"), Some(theirs));
    let base = scene.base(&[]);
    scene
        .recorder
        .add(theirs, 4.0, &base, &[], at(0.0))
        .unwrap();
    scene.recorder.http(&quick(), &base);
    let summary = scene.summary(1.0);
    let both = summary
        .metrics
        .iter()
        .filter(|metric| metric.name == "http_req_total");
    let both: Vec<_> = both.map(|metric| (metric.extra, metric.kind)).collect();
    assert_eq!(both, [(false, Kind::Counter), (true, Kind::Trend)]);
}

#[test]
fn checks_and_groups_form_a_tree_in_the_order_first_seen() {
    let scene = Scene::plain();
    let base = scene.base(&[("group", "")]);
    let inner = scene.base(&[("group", "::g1::inner")]);
    let g1 = scene.base(&[("group", "::g1")]);
    let check = |name, passed, base, extra: &[(&str, &str)]| {
        scene.recorder.check(name, passed, base, extra, at(1.0));
    };
    check("same", true, &inner, &[]);
    scene
        .recorder
        .group("::g1::inner", ms(5.0), &inner, at(2.0));
    check("same", false, &g1, &[]);
    check("same", false, &g1, &[("foo", "bar")]);
    scene.recorder.group("::g1", ms(7.0), &g1, at(3.0));
    check("root", true, &base, &[]);
    check("same", true, &base, &[("group", "::zzz")]);
    scene.recorder.group("::empty", ms(1.0), &base, at(3.0));
    let summary = scene.summary(1.0);

    let root = &summary.root_group;
    assert_eq!(root.id, "d41d8cd98f00b204e9800998ecf8427e");
    assert_eq!(root.checks[0].path, "::root");
    assert_eq!(root.checks[0].id, "156d852e60dabb760a730d32d8044034");
    let names: Vec<&str> = root
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(names, ["g1", "zzz", "empty"]);
    let g1 = &root.groups[0];
    assert_eq!(
        (g1.path.as_str(), g1.id.as_str()),
        ("::g1", "9ccb03cc5acd728a2fe595bbd1f14da3")
    );
    assert_eq!((g1.checks[0].passes, g1.checks[0].fails), (0, 2));
    assert_eq!(g1.groups[0].path, "::g1::inner");
    assert_eq!(
        g1.groups[0].checks[0].id,
        "b1ab66b8b8454cd547e6a1da5f121761"
    );
    assert_eq!(
        (g1.groups[0].checks[0].passes, g1.groups[0].checks[0].fails),
        (1, 0)
    );

    let flat: Vec<_> = summary
        .checks
        .iter()
        .map(|c| (c.name.as_str(), c.passes, c.fails))
        .collect();
    assert_eq!(flat, [("same", 2, 2), ("root", 1, 0)]);
    let checks = &scene::metric(&summary, "checks").values;
    assert_eq!((checks.passes(), checks.fails()), (Some(3), Some(2)));
    let durations = &scene::metric(&summary, "group_duration").values;
    assert_eq!((durations.count(), durations.max()), (Some(3.0), Some(7.0)));
}

#[test]
fn the_other_built_in_samples_are_recorded() {
    let scene = Scene::plain();
    let base = scene.base(&[("scenario", "a")]);
    scene.recorder.iteration(ms(250.0), None, &base, at(1.0));
    scene.recorder.iteration(ms(750.0), None, &base, at(2.0));
    scene.recorder.traffic(100, 3_000, &base, at(2.0), at(2.0));
    scene.recorder.dropped(5, &base, at(2.0), at(2.0));
    scene.recorder.send_lag(ms(0.25), &base, at(2.0));
    let summary = {
        scene.totals.borrow_mut().users(3, 10, at(1.0));
        scene.totals.borrow_mut().users(2, 10, at(2.0));
        scene.summary(10.0)
    };
    let values = |name: &str| scene::metric(&summary, name).values.clone();
    assert_eq!(values("iterations").count(), Some(2.0));
    assert_eq!(values("iterations").rate(), Some(0.2));
    assert_eq!(values("iteration_duration").avg(), Some(500.0));
    assert_eq!(values("data_sent").count(), Some(100.0));
    assert_eq!(values("data_received").rate(), Some(300.0));
    assert_eq!(values("dropped_iterations").count(), Some(5.0));
    assert_eq!(values("iteration_send_lag").max(), Some(0.25));
    let vus = values("vus");
    assert_eq!(
        (vus.value(), vus.min(), vus.max()),
        (Some(2.0), Some(2.0), Some(3.0))
    );
    assert_eq!(values("vus_max").value(), Some(10.0));
    let names: Vec<&str> = summary.metrics.iter().map(|m| m.name.as_str()).collect();
    assert!(names.is_sorted());
}

#[test]
fn the_breakdown_shows_scenarios_and_groups() {
    let scene = Scene::of(WatchSettings {
        breakdown: true,
        ..WatchSettings::default()
    });
    let trend = scene
        .registry
        .register("my_trend", Kind::Trend, Contains::Time);
    let trend = trend.unwrap();
    let base = |scenario, group| scene.base(&[("scenario", scenario), ("group", group)]);
    let add = |value, base: BaseTags| {
        scene
            .recorder
            .add(trend, value, &base, &[], at(0.0))
            .unwrap()
    };
    add(1.0, base("a", ""));
    add(5.0, base("a", "::g1::inner"));
    add(7.0, base("a", "::g1"));
    add(100.0, base("b", "::g1"));
    let in_g1 = base("a", "::g1");
    scene.recorder.check("c", true, &in_g1, &[], at(0.0));
    scene
        .recorder
        .check("c", true, &in_g1, &[("group", "::g2")], at(0.0));
    scene.recorder.http(&quick(), &base("b", ""));
    scene.base(&[("scenario", "never")]);
    let summary = scene.summary(1.0);

    assert_eq!(
        scene::metric(&summary, "my_trend").values.avg(),
        Some(28.25)
    );
    let scenarios: Vec<&str> = summary.scenarios.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(scenarios, ["a", "b"]);
    let a = &summary.scenarios[0];
    let average = |metrics: &[plimsoll_samples::MetricSummary]| {
        let metric = metrics.iter().find(|metric| metric.name == "my_trend");
        metric.and_then(|metric| metric.values.avg())
    };
    assert_eq!(average(&a.metrics), Some(13.0 / 3.0));
    assert_eq!((a.checks[0].name.as_str(), a.checks[0].passes), ("c", 2));
    let groups: Vec<&str> = a.groups.iter().map(|g| g.path.as_str()).collect();
    assert_eq!(groups, ["::g1", "::g2"]);
    assert_eq!(average(&a.groups[0].metrics), Some(7.0));
    assert_eq!(a.groups[0].checks[0].passes, 1);
    assert_eq!(average(&a.groups[0].groups[0].metrics), Some(5.0));
    let b = &summary.scenarios[1];
    assert!(b.metrics.iter().any(|metric| metric.name == "http_reqs"));
    assert!(!a.metrics.iter().any(|metric| metric.name == "http_reqs"));
    // The results over all scenarios.
    assert_eq!(average(&summary.groups[0].metrics), Some(53.5));
    assert_eq!(summary.left_out.breakdown_samples, 0);
}

#[test]
fn disabled_system_tags_select_nothing() {
    let scene = Scene::of(WatchSettings {
        thresholds: vec![scene::threshold("http_reqs{status:200}", "count>0")],
        system_tags: [SystemTag::Method].into_iter().collect::<SystemTags>(),
        ..WatchSettings::default()
    });
    scene.recorder.http(&quick(), &scene.base(&[]));
    let summary = scene.summary(1.0);
    let values = &scene::metric(&summary, "http_reqs{status:200}").values;
    assert!(matches!(values, Values::Counter { count: 0.0, .. }));
    assert!(scene::find(&summary, "http_req_duration{expected_response:true}").is_none());
}

#[test]
fn the_elapsed_time_may_be_zero() {
    let scene = Scene::plain();
    scene.recorder.http(&quick(), &scene.base(&[]));
    let summary = scene.summary(0.0);
    assert_eq!(summary.elapsed, Duration::ZERO);
    assert_eq!(
        scene::metric(&summary, "http_reqs").values.rate(),
        Some(0.0)
    );
}

#[test]
fn a_window_has_its_own_figures() {
    let scene = Scene::plain();
    let base = scene.base(&[]);
    let is_send = |window: Window| -> Box<dyn Send> { Box::new(window) };
    (0..10).for_each(|_| scene.recorder.http(&quick(), &base));
    is_send(scene.recorder.take_window());
    (0..5).for_each(|_| scene.recorder.http(&quick(), &base));
    let window = scene.recorder.take_window();
    let second = Duration::from_secs(1);
    let reqs = window.values(builtin::HTTP_REQS, second).unwrap();
    assert_eq!((reqs.count(), reqs.rate()), (Some(5.0), Some(5.0)));
    let durations = window.values(builtin::HTTP_REQ_DURATION, second).unwrap();
    assert_eq!(durations.med(), Some(10.0));
    assert!(window.values(builtin::WS_PING, second).is_none());
}
