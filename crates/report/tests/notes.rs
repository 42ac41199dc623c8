//! The notes on what decides a figure: a full processor, the round trip, or an idle processor.

mod support;

use plimsoll_results::lab::{
    Cell, CellState, Figure, LabResult, LinkFigures, Placed, Question, Repeat, Used,
};
use serde_json::json;
use support::{cells, fixture, markdown};

fn value(name: &str, value: f64) -> Figure {
    let (unit, better) = match name {
        "latency_mean" | "latency_p50" => ("ms", "less"),
        "cpu_time_per_request" => ("CPU µs", "less"),
        "generator_cpu" => ("%", "less"),
        _ => ("requests/s", "more"),
    };
    let mut figure = cells::figure(name, name, unit, vec![value], better);
    figure.value = value;
    figure.interval = Some((value * 0.9, value * 1.1));
    figure
}

/// Processors in use: by the measured system, by a service behind it, and by the generator.
#[derive(Clone, Copy)]
struct Busy {
    system: f64,
    behind: f64,
    generator: f64,
}

/// Two stores at 10,000 requests/s, from this number of users.
fn closed_loop(busy: Busy, users: u32, latency: f64) -> LabResult {
    let axes = vec![fixture::axis("store", &["sqlite", "pg"])];
    let mut result = fixture::around("Rates", "standard", axes);
    result.topology = ["system", "behind", "generator"]
        .into_iter()
        .map(|name| Placed {
            name: name.into(),
            cpus: vec![u32::from(name == "generator")],
            command: String::new(),
            version: None,
            settings: Vec::new(),
        })
        .collect();
    let used = |name: &str, apart: bool, share: f64| Used {
        name: name.into(),
        apart,
        cpu_seconds: share * 5.0,
        peak_rss_bytes: 0,
        threads: 1,
        open_files: 1,
        context_switches: (0, 0),
        network_bytes: None,
    };
    for store in ["sqlite", "pg"] {
        let place = vec![("store".to_owned(), store.to_owned())];
        let mut cell = cells::bare(&place, CellState::Measured, "");
        cell.verdict = "valid".into();
        cell.figures = vec![
            value("requests_per_second", 10_000.0),
            value("latency_mean", latency),
            value("generator_cpu", busy.generator * 100.0),
        ];
        cell.repeats = vec![Repeat {
            duration_seconds: 4.0,
            warm_up_seconds: 1.0,
            used: vec![
                used("system", false, busy.system),
                used("behind", true, busy.behind),
                used("generator", true, busy.generator),
            ],
            ..Repeat::default()
        }];
        result.cells.push(cell);
    }
    let loads = result
        .cells
        .iter()
        .map(|cell| json!({ "name": cell.name, "load": { "users": users } }));
    result.effective = json!({ "cells": loads.collect::<Vec<_>>() });
    result.questions = vec![Question {
        text: "Which store is faster?".into(),
        figure: Some("requests_per_second".into()),
        axis: Some("store".into()),
        values: vec!["sqlite".into(), "pg".into()],
        cells: result.cells.iter().map(|cell| cell.name.clone()).collect(),
        ..Question::default()
    }];
    result
}

/// The page's statement about what limits the rates, for 100 users who never pause. Each request takes 10 ms.
fn limit(busy: Busy) -> String {
    limit_of(&closed_loop(busy, 100, 10.0)).expect("a limit")
}

fn limit_of(result: &LabResult) -> Option<String> {
    let page = markdown(result);
    let begin = "- **What limits these rates**: ";
    let line = page.lines().find_map(|line| line.strip_prefix(begin));
    line.map(str::to_owned)
}

#[test]
fn a_full_processor_limits_the_rate() {
    let alone = Busy {
        system: 0.97,
        behind: 0.0,
        generator: 0.4,
    };
    assert_eq!(
        limit(alone),
        "the processor of the system and its services is saturated (97 % used)."
    );
    let both = Busy {
        generator: 0.95,
        ..alone
    };
    assert_eq!(
        limit(both),
        "the processor of the system and its services is saturated (97 % used); the generator uses 95 % of its own."
    );
    let shared = Busy {
        system: 0.65,
        behind: 0.33,
        generator: 0.3,
    };
    assert_eq!(
        limit(shared),
        "the processor that the measured system shares with the service behind it is saturated. Together they use 98 % of it, the \
         measured system alone 65 %."
    );
}

#[test]
fn the_generator_or_nothing_limits_the_rate_otherwise() {
    let generator = Busy {
        system: 0.5,
        behind: 0.0,
        generator: 0.95,
    };
    assert_eq!(
        limit(generator),
        "the generator, which uses 95 % of its processor."
    );
    let neither = Busy {
        generator: 0.2,
        ..generator
    };
    assert_eq!(
        limit(neither),
        "not shown by these data. The systems use 50 % of their processor, the generator 20 % of its own."
    );
    let mut far = closed_loop(neither, 100, 10.0);
    for cell in &mut far.cells {
        cell.link = Some(LinkFigures {
            declared_round_trip_ms: Some(9.0),
            ..LinkFigures::default()
        });
    }
    let expected = "the round trip, because each user waits for it.";
    assert_eq!(limit_of(&far).as_deref(), Some(expected));
}

/// With pauses, the number of users determines the rate, and nothing limits it.
#[test]
fn users_who_pause_do_not_limit_the_rate() {
    let busy = Busy {
        system: 0.97,
        behind: 0.0,
        generator: 0.1,
    };
    assert_eq!(limit_of(&closed_loop(busy, 10_000, 10.0)), None);
}

/// A service with 100 and 1000 users.
fn under_two_loads(few: (f64, f64), many: (f64, f64)) -> LabResult {
    let axes = vec![
        fixture::axis("users", &["100", "1000"]),
        fixture::axis("wire", &["http", "grpc"]),
    ];
    let mut result = fixture::around("Loads", "standard", axes);
    let of = |users: &str, wire: &str, (latency, cost): (f64, f64)| -> Cell {
        let place = vec![
            ("users".to_owned(), users.to_owned()),
            ("wire".to_owned(), wire.to_owned()),
        ];
        let mut cell = cells::bare(&place, CellState::Measured, "");
        cell.verdict = "valid".into();
        cell.figures = vec![
            value("latency_p50", latency),
            value("cpu_time_per_request", cost),
        ];
        cell
    };
    for wire in ["http", "grpc"] {
        result.cells.push(of("100", wire, few));
        result.cells.push(of("1000", wire, many));
    }
    let loads = result.cells.iter().map(|cell| {
        let users: u32 = cell.place[0].1.parse().expect("a number");
        json!({ "name": cell.name, "load": { "users": users } })
    });
    result.effective = json!({ "cells": loads.collect::<Vec<_>>() });
    result
}

#[test]
fn latencies_that_fall_with_the_load_are_marked() {
    let text = "**Shorter with more load** (http: 0.189 ms with 1000 users, 0.368 with 100 users): each request also uses less \
                CPU time (134 and 275 CPU µs)";
    let page = |few, many| markdown(&under_two_loads(few, many));
    let falling = page((0.368, 275.0), (0.189, 134.0));
    assert!(falling.contains(text), "{falling}");
    for (few, many) in [
        ((0.189, 134.0), (0.368, 275.0)),
        ((0.368, 275.0), (0.367, 134.0)),
        ((0.368, 134.0), (0.189, 275.0)),
    ] {
        assert!(!page(few, many).contains("Shorter with more load"));
    }
}
