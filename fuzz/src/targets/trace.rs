//! Recorded arrivals: logs, results of other tools and lists of times.

use std::time::Duration;

use plimsoll_plan::Trace;

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "trace",
    run,
    seeds: &[
        b"0\n0.5\n7\n",
        b"time,status\n1700000000000,200\n1700000000250,500\n",
        b"127.0.0.1 - - [02/Nov/2026:10:00:00 +0100] \"GET / HTTP/1.1\" 200 5\n",
        b"{\"timestamp\":\"2026-11-02T10:00:00.25+01:00\"}\n",
        b"{\"log\": {\"entries\": [{\"startedDateTime\": \"2026-11-02T10:00:00.250Z\"}]}}",
    ],
    words: &[
        "\n",
        ".",
        ",",
        "[",
        "]",
        "Z",
        "+01:00",
        "T10:00:00",
        "2026-11-02",
        "02/Nov/2026:10:00:00 +0000",
        "\"timestamp\":",
        "\"startedDateTime\":",
        "1700000000",
        "#",
    ],
};

fn run(data: &[u8]) {
    let Ok(mut trace) = Trace::parse("file@3x") else {
        return;
    };
    if trace.read(&text(data)).is_ok() {
        assert!(!trace.starts().is_empty() && trace.starts().is_sorted());
        let (duration, rate) = trace.extent(None);
        assert_eq!(rate.count, trace.starts().len() as u64);
        assert!(trace.starts().iter().all(|start| *start < duration));
        assert_eq!(trace.extent(Some(Duration::ZERO)).1.count, 0);
    }
}
