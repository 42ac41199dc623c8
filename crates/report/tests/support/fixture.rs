//! Made-up results with everything that a real result can contain.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use plimsoll_results::distribution::Distribution;
use plimsoll_results::environment::Environment;
use plimsoll_results::lab::{
    Axis, Cell, CellState, Comparison, Finding, LabResult, LimitSearch, LimitTrial, LinkFigures,
    ObjectiveOutcome, Outcome, Placed, Pooled, Published, PublishedError, Repeat, SCHEMA,
    Variation,
};
use plimsoll_results::record::Generator;

use super::cells::{Dice, Likeness, bare, cell, figure};

pub fn axis(name: &str, values: &[&str]) -> Axis {
    Axis {
        name: name.into(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        ..Axis::default()
    }
}

/// A result without cells.
pub fn around(title: &str, form: &str, axes: Vec<Axis>) -> LabResult {
    LabResult {
        schema: SCHEMA.into(),
        plimsoll: "0.1.0".into(),
        title: title.into(),
        question: "What does a check cost over HTTP and gRPC, near and far, per storage engine?".into(),
        form: form.into(),
        started: "2026-11-21T09:00:00Z".into(),
        ended: Some("2026-11-21T09:38:12Z".into()),
        environment: Environment {
            cpu: "Example CPU 9000 @ 3.00GHz".into(),
            cpus: 2,
            memory_bytes: 25_769_803_776,
            os: "Debian GNU/Linux 12".into(),
            kernel: "6.1.0-44-amd64".into(),
            settings: vec![("governor".into(), "performance".into())],
            fingerprint: "5f3a9c".into(),
        },
        versions: vec![("postgres".into(), "15.14".into()), ("nginx".into(), "1.22.1".into())],
        axes,
        file: "[lab]\ntitle = \"Cost of authorization one hop away\"\n\n[axes]\nbackend = [\"sqlite\", \"pgquery\"]\n".into(),
        file_name: "lab.toml".into(),
        commit: Some("0123456789abcdef0123456789abcdef01234567 (changed)".into()),
        effective: serde_json::json!({"load": {"duration": "8s", "repeats": 6}}),
        topology: vec![
            Placed {
                name: "authz".into(),
                cpus: vec![0],
                command: "plimsoll serve zanzibar --backend sqlite --listen 127.0.0.1:0".into(),
                version: Some("plimsoll 0.1.0".into()),
                settings: vec![("fsync".into(), "on".into())],
            },
            Placed {
                name: "generator".into(),
                cpus: vec![1],
                command: "plimsoll run check.js".into(),
                version: None,
                settings: Vec::new(),
            },
        ],
        hosts: Vec::new(),
        cells: Vec::new(),
        comparisons: Vec::new(),
        pooled: Vec::new(),
        seed: Some(7),
        same_cell: None,
        objectives: Vec::new(),
        tables: Vec::new(),
        questions: Vec::new(),
        published_errors: Vec::new(),
        findings: Vec::new(),
    }
}

fn far() -> LinkFigures {
    LinkFigures {
        name: "far".into(),
        by: "relay".into(),
        declared_round_trip_ms: Some(7.0),
        declared_jitter_ms: None,
        declared_megabits_per_second: Some(1000.0),
        measured_connect_ms: Some(7.21),
        measured_round_trip_ms: Some(7.08),
        measured_megabits_per_second: Some(963.2),
        late_p99_ms: Some(0.2),
    }
}

fn places(axes: &[Axis]) -> Vec<Vec<(String, String)>> {
    axes.iter().fold(vec![Vec::new()], |places, axis| {
        places
            .iter()
            .flat_map(|place| {
                axis.values.iter().map(|value| {
                    let mut place = place.clone();
                    place.push((axis.name.clone(), value.clone()));
                    place
                })
            })
            .collect()
    })
}

fn on<'a>(place: &'a [(String, String)], axis: &str) -> &'a str {
    place
        .iter()
        .find(|(name, _)| name == axis)
        .map_or("", |(_, value)| value)
}

