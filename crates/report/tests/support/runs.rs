//! Made-up records of runs.

use std::collections::BTreeMap;

use plimsoll_report::Report;
use plimsoll_report::run::{RunComparison, RunReport};
use plimsoll_results::compare;
use plimsoll_results::distribution::Distribution;
use plimsoll_results::environment::Environment;
use plimsoll_results::figures::{FIGURES, RunFigures};
use plimsoll_results::record::{
    End, Generator, Header, Mark, NamedRequests, Record, SCHEMA, Second,
};
use plimsoll_stats::Histogram;

use super::hostile::HOSTILE;

const RESPONSE: &str = "http_req_response_time";
const SERVICE: &str = "http_req_duration{expected_response:true}";

/// An open run of `length` seconds at 200/s, `slower` times as slow as usual, with failures and
/// missed thresholds.
pub fn open(length: u64, slower: f64) -> Record {
    let seconds: Vec<Second> = (0..length)
        .map(|second| open_second(second, slower))
        .collect();
    let all = |name: &str| {
        let mut sum = Distribution::default();
        seconds
            .iter()
            .filter_map(|second| second.trends.get(name))
            .for_each(|part| sum.add(part));
        sum
    };
    let requests = 200 * length;
    let failed = seconds
        .iter()
        .map(|second| second.rates["http_req_failed"].0)
        .sum();
    let names = [
        ("cart", "GET", 4),
        ("cart", "POST", 3),
        ("http://127.0.0.1:8080/pay?id=1", "POST", 1),
    ];
    let end = End {
        duration_seconds: length as f64 + 0.012,
        counters: BTreeMap::from([
            ("http_reqs".to_owned(), requests as f64),
            ("iterations".to_owned(), requests as f64),
            ("data_received".to_owned(), requests as f64 * 1_234.0),
            ("dropped_iterations".to_owned(), 7.0),
        ]),
        rates: BTreeMap::from([
            ("http_req_failed".to_owned(), (failed, requests)),
            ("checks".to_owned(), (requests * 2 - 9, requests * 2)),
        ]),
        gauges: BTreeMap::from([("vus".to_owned(), (20.0, 1.0, 20.0))]),
        trends: [RESPONSE, SERVICE, "iteration_send_lag"]
            .map(|name| (name.to_owned(), all(name)))
            .into(),
        checks: BTreeMap::from([
            ("status is 200".to_owned(), (requests, 0)),
            ("body has a price".to_owned(), (requests - 9, 9)),
        ]),
        thresholds: vec![
            ("http_req_duration".to_owned(), "p(95)<500".to_owned(), true),
            (RESPONSE.to_owned(), "p(99)<1".to_owned(), false),
        ],
        thresholds_measured: vec![Some(4.25), Some(8.125)],
        names: names
            .map(|(name, method, share)| NamedRequests {
                name: name.to_owned(),
                method: method.to_owned(),
                requests: requests / 8 * share,
                failed: 3,
                service_time: all(SERVICE),
            })
            .into(),
        statuses: BTreeMap::from([
            ("200".to_owned(), requests - failed),
            ("503".to_owned(), failed),
        ]),
        errors: BTreeMap::from([("connect: connection refused".to_owned(), 2)]),
        protocols: BTreeMap::from([("HTTP/1.1".to_owned(), requests)]),
        connections_opened: 20,
        generator: Generator {
            cpu_seconds: 0.31 * length as f64,
            peak_rss_bytes: 31 << 20,
            verdict: "suspect".to_owned(),
            reasons: vec![("client".to_owned(), "send lag p99 12 ms".to_owned())],
            ..Generator::default()
        },
        ..End::default()
    };
    Record {
        header: header("http", "open"),
        seconds,
        tail: Vec::new(),
        end: Some(end),
    }
}

fn open_second(second: u64, slower: f64) -> Second {
    let (mut response, mut service, mut lag) =
        (Histogram::new(), Histogram::new(), Histogram::new());
    for request in 0..200_u64 {
        // Spread over a factor of eight, and different in each second.
        let spread = ((request * 37 + second * 11) % 200) as f64 / 200.0;
        let time = slower * (1.0 + spread * spread * 7.0);
        service.record(time);
        response.record(time + 0.2);
        lag.record(0.05 + spread * 0.3);
    }
    Second {
        second,
        users: (second as u32 + 1).min(20),
        in_flight: 0.7 * slower,
        counters: BTreeMap::from([
            ("http_reqs".to_owned(), 200.0),
            ("iterations".to_owned(), 200.0),
        ]),
        rates: BTreeMap::from([("http_req_failed".to_owned(), (second % 3, 200))]),
        trends: BTreeMap::from([
            (RESPONSE.to_owned(), Distribution::of(&response)),
            (SERVICE.to_owned(), Distribution::of(&service)),
            ("iteration_send_lag".to_owned(), Distribution::of(&lag)),
        ]),
        generator_cpu_seconds: 0.3,
        ..Second::default()
    }
}

