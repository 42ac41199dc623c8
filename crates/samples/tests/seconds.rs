//! Requests and iterations belong to the second in which they started or were due.

mod scene;

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_samples::{
    HttpFacts, Phases, RunClock, RunSecond, Stretch, WatchSettings, Window, builtin,
};
use plimsoll_units::Moment;
use scene::{Scene, at, ms};

fn scene() -> Scene {
    Scene::of(WatchSettings {
        by_second: true,
        ..WatchSettings::default()
    })
}

/// The results of each second.
#[derive(Default)]
struct Seconds(BTreeMap<RunSecond, Stretch>);

impl Seconds {
    fn add(&mut self, scene: &Scene, window: Window) {
        for (second, part) in window.seconds() {
            let (registry, watch) = (scene.registry.clone(), scene.watch.clone());
            let stretch = self.0.entry(second);
            stretch
                .or_insert_with(|| Stretch::new(registry, watch))
                .add(part);
        }
        scene.merge(window);
    }

    /// The requests of a second, their response times, its iterations and their durations.
    fn counts(&self, second: RunSecond) -> [f64; 4] {
        [
            builtin::HTTP_REQS,
            builtin::HTTP_REQ_RESPONSE_TIME,
            builtin::ITERATIONS,
            builtin::ITERATION_DURATION,
        ]
        .map(|metric| {
            let values = self.0.get(&second).and_then(|of| of.values(metric, SECOND));
            values.and_then(|values| values.count()).unwrap_or(0.0)
        })
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn load(number: u64) -> RunSecond {
    RunSecond {
        number,
        after_load: false,
    }
}

/// One iteration with one request.
fn iteration(scene: &Scene, scheduled: Moment, lag: Duration, took: Duration) {
    let base = scene.base(&[("scenario", "default")]);
    let started = scheduled + lag;
    let done = started + took;
    let facts = HttpFacts {
        phases: Phases {
            waiting: took,
            ..Phases::default()
        },
        scheduled: Some(scheduled),
        started,
        done,
        method: "GET",
        url: "http://a/",
        status: 200,
        expected: Some(true),
        ..HttpFacts::default()
    };
    scene.recorder.http(&facts, &base);
    scene.recorder.iteration(took, Some(scheduled), &base, done);
}

#[test]
fn an_open_model_has_its_rate_in_every_second_however_slow_the_responses_are() {
    // Durations of 75 ms and of more than a second, so that many requests end in a later second than they start.
    for (rate, took) in [(20, ms(75.0)), (200, ms(75.0)), (200, ms(1_330.0))] {
        let scene = scene();
        scene.recorder.set_clock(Some(RunClock {
            start: at(5_000.0),
            load_end: Some(at(8_000.0)),
        }));
        let mut seconds = Seconds::default();
        // Each window is taken shortly after the second ends.
        let mut next_window = at(6_007.0);
        for number in 0..3 * rate {
            let scheduled = at(5_000.0 + number as f64 * 1_000.0 / rate as f64);
            // Every seventh iteration starts late. At 200/s, this includes the last iteration of each second.
            let lag = if number % 7 == 3 { ms(20.0) } else { ms(0.1) };
            if scheduled + lag + took >= next_window {
                seconds.add(&scene, scene.recorder.take_window());
                next_window = next_window + SECOND;
            }
            iteration(&scene, scheduled, lag, took);
        }
        seconds.add(&scene, scene.recorder.take_window());
        let rate = rate as f64;
        for number in 0..3 {
            assert_eq!(seconds.counts(load(number)), [rate; 4], "second {number}");
        }
        assert_eq!(seconds.0.len(), 3, "{rate}/s");
        // The run's totals include all seconds.
        let summary = scene.summary(3.0);
        let requests = scene::metric(&summary, "http_reqs").values.count();
        assert_eq!(requests, Some(3.0 * rate));
    }
}

#[test]
fn iterations_after_the_load_are_marked() {
    let scene = scene();
    scene.recorder.set_clock(Some(RunClock {
        start: at(0.0),
        load_end: Some(at(2_500.0)),
    }));
    iteration(&scene, at(2_400.0), ms(0.0), ms(50.0));
    iteration(&scene, at(2_600.0), ms(0.0), ms(50.0));
    let mut seconds = Seconds::default();
    seconds.add(&scene, scene.recorder.take_window());
    let tail = RunSecond {
        number: 2,
        after_load: true,
    };
    assert_eq!(seconds.counts(load(2)), [1.0; 4]);
    assert_eq!(seconds.counts(tail), [1.0; 4]);
    // Teardown belongs to no second.
    scene.recorder.set_clock(None);
    iteration(&scene, at(2_700.0), ms(0.0), ms(50.0));
    assert_eq!(scene.recorder.take_window().seconds().count(), 0);
}

#[test]
fn memory_does_not_grow_with_the_duration_of_requests() {
    let scene = scene();
    scene.recorder.set_clock(Some(RunClock {
        start: at(0.0),
        load_end: None,
    }));
    // All of them end in the same window, but each started in a different second.
    for number in 0..1_000 {
        let started = at(f64::from(number) * 1_000.0);
        iteration(&scene, started, ms(0.0), at(1_000_000.0).since(started));
    }
    let mut seconds = Seconds::default();
    seconds.add(&scene, scene.recorder.take_window());
    assert!(seconds.0.len() <= 64, "{}", seconds.0.len());
    let summary = scene.summary(1_000.0);
    let requests = scene::metric(&summary, "http_reqs").values.count();
    assert_eq!(requests, Some(1_000.0));
}