fn zanzibar(form: &str, repeats: u32, seconds: u64) -> LabResult {
    let axes = vec![
        axis("backend", &["sqlite", "pgquery", "pgfunc"]),
        axis("wire", &["http", "grpc"]),
        axis("users", &["100", "1000"]),
        axis("place", &["near", "far"]),
    ];
    let mut result = around("Cost of authorization one hop away", form, axes);
    let cells: Vec<Cell> = places(&result.axes)
        .into_iter()
        .enumerate()
        .filter(|(_, place)| on(place, "place") == "near" || on(place, "backend") == "sqlite")
        .map(|(index, place)| {
            let engine = match on(&place, "backend") {
                "sqlite" => 1.0,
                "pgquery" => 1.9,
                _ => 1.02,
            };
            let wire = if on(&place, "wire") == "grpc" {
                1.15
            } else {
                1.0
            };
            let far_away = on(&place, "place") == "far";
            cell(&Likeness {
                seed: index as u64 + 1,
                median: 2.0 * engine * wire + if far_away { 7.1 } else { 0.0 },
                rate: if on(&place, "users") == "100" {
                    98.0
                } else {
                    930.0
                },
                repeats,
                seconds,
                link: far_away.then(far),
                place,
            })
        })
        .collect();
    result.cells = cells;
    result
}

fn compared(
    result: &LabResult,
    axis: &str,
    base: &str,
    other: &str,
    judged: bool,
) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for one in result
        .cells
        .iter()
        .filter(|cell| on(&cell.place, axis) == base)
    {
        let without = |place: &[(String, String)]| -> Vec<(String, String)> {
            place
                .iter()
                .filter(|(name, _)| name != axis)
                .cloned()
                .collect()
        };
        let Some(second) = result.cells.iter().find(|cell| {
            on(&cell.place, axis) == other && without(&cell.place) == without(&one.place)
        }) else {
            continue;
        };
        let value = |cell: &Cell| cell.figures.first().map(|figure| figure.value);
        let ratio = value(one)
            .zip(value(second))
            .map(|(one, second)| second / one);
        let interval = ratio
            .filter(|_| judged)
            .map(|ratio| (ratio * 0.96, ratio * 1.05));
        let outcome = match interval {
            Some((low, _)) if low > 1.0 => Outcome::Larger,
            Some((_, high)) if high < 1.0 => Outcome::Smaller,
            Some(_) => Outcome::NoDifference,
            None => Outcome::NotMeasured,
        };
        comparisons.push(Comparison {
            axis: axis.into(),
            cells: (one.name.clone(), second.name.clone()),
            place: without(&one.place),
            figure: "latency_p95".into(),
            ratio,
            interval,
            method: if judged {
                "6 pairs of one round each: mean log ratio, Student's paired t-test".into()
            } else {
                "2 repeats cannot show a difference of any size: use at least 3".into()
            },
            p: interval.map(|_| 0.03125),
            at_most: (outcome == Outcome::NoDifference).then_some(0.05),
            outcome,
            ..Comparison::default()
        });
    }
    comparisons
}

fn pooled() -> Vec<Pooled> {
    let one = |base: &str, other: &str, ratio: f64, outcome| Pooled {
        axis: "backend".into(),
        base: base.into(),
        other: other.into(),
        figure: "latency_p95".into(),
        cells: 4,
        pairs: 24,
        ratio,
        interval: (ratio * 0.97, ratio * 1.04),
        range: Some((ratio * 0.95, ratio * 1.06)),
        p: 0.0004,
        method: "24 pairs of one round each over 4 cells".into(),
        at_most: (outcome == Outcome::NoDifference).then_some(0.05),
        would_decide: None,
        outcome,
    };
    vec![
        one("sqlite", "pgquery", 1.87, Outcome::Larger),
        one("sqlite", "pgfunc", 1.01, Outcome::NoDifference),
    ]
}