pub fn header(kind: &str, model: &str) -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        plimsoll: "0.1.0".to_owned(),
        kind: kind.to_owned(),
        title: "GET http://127.0.0.1:8080/, 200 requests/s".to_owned(),
        command: [
            "plimsoll",
            "http",
            "-r",
            "200",
            "-H",
            "Accept: a b",
            "http://127.0.0.1:8080/",
        ]
        .map(str::to_owned)
        .into(),
        started: "2026-11-21T09:00:00Z".to_owned(),
        model: model.to_owned(),
        load: vec!["200.00 iterations/s for 30s (maxVUs: 20)".to_owned()],
        warm_up_seconds: 2.0,
        configuration: serde_json::json!({"url": "http://127.0.0.1:8080/", "rate": 200}),
        configuration_hash: "5f3a9c0011223344".to_owned(),
        environment: Environment {
            cpu: "Example CPU 9000 @ 3.00GHz".to_owned(),
            cpus: 2,
            memory_bytes: 25_769_803_776,
            os: "Debian GNU/Linux 12".to_owned(),
            kernel: "6.1.0-44-amd64".to_owned(),
            settings: vec![("governor".to_owned(), "performance".to_owned())],
            fingerprint: "5f3a9c".to_owned(),
        },
    }
}

/// A run without a response.
pub fn unanswered() -> Record {
    let mut record = open(3, 1.0);
    for second in &mut record.seconds {
        second.trends.clear();
        second
            .rates
            .insert("http_req_failed".to_owned(), (200, 200));
    }
    let end = record.end.as_mut().expect("an end");
    *end = End {
        duration_seconds: 3.0,
        counters: end.counters.clone(),
        rates: BTreeMap::from([("http_req_failed".to_owned(), (600, 600))]),
        errors: BTreeMap::from([("connect: connection refused".to_owned(), 600)]),
        objectives_not_judged: vec![
            "p95<5ms: 0 values of the response time are too few".to_owned(),
        ],
        generator: Generator {
            verdict: "invalid".to_owned(),
            reasons: vec![("server".to_owned(), "no request got a response".to_owned())],
            ..Generator::default()
        },
        ..End::default()
    };
    record
}

/// A run that was killed.
pub fn killed() -> Record {
    Record {
        end: None,
        ..open(5, 1.0)
    }
}

pub fn mark(at_seconds: f64, text: &str) -> Mark {
    Mark {
        at_seconds,
        text: text.to_owned(),
    }
}

/// A record in which every free text tries to break out of the page.
pub fn hostile() -> Record {
    let mut record = open(4, 1.0);
    let header = &mut record.header;
    header.title = HOSTILE.to_owned();
    header.command = vec![HOSTILE.to_owned()];
    header.load = vec![HOSTILE.to_owned()];
    header.configuration = serde_json::json!({ HOSTILE: HOSTILE });
    header.environment.cpu = HOSTILE.to_owned();
    header.environment.settings = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    let end = record.end.as_mut().expect("an end");
    end.aborted = Some(HOSTILE.to_owned());
    end.checks = BTreeMap::from([(HOSTILE.to_owned(), (1, 2))]);
    end.errors = BTreeMap::from([(HOSTILE.to_owned(), 3)]);
    end.thresholds = vec![(HOSTILE.to_owned(), HOSTILE.to_owned(), false)];
    end.objectives_not_judged = vec![HOSTILE.to_owned()];
    end.marks = vec![mark(1.5, HOSTILE)];
    end.counters.insert(HOSTILE.to_owned(), 1.0);
    end.generator.reasons = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    for part in &mut end.names {
        part.name = HOSTILE.to_owned();
        part.method = HOSTILE.to_owned();
    }
    record
}

/// As much of everything as a record may have.
pub fn large() -> Record {
    let mut record = open(4_000, 1.0);
    let end = record.end.as_mut().expect("an end");
    let time = end.names[0].service_time.clone();
    end.names = (0..201_u64)
        .map(|number| NamedRequests {
            name: format!("http://127.0.0.1:8080/items/{number}/{}", "x".repeat(3_000)),
            method: "GET".to_owned(),
            requests: 1_000 - number,
            failed: 0,
            service_time: time.clone(),
        })
        .collect();
    end.checks = (0..3_000)
        .map(|number| (format!("check {number}"), (9, number % 2)))
        .collect();
    end.errors = (0..101)
        .map(|number| (format!("error {number}"), 1))
        .collect();
    for number in 0..500 {
        end.trends
            .insert(format!("my_trend{{id:{number}}}"), time.clone());
    }
    record.header.configuration = serde_json::json!({ "thresholds": vec!["p(95)<5"; 20_000] });
    record
}

/// How two runs differ.
pub fn comparison(a: &Record, b: &Record) -> RunComparison {
    let of = |record| RunFigures::of(record, 0).expect("figures");
    let figures: Vec<_> = FIGURES.iter().collect();
    RunComparison {
        compared: compare::single(&of(a), &of(b), &figures, &|_| None),
        method: "one run each: moving-block bootstrap over its seconds".to_owned(),
        differences: vec![("kernel".to_owned(), "6.1".to_owned(), HOSTILE.to_owned())],
        doubts: vec!["A is suspect".to_owned()],
    }
}

/// Every page with its name.
pub fn pages() -> Vec<(&'static str, String)> {
    let of = |record: &Record| RunReport::of(record).html();
    let (a, b) = (open(30, 1.0), open(30, 1.6));
    let comparison = comparison(&a, &b);
    vec![
        ("run-open", of(&a)),
        ("run-unanswered", of(&unanswered())),
        ("run-killed", of(&killed())),
        ("run-hostile", of(&hostile())),
        ("run-large", of(&large())),
        ("run-pair", RunReport::pair(&a, &b, &comparison).html()),
    ]
}
