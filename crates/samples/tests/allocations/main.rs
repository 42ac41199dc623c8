//! Memory depends on the number of series, not on samples, URLs or time. After a warm-up, recording and taking windows
//! do not allocate.

mod counting;
#[path = "../scene/mod.rs"]
mod scene;

use plimsoll_samples::{Contains, HttpFacts, Kind, Phases};
use scene::{Scene, at, ms};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

fn facts(n: u32) -> HttpFacts<'static> {
    let spread = f64::from(n % 1_000) / 100.0;
    HttpFacts {
        phases: Phases {
            sending: ms(0.01),
            waiting: ms(0.5 + spread),
            receiving: ms(0.02),
            ..Phases::default()
        },
        scheduled: Some(at(1.0)),
        started: at(1.1),
        done: at(2.0 + spread),
        method: "GET",
        url: "http://127.0.0.1/x",
        status: if n.is_multiple_of(7) { 404 } else { 200 },
        proto: "HTTP/1.1",
        expected: Some(!n.is_multiple_of(7)),
        ..HttpFacts::default()
    }
}

#[test]
fn nothing_is_allocated_after_the_warm_up() {
    let scene = Scene::of(plimsoll_samples::WatchSettings {
        thresholds: vec![scene::threshold(
            "http_req_duration{status:404}",
            "p(95)<500",
        )],
        breakdown: true,
        ..Default::default()
    });
    let trend = scene.registry.register("mine", Kind::Trend, Contains::Time);
    let trend = trend.expect("a name");
    let base = scene.base(&[("scenario", "default"), ("group", "::g")]);
    let second = || {
        for n in 0..5_000 {
            scene.recorder.http(&facts(n), &base);
            scene
                .recorder
                .check("is 200", n.is_multiple_of(3), &base, &[("a", "b")], at(3.0));
            let _ = scene
                .recorder
                .add(trend, f64::from(n), &base, &[("c", "d")], at(3.0));
            scene
                .recorder
                .iteration(ms(f64::from(n % 100)), None, &base, at(3.0));
        }
        scene.recorder.traffic(1, 2, &base, at(3.0), at(3.0));
        scene.hand_over();
    };
    // Warm up: both windows and the totals get all their pages.
    (0..3).for_each(|_| second());
    let before = counting::count();
    (0..3).for_each(|_| second());
    assert_eq!(counting::count() - before, 0);
}

#[test]
fn a_million_urls_do_not_use_memory() {
    let scene = Scene::plain();
    let base = scene.base(&[("scenario", "default"), ("group", "")]);
    let mut url = String::with_capacity(100);
    let mut request = |n: u32| {
        url.clear();
        use std::fmt::Write;
        let _ = write!(url, "http://127.0.0.1:8080/item/{n}?from=test");
        let facts = HttpFacts {
            url: &url,
            ..facts(n)
        };
        scene.recorder.http(&facts, &base);
        if n.is_multiple_of(10_000) {
            scene.hand_over();
        }
    };
    (0..50_000).for_each(&mut request);
    let warnings = scene.totals.borrow_mut().take_warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("100,000"), "{warnings:?}");
    drop(warnings);
    let before = counting::live();
    (50_000..1_000_000).for_each(&mut request);
    let grown = counting::live() - before;
    assert!(grown < 10_000, "grew by {grown} bytes");
    assert!(scene.totals.borrow_mut().take_warnings().is_empty());
}

#[test]
fn few_series_are_not_warned_about() {
    let scene = Scene::plain();
    let base = scene.base(&[]);
    for n in 0..9_000 {
        let name = format!("name {n}");
        let facts = HttpFacts {
            name: Some(&name),
            ..facts(n)
        };
        scene.recorder.http(&facts, &base);
    }
    scene.hand_over();
    assert!(scene.totals.borrow_mut().take_warnings().is_empty());
}

#[test]
fn generated_names_of_checks_and_groups_are_bounded_and_counted() {
    let scene = Scene::plain();
    let base = scene.base(&[("group", "")]);
    let mut before = 0;
    for n in 0..60_000u32 {
        if n == 20_000 {
            scene.hand_over();
            before = counting::live();
        }
        scene
            .recorder
            .check(&format!("check {n}"), true, &base, &[], at(0.0));
        let path = format!("::group {n}");
        scene.recorder.group(&path, ms(1.0), &base, at(0.0));
        let tags = scene.base(&[("iteration", &n.to_string())]);
        scene.recorder.iteration(ms(1.0), None, &tags, at(0.0));
    }
    scene.hand_over();
    let grown = counting::live() - before;
    assert!(grown < 1_000_000, "grew by {grown} bytes");
    let warnings = scene.totals.borrow_mut().take_warnings();
    assert!(
        warnings
            .iter()
            .any(|warning| warning.contains("different checks"))
    );
    let summary = scene.summary(1.0);
    assert_eq!(summary.checks.len(), 10_000);
    assert_eq!(summary.left_out.check_results, 50_000);
    assert_eq!(
        scene::metric(&summary, "checks").values.passes(),
        Some(60_000)
    );
}

#[test]
fn unknown_groups_do_not_grow_the_breakdown() {
    let scene = Scene::of(plimsoll_samples::WatchSettings {
        breakdown: true,
        ..Default::default()
    });
    for n in 0..3_000u32 {
        let base = scene.base(&[("scenario", "s"), ("group", &format!("::g{n}"))]);
        scene.recorder.iteration(ms(1.0), None, &base, at(0.0));
    }
    let summary = scene.summary(1.0);
    assert_eq!(summary.groups.len(), 1_000);
    // Two samples per iteration.
    assert_eq!(summary.left_out.breakdown_samples, 4_000);
    assert_eq!(
        scene::metric(&summary, "iterations").values.count(),
        Some(3_000.0)
    );
}