/// A result with every state, every table and every plot.
pub fn full() -> LabResult {
    let mut result = zanzibar("standard", 6, 6);
    let broken = result.cells.len();
    // Cells without figures, or with doubtful ones.
    if let Some(cell) = result.cells.get_mut(1) {
        cell.verdict = "suspect".into();
        cell.reasons = vec!["The generator's busiest core was at 86 %.".into()];
        cell.findings.push(Finding {
            rule: "generator-busy".into(),
            level: "warning".into(),
            text: "busiest core 86 %, which is over 80 %".into(),
        });
    }
    if let Some(cell) = result.cells.get_mut(broken - 1) {
        cell.verdict = "invalid".into();
        cell.reasons = vec!["Send lag: p99 was 41 ms, half of the median response time.".into()];
        cell.figures.clear();
        cell.findings.push(Finding {
            rule: "send-lag".into(),
            level: "error".into(),
            text: "p99 of send lag 41 ms".into(),
        });
    }
    if let Some(cell) = result.cells.get_mut(2) {
        cell.state = CellState::Partial("4 of 6 runs; the machine was restarted.".into());
        cell.repeats.truncate(4);
        for figure in &mut cell.figures {
            figure.repeats.truncate(4);
        }
    }
    if let Some(figure) = result
        .cells
        .get_mut(3)
        .and_then(|cell| cell.figures.first_mut())
    {
        figure.interval = None;
        figure.why_no_interval = Some("121 requests; the 95th percentile needs 200".into());
    }
    for (index, value) in [(0, 3.91), (4, 13.19), (6, 4.04)] {
        if let Some(cell) = result.cells.get_mut(index) {
            cell.published.push(Published {
                figure: "latency_p95".into(),
                value,
                note: "n2-standard-4, another processor; think time 1 s".into(),
            });
        }
    }
    if let Some(cell) = result.cells.first_mut() {
        cell.limit = Some(search());
    }
    let template = result.cells[0].place.clone();
    let with = |backend: &str| {
        let mut place = template.clone();
        place[0].1 = backend.into();
        place
    };
    result.axes[0]
        .values
        .extend(["memory".to_owned(), "remote".to_owned()]);
    result.cells.push(bare(
        &with("memory"),
        CellState::Insane("POST /Check: status 503, not 200".into()),
        "",
    ));
    result.cells.push(bare(
        &with("remote"),
        CellState::Failed("the database refused the connection".into()),
        "",
    ));
    result.comparisons = compared(&result, "backend", "sqlite", "pgquery", true);
    result.pooled = pooled();
    let mut more = compared(&result, "backend", "sqlite", "pgfunc", true);
    result.comparisons.append(&mut more);
    let mut more = compared(&result, "place", "near", "far", true);
    result.comparisons.append(&mut more);
    objectives(&mut result, 9.0);
    result.published_errors = vec![
        PublishedError {
            wrong: "The rate is think time, not capacity: 6000 = 100 × 60.".into(),
            avoided: "Think time is declared, and the audit names a rate that follows from it."
                .into(),
        },
        PublishedError {
            wrong: "Ids 0..9999 were requested, 1..10000 seeded.".into(),
            avoided: "What was seeded is counted before the load.".into(),
        },
    ];
    result.findings.push(Finding {
        rule: "short-run".into(),
        level: "note".into(),
        text: "runs of 8 s hold 8 windows".into(),
    });
    result
}

fn search() -> LimitSearch {
    let trial = |rate: f64, value: f64, kept| LimitTrial {
        rate,
        value: Some(value),
        kept,
        soak: false,
    };
    LimitSearch {
        objective: "95th percentile of response time at most 50 ms".into(),
        figure: "95th percentile of response time".into(),
        limit: 50.0,
        unit: "ms".into(),
        trials: vec![
            trial(500.0, 3.1, true),
            trial(1000.0, 4.4, true),
            trial(2000.0, 310.0, false),
            trial(1400.0, 12.0, true),
            trial(1700.0, 92.0, false),
            LimitTrial {
                soak: true,
                ..trial(1400.0, 14.0, true)
            },
        ],
        kept: Some(1400.0),
        broken: Some(1700.0),
        confirmed: true,
    }
}

fn objectives(result: &mut LabResult, limit: f64) {
    for cell in &result.cells {
        let Some(figure) = cell.figures.first() else {
            continue;
        };
        let (low, high) = figure.interval.unwrap_or((figure.value, figure.value));
        let verdict = if high <= limit {
            "kept"
        } else if low > limit {
            "broken"
        } else {
            "undecided"
        };
        result.objectives.push(ObjectiveOutcome {
            objective: format!("95th percentile of latency at most {limit}ms"),
            cell: cell.name.clone(),
            measured: figure.value,
            limit,
            unit: "ms".into(),
            verdict: verdict.into(),
            within: Some(if verdict == "kept" { 0.9871 } else { 0.9312 }),
            interval_from: Some(Variation::Restarts),
            too_few: None,
        });
    }
}

