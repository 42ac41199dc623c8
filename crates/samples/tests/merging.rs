//! However samples are spread over workers and windows, the results are those of one recorder that
//! got them all.

mod scene;

use plimsoll_samples::{Contains, HttpFacts, Kind, Phases, Recorder, Registry, WatchSettings};
use proptest::prelude::*;
use scene::{Scene, at, ms, threshold};

/// Something that happens to a user. Times are eighths of a millisecond, whose
/// sums are exact in any order.
#[derive(Clone, Debug)]
enum Event {
    Exchange {
        eighths: u32,
        status: u16,
        scheduled: bool,
    },
    Check {
        name: u8,
        passed: bool,
        group: u8,
    },
    Trend {
        eighths: u32,
        tagged: bool,
    },
    Iteration {
        eighths: u32,
    },
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (
            0u32..80_000,
            prop::sample::select(vec![0, 200, 200, 404]),
            any::<bool>()
        )
            .prop_map(|(eighths, status, scheduled)| Event::Exchange {
                eighths,
                status,
                scheduled
            }),
        (0u8..5, any::<bool>(), 0u8..3).prop_map(|(name, passed, group)| Event::Check {
            name,
            passed,
            group
        }),
        (0u32..80_000, any::<bool>())
            .prop_map(|(eighths, tagged)| Event::Trend { eighths, tagged }),
        (0u32..80_000).prop_map(|eighths| Event::Iteration { eighths }),
    ]
}

fn scene(breakdown: bool) -> Scene {
    let registry = Registry::new();
    let mine = registry.register("mine", Kind::Trend, Contains::Time);
    assert!(mine.is_ok());
    let thresholds = vec![
        threshold("http_req_duration{status:404}", "p(95)<5000"),
        threshold("http_reqs{status:404}", "count>3"),
        threshold("http_req_failed{status:200}", "rate<0.1"),
        threshold("mine{kind:x}", "avg<9000"),
        threshold("checks{check:c1}", "rate>0.5"),
    ];
    let settings = WatchSettings {
        thresholds,
        breakdown,
        ..WatchSettings::default()
    };
    Scene::with(registry, settings)
}

fn happen(event: &Event, recorder: &Recorder, scene: &Scene) {
    let time = |eighths: u32| ms(f64::from(eighths) / 8.0);
    let base = |group: u8| {
        let group = format!("::g{group}");
        recorder.base_tags(&[("scenario", "s"), ("group", &group)].into_iter().collect())
    };
    match *event {
        Event::Exchange {
            eighths,
            status,
            scheduled,
        } => {
            let facts = HttpFacts {
                phases: Phases {
                    waiting: time(eighths),
                    ..Phases::default()
                },
                scheduled: scheduled.then_some(at(50.0)),
                started: at(50.0),
                done: at(50.0) + time(eighths),
                status,
                expected: Some(status == 200),
                error: if status == 0 { "refused" } else { "" },
                ..HttpFacts::default()
            };
            recorder.http(&facts, &base(0));
        }
        Event::Check {
            name,
            passed,
            group,
        } => {
            recorder.check(&format!("c{name}"), passed, &base(group), &[], at(0.0));
        }
        Event::Trend { eighths, tagged } => {
            let extra: &[(&str, &str)] = if tagged { &[("kind", "x")] } else { &[] };
            let Some(mine) = scene.registry.find("mine") else {
                return;
            };
            let added = recorder.add(mine, f64::from(eighths) / 8.0, &base(1), extra, at(0.0));
            assert!(added.is_ok());
        }
        Event::Iteration { eighths } => recorder.iteration(time(eighths), None, &base(2), at(0.0)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn spreading_changes_nothing(
        // Repeated often enough for histograms to leave the exact mode.
        events in prop::collection::vec((event(), 0usize..3, prop::bool::weighted(0.05)), 0..200),
        times in prop::sample::select(vec![1usize, 40]),
        breakdown: bool,
    ) {
        let together = scene(breakdown);
        let apart = scene(breakdown);
        let workers = [0, 1, 2].map(|_| apart.another_recorder());
        for _ in 0..times {
            for (event, worker, hand_over) in &events {
                happen(event, &together.recorder, &together);
                happen(event, &workers[*worker], &apart);
                if *hand_over {
                    apart.merge(workers[*worker].take_window());
                }
            }
        }
        workers.iter().for_each(|worker| apart.merge(worker.take_window()));
        let together = serde_json::to_value(together.summary(10.0)).unwrap();
        let apart = serde_json::to_value(apart.summary(10.0)).unwrap();
        prop_assert_eq!(together, apart);
    }
}
