//! The results do not depend on how samples are spread over workers and windows.

mod scene;

use std::sync::Arc;

use plimsoll_samples::wire::{Reader, WireError, Writer};
use plimsoll_samples::{
    Contains, Cumulative, HttpFacts, Kind, Phases, Recorder, Registry, Totals, WatchSettings,
    Window, WindowDecoder, WindowEncoder,
};
use plimsoll_units::Moment;
use proptest::prelude::*;
use scene::{Scene, at, ms, threshold};

/// Something that happens to a user. Times are eighths of a millisecond, because their sums are exact in any order.
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
        // Enough repetitions that histograms leave the exact mode.
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

    #[test]
    fn spreading_over_processes_changes_nothing(
        events in prop::collection::vec((event(), 0usize..3, prop::option::weighted(0.1, any::<bool>())), 0..200),
        times in prop::sample::select(vec![1usize, 40]),
        breakdown: bool,
    ) {
        let together = scene(breakdown);
        let whole = scene(breakdown);
        let decoder = WindowDecoder::new(Arc::clone(&whole.registry), Arc::clone(&whole.watch));
        let mut processes = [0, 1, 2].map(|number| {
            let scene = scene(breakdown);
            let (registry, watch) = (Arc::clone(&scene.registry), Arc::clone(&scene.watch));
            let encoder = WindowEncoder::new(registry, watch);
            let received = Totals::new(Arc::clone(&whole.registry), Arc::clone(&whole.watch));
            // The clocks of the two processes are unrelated.
            (scene, encoder, received, Moment::from_nanos(number * 7_777), Window::empty())
        });
        // A process may send several windows as one.
        let send = |process: &mut (Scene, WindowEncoder, Totals, Moment, Window), waits: bool| {
            let (scene, encoder, received, origin, pending) = process;
            pending.add(&scene.recorder.take_window(), &scene.registry, &scene.watch);
            if waits {
                return Ok(());
            }
            let window = std::mem::replace(pending, Window::empty());
            let bytes = encoder.encode(&window, *origin);
            let decode = || decoder.decode(&bytes, Moment::ZERO);
            received.merge(decode()?);
            whole.merge(decode()?);
            Ok::<(), WireError>(())
        };
        for _ in 0..times {
            for (event, number, hand_over) in &events {
                happen(event, &together.recorder, &together);
                let process = &mut processes[*number];
                happen(event, &process.0.recorder, &process.0);
                if let Some(waits) = hand_over {
                    prop_assert_eq!(send(process, *waits), Ok(()));
                }
            }
        }
        for process in &mut processes {
            prop_assert_eq!(send(process, false), Ok(()));
            // The process sends the sums of its metrics last. They confirm what was received.
            let sent = process.1.totals().cumulative();
            let mut out = Writer::new();
            sent.encode(&mut out);
            let bytes = out.into_bytes();
            let again = Cumulative::decode(&mut Reader::new(&bytes));
            prop_assert_eq!(again.as_ref(), Ok(&sent));
            prop_assert_eq!(sent.difference(&process.2.cumulative()), None);
        }
        together.hand_over();
        let (one, many) = (together.totals.borrow(), whole.totals.borrow());
        prop_assert_eq!(one.cumulative().difference(&many.cumulative()), None);
        drop((one, many));
        let mut one = serde_json::to_value(together.summary(10.0)).unwrap();
        let mut many = serde_json::to_value(whole.summary(10.0)).unwrap();
        // Groups and checks are listed in the order in which they first occurred.
        sort_lists(&mut one);
        sort_lists(&mut many);
        prop_assert_eq!(one, many);
    }
}

fn sort_lists(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Array(list) => {
            list.iter_mut().for_each(sort_lists);
            list.sort_by_key(ToString::to_string);
        }
        serde_json::Value::Object(fields) => fields.values_mut().for_each(sort_lists),
        _ => {}
    }
}