/// Repeats the measured cells of a result, as values of one more axis.
pub fn repeated(result: &LabResult, copies: usize) -> LabResult {
    let mut more = result.clone();
    let names: Vec<String> = (1..=copies).map(|copy| format!("c{copy}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    more.axes.insert(0, axis("copy", &names));
    more.cells.clear();
    more.comparisons.clear();
    more.objectives.clear();
    for name in &names {
        let renamed = |cell: &str| format!("copy={name} {cell}");
        let axis = ("copy".to_owned(), (*name).to_owned());
        for cell in result.cells.iter().filter(|cell| !cell.repeats.is_empty()) {
            let mut cell = cell.clone();
            cell.name = renamed(&cell.name);
            cell.place.insert(0, axis.clone());
            more.cells.push(cell);
        }
        for comparison in &result.comparisons {
            let mut comparison = comparison.clone();
            comparison.cells = (renamed(&comparison.cells.0), renamed(&comparison.cells.1));
            comparison.place.insert(0, axis.clone());
            more.comparisons.push(comparison);
        }
        for outcome in &result.objectives {
            let mut outcome = outcome.clone();
            outcome.cell = renamed(&outcome.cell);
            more.objectives.push(outcome);
        }
    }
    more
}

/// The quick form: few and short runs, some cells not part of it, one not run yet.
pub fn quick() -> LabResult {
    let mut result = zanzibar("quick", 2, 5);
    for (index, cell) in result.cells.iter_mut().enumerate() {
        if index % 3 == 2 {
            *cell = bare(&cell.place.clone(), CellState::LeftOut, "");
        } else if index == 10 {
            *cell = bare(&cell.place.clone(), CellState::Missing, "");
        }
    }
    result.ended = None;
    result.comparisons = compared(&result, "backend", "sqlite", "pgquery", false);
    result
}

/// Fixed work and raw throughput, without latencies.
pub fn work() -> LabResult {
    let axes = vec![
        axis("load", &["tcp", "push-4k", "push-1m"]),
        axis("place", &["near", "far"]),
    ];
    let mut result = around("The cost of distance and of TLS", "standard", axes);
    let mut dice = Dice::new(77);
    for place in places(&result.axes.clone()) {
        let mut cell = bare(&place, CellState::Measured, "");
        cell.verdict = "valid".into();
        cell.command = format!("plimsoll attack --{}", on(&place, "load"));
        let slow = if on(&place, "place") == "far" {
            3.0
        } else {
            1.0
        };
        let tcp = on(&place, "load") == "tcp";
        let values: Vec<f64> = (0..3)
            .map(|_| (if tcp { 9000.0 / slow } else { 1.3 * slow }) * dice.about(0.04))
            .collect();
        cell.repeats = values
            .iter()
            .enumerate()
            .map(|(index, value)| Repeat {
                number: index as u32 + 1,
                restart: index as u32 + 1,
                turn: index as u32 + 1,
                started: "2026-11-21T09:00:00Z".into(),
                duration_seconds: if tcp { 10.0 } else { *value },
                warm_up_seconds: 0.0,
                warm_up_rule: "fixed work has none".into(),
                requests: 10_000,
                failed: 0,
                latency: Distribution::default(),
                latency_kind: String::new(),
                seconds: Vec::new(),
                marks: Vec::new(),
                used: Vec::new(),
                generator: Generator::default(),
                outcomes: BTreeMap::new(),
                work: (!tcp).then_some((10_000, 10_000)),
                extra: BTreeMap::from([("bytes_pushed".to_owned(), 40_960_000.0)]),
                raw: "Push: 1300 ms".into(),
                disturbed: Vec::new(),
                record: None,
            })
            .collect();
        cell.figures = vec![if tcp {
            figure("throughput", "TCP throughput", "Mbit/s", values, "more")
        } else {
            figure(
                "makespan",
                "makespan of the whole work",
                "s",
                values,
                "less",
            )
        }];
        if on(&place, "place") == "far" {
            cell.link = Some(far());
        }
        result.cells.push(cell);
    }
    result
}

pub fn empty() -> LabResult {
    let mut result = around("", "full", Vec::new());
    result.question.clear();
    result.topology.clear();
    result.file.clear();
    result.versions.clear();
    result.environment = Environment::default();
    result
}

/// All results by name; built once.
pub fn all() -> Vec<(&'static str, LabResult)> {
    static ALL: OnceLock<Vec<(&'static str, LabResult)>> = OnceLock::new();
    ALL.get_or_init(make_all).clone()
}

/// The full result, except that its first two comparisons have a ratio of 170 (80 to 390). The second one is uncertain.
pub fn far_apart() -> LabResult {
    let mut result = full();
    result.pooled.clear();
    let outcomes = [Outcome::Larger, Outcome::Uncertain];
    for (comparison, outcome) in result.comparisons.iter_mut().zip(outcomes) {
        comparison.ratio = Some(170.0);
        comparison.interval = Some((80.0, 390.0));
        comparison.outcome = outcome;
        comparison.at_most = None;
        comparison.would_decide = (outcome == Outcome::Uncertain).then_some(8);
    }
    result
}

fn make_all() -> Vec<(&'static str, LabResult)> {
    vec![
        ("full", full()),
        ("far-apart", far_apart()),
        ("quick", quick()),
        ("work", work()),
        ("empty", empty()),
        ("hostile", super::hostile::hostile()),
    ]
}
