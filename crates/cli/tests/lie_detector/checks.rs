//! Conditions that the figures of a run must satisfy, given the server's log.

use std::time::Duration;

use plimsoll_testkit::logged_server::{Behavior, Log, Outcome};

use super::commands::{Command, Protocol, Run, USERS};
use super::reported::{Reported, Times};
use super::{RATE_SECONDS, Row};

/// Maximum relative error of printed times, because records use buckets. Scripts also round to milliseconds.
const ROUNDING: f64 = 0.01;
/// Tolerance in milliseconds per connection, between the server's last entry and the client's last measurement.
const SCHEDULING_MS: f64 = 500.0;

/// Lists all errors in the outputs of a run.
pub fn lies(command: &Command, row: &Row, run: &Run, log: &Log) -> Vec<String> {
    let mut lies = Vec::new();
    let resent = run.reported.iter().filter_map(|reported| reported.resent);
    let resent = resent.max().unwrap_or(0);
    let dropped = run.reported.iter().map(|reported| reported.dropped);
    let dropped = dropped.max().unwrap_or(0);
    for reported in &run.reported {
        let found = [
            counts(command, row, reported, log, (resent, dropped)),
            bytes(command, row, reported, log),
            times(command, row, reported, log),
            duration(reported, run.wall, log),
            rate(command, row, reported, log, dropped, run.wall),
            verdict(command, reported, log),
            reported.contradictions.clone(),
        ]
        .concat();
        lies.extend(
            found
                .into_iter()
                .map(|lie| format!("{}: {lie}", reported.source)),
        );
    }
    if !lies.is_empty() && std::env::var_os("LIE_DETECTOR_VERBOSE").is_some() {
        lies.push(format!("{:?}\n{log:?}", run.ended));
    }
    lies
}

fn is_good(protocol: Protocol, status: u16) -> bool {
    match protocol {
        Protocol::Http | Protocol::WebSocket => status == 200,
        Protocol::Grpc => status == 0,
    }
}

fn differ<T: PartialEq + std::fmt::Debug>(
    what: &str,
    claimed: Option<T>,
    logged: T,
) -> Option<String> {
    let claimed = claimed?;
    (claimed != logged)
        .then(|| format!("{what}: the output has {claimed:?}, the server logged {logged:?}"))
}

fn counts(
    command: &Command,
    row: &Row,
    reported: &Reported,
    log: &Log,
    (resent, dropped): (u64, u64),
) -> Vec<String> {
    // The server's log does not contain refused connections.
    let is_refused = row.behavior == Behavior::Refuse;
    let (arrived, failed) = if is_refused {
        (row.requests, row.requests)
    } else {
        let failed = log.failed(|status| is_good(command.protocol, status));
        (log.entries.len() as u64, failed)
    };
    // A request that failed and was sent again counts once.
    let resent = reported.resent.unwrap_or(resent);
    let mut lies: Vec<String> = [
        differ(
            "requests",
            reported.requests,
            arrived.saturating_sub(resent),
        ),
        differ("failed", reported.failed, failed.saturating_sub(resent)),
        statuses(command, reported, log),
        differ("connections", reported.connections, log.connections),
        differ(
            "messages sent in streams",
            reported.messages_sent,
            // A stream is refused after its first message.
            log.messages_received.saturating_sub(resent),
        ),
        differ(
            "messages received in streams",
            reported.messages_received,
            log.messages_sent,
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    if reported.requests.is_none() {
        lies.push("does not contain the number of requests".to_owned());
    }
    if arrived + dropped < row.requests {
        lies.push(format!(
            "the server logged {arrived} of {} requests, and {dropped} were dropped",
            row.requests
        ));
    }
    lies
}

fn statuses(command: &Command, reported: &Reported, log: &Log) -> Option<String> {
    let claimed = reported.statuses.as_ref()?;
    let logged = log.statuses();
    match command.protocol {
        Protocol::Http => {
            let logged = logged.into_iter();
            let logged = logged.map(|(code, count)| (code.to_string(), count));
            differ("statuses", Some(claimed.clone()), logged.collect())
        }
        // The client has its own statuses for requests without a response, so only successes are compared.
        Protocol::Grpc => {
            let good = claimed.get("OK").copied().unwrap_or(0);
            let logged = logged.get(&0).copied().unwrap_or(0);
            differ("calls with status OK", Some(good), logged)
        }
        Protocol::WebSocket => None,
    }
}

/// For gRPC, only the client counts HTTP/2 frames. A connection that was closed early may have lost bytes.
fn bytes(command: &Command, row: &Row, reported: &Reported, log: &Log) -> Vec<String> {
    if command.protocol == Protocol::Grpc
        || matches!(row.behavior, Behavior::Drop(_) | Behavior::Reset(_))
    {
        return Vec::new();
    }
    [
        differ("bytes received", reported.bytes_received, log.bytes_written),
        differ("bytes sent", reported.bytes_sent, log.bytes_read),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A quantile as the outputs compute it, in milliseconds.
fn quantile(sorted: &[Duration], q: f64) -> f64 {
    let at = q * sorted.len().saturating_sub(1) as f64;
    let value = |index: f64| {
        sorted
            .get(index as usize)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    value(at.floor()) + (value(at.ceil()) - value(at.floor())) * at.fract()
}

fn times(command: &Command, row: &Row, reported: &Reported, log: &Log) -> Vec<String> {
    let (Some(times), false) = (reported.times, row.fails) else {
        return Vec::new();
    };
    let held = log.held();
    let mean = held.iter().map(Duration::as_secs_f64).sum::<f64>() * 1e3 / held.len().max(1) as f64;
    let mut lies = below(&times, &held, mean, command.protocol);
    lies.extend(differ(
        "measured requests",
        Some(times.count),
        held.len() as u64,
    ));
    // The requests on each connection are sequential, so their total cannot exceed the time in which connections were
    // busy.
    let busy = log.busy().as_secs_f64() * 1e3;
    let all = times.mean * times.count as f64;
    let is_closed = command.is_closed && row.rate.is_none();
    if is_closed && all > busy + USERS as f64 * SCHEDULING_MS {
        lies.push(format!(
            "all requests together took {all:.1} ms, and the connections were busy for {busy:.1} ms"
        ));
    }
    lies
}

/// Lists figures that are smaller than the time for which the server delayed the requests.
fn below(times: &Times, held: &[Duration], mean: f64, protocol: Protocol) -> Vec<String> {
    // Scripts measure an echo with Date.now(), whose resolution is one millisecond.
    let clock = if protocol == Protocol::WebSocket {
        1.0
    } else {
        0.0
    };
    let pairs = [
        ("min", Some(times.min), quantile(held, 0.0)),
        ("mean", Some(times.mean), mean),
        ("p50", times.p50, quantile(held, 0.5)),
        ("p90", times.p90, quantile(held, 0.9)),
        ("max", Some(times.max), quantile(held, 1.0)),
    ];
    pairs
        .into_iter()
        .filter_map(|(name, claimed, held)| {
            let claimed = claimed?;
            // Written without "<", so that NaN is also detected.
            let is_possible = claimed >= held * (1.0 - ROUNDING) - clock;
            (!is_possible).then(|| {
                format!("{name} {claimed} ms, and the server held its requests for {held} ms")
            })
        })
        .collect()
}

/// The server's log covers less time than the run, and the run covers less time than the process.
fn duration(reported: &Reported, wall: Duration, log: &Log) -> Vec<String> {
    let (shortest, longest) = (log.span().as_secs_f64(), wall.as_secs_f64());
    let mut lies = Vec::new();
    if let Some(claimed) = reported.duration
        && !(claimed >= shortest * (1.0 - ROUNDING) && claimed <= longest)
    {
        lies.push(format!(
            "duration {claimed} s; the server was busy for {shortest} s, the process ran {longest} s"
        ));
    }
    lies
}

/// The time in which the requests of a command start, in seconds. `None` if their number is fixed.
fn load(command: &Command, row: &Row) -> Option<f64> {
    match row.rate {
        Some(_) => Some(RATE_SECONDS as f64),
        None => (!command.is_closed).then_some(0.6),
    }
}

/// A rate is the number of requests that started during the load, divided by its duration. If a number of requests ends
/// the run, it is divided by the duration of the run. A schedule is exact.
fn rate(
    command: &Command,
    row: &Row,
    reported: &Reported,
    log: &Log,
    dropped: u64,
    wall: Duration,
) -> Vec<String> {
    let mut lies = Vec::new();
    let load = load(command, row);
    if let (Some(claimed), Some(load)) = (reported.load, load)
        && claimed != load
    {
        lies.push(format!("the load took {claimed} s instead of {load} s"));
    }
    if let (Some(rate), Some(requests)) = (reported.rate, reported.requests)
        && log.responses().next().is_some()
    {
        let (least, most) = match load {
            Some(load) => (requests as f64 / load, requests as f64 / load),
            None => {
                let shortest = log.span().as_secs_f64();
                (
                    requests as f64 / wall.as_secs_f64(),
                    (requests + 1) as f64 / shortest,
                )
            }
        };
        // The text output has one decimal.
        let rounding = if reported.source == "text" {
            0.05
        } else {
            1e-9
        };
        if !(rate >= least - rounding && rate <= most + rounding) {
            lies.push(format!(
                "rate {rate}/s, and it was between {least}/s and {most}/s"
            ));
        }
    }
    let Some(per_second) = row.rate else {
        return lies;
    };
    if let Some(requests) = reported.requests
        && requests + dropped != row.requests
    {
        lies.push(format!(
            "{requests} requests and {dropped} dropped, of {} scheduled",
            row.requests
        ));
    }
    // Iterations that start more than 100 ms late count in the second of their actual start.
    let is_in_time = reported.lag.is_some_and(|lag| lag <= 100.0) && dropped == 0;
    if let Some(seconds) = &reported.seconds
        && is_in_time
        && *seconds != vec![per_second as f64; RATE_SECONDS as usize]
    {
        lies.push(format!(
            "iterations by second: {seconds:?}, at {per_second}/s"
        ));
    }
    lies
}

/// Without any response, the run must be invalid. WebSocket sessions always have the response to the handshake.
fn verdict(command: &Command, reported: &Reported, log: &Log) -> Vec<String> {
    if log.responses().next().is_some() {
        return Vec::new();
    }
    let mut lies = Vec::new();
    let has_handshake = command.protocol == Protocol::WebSocket && !log.entries.is_empty();
    let expected = if has_handshake { "suspect" } else { "invalid" };
    // If the generator had no processor time, any run is invalid.
    let is_starved = has_handshake && reported.doubts_client;
    if let Some(verdict) = &reported.verdict
        && verdict != expected
        && !(is_starved && verdict == "invalid")
    {
        lies.push(format!(
            "the verdict is {verdict}, and there was no response"
        ));
    }
    if let Some(rate) = reported.rate {
        lies.push(format!("the rate is {rate}/s, and there was no response"));
    }
    lies
}

/// Checks the detector itself: it must detect a slight change of any figure.
#[test]
fn changed_figures_are_detected() {
    use plimsoll_testkit::logged_server::Entry;
    use std::collections::BTreeMap;

    let ms = Duration::from_millis;
    let log = Log {
        entries: (0..10)
            .map(|number| Entry {
                connection: 0,
                arrived: ms(20 * number),
                ended: ms(20 * number + 10),
                outcome: Outcome::Responded(200),
                received: 0,
                sent: 2,
            })
            .collect(),
        connections: 1,
        bytes_read: 500,
        bytes_written: 700,
        unsolicited: 0,
        messages_received: 7,
        messages_sent: 9,
    };
    let truth = || Reported {
        requests: Some(10),
        failed: Some(0),
        statuses: Some(BTreeMap::from([("200".to_owned(), 10)])),
        connections: Some(1),
        messages_sent: Some(7),
        messages_received: Some(9),
        bytes_sent: Some(500),
        bytes_received: Some(700),
        duration: Some(0.2),
        rate: Some(50.0),
        times: Some(Times {
            count: 10,
            min: 10.1,
            mean: 10.5,
            p50: Some(10.3),
            p90: Some(11.0),
            max: 12.0,
        }),
        verdict: Some("valid".to_owned()),
        ..Reported::default()
    };
    let command = &super::commands::COMMANDS[0];
    let row = &super::ROWS[0];
    let row = &Row {
        requests: 10,
        ..*row
    };
    let judge_of = |row: &Row, change: &dyn Fn(&mut Reported)| {
        let mut reported = truth();
        change(&mut reported);
        let run = Run {
            reported: vec![reported],
            wall: ms(300),
            ended: plimsoll_testkit::program::Ended {
                status: Some(0),
                stdout: String::new(),
                stderr: String::new(),
            },
        };
        lies(command, row, &run, &log).len()
    };
    let judge = |change: &dyn Fn(&mut Reported)| judge_of(row, change);
    assert_eq!(judge(&|_| {}), 0);
    let changes: [&dyn Fn(&mut Reported); 15] = [
        &|claimed| {
            claimed.resent = Some(1);
            // A message that is sent again counts only once.
            claimed.messages_sent = Some(6);
        },
        &|claimed| claimed.requests = Some(11),
        &|claimed| claimed.failed = Some(1),
        &|claimed| claimed.statuses = Some(BTreeMap::from([("200".to_owned(), 9)])),
        &|claimed| claimed.connections = Some(2),
        &|claimed| claimed.messages_sent = Some(6),
        &|claimed| claimed.messages_received = Some(10),
        &|claimed| claimed.bytes_sent = Some(499),
        &|claimed| claimed.bytes_received = Some(701),
        &|claimed| claimed.duration = Some(0.1),
        &|claimed| claimed.duration = Some(0.4),
        &|claimed| claimed.rate = Some(70.0),
        &|claimed| claimed.times = claimed.times.map(|times| Times { mean: 9.8, ..times }),
        &|claimed| {
            claimed.times = claimed.times.map(|times| Times {
                mean: 200.0,
                ..times
            })
        },
        &|claimed| {
            claimed.times = claimed.times.map(|times| Times {
                p50: Some(f64::NAN),
                ..times
            })
        },
    ];
    for (number, change) in changes.iter().enumerate() {
        assert_eq!(judge(change), 1, "change {number}");
    }
    // An open model at 5/s for 2 s.
    let open = Row {
        rate: Some(5),
        ..*row
    };
    let in_time = |claimed: &mut Reported| {
        (claimed.rate, claimed.load, claimed.lag) = (Some(5.0), Some(2.0), Some(1.0));
        claimed.seconds = Some(vec![5.0, 5.0]);
    };
    assert_eq!(judge_of(&open, &in_time), 0);
    let changes: [&dyn Fn(&mut Reported); 4] = [
        &|claimed| claimed.rate = Some(5.1),
        &|claimed| claimed.load = Some(2.1),
        &|claimed| claimed.seconds = Some(vec![4.0, 6.0]),
        &|claimed| claimed.dropped = 1,
    ];
    for (number, change) in changes.iter().enumerate() {
        let change = |claimed: &mut Reported| {
            in_time(claimed);
            change(claimed);
        };
        assert_eq!(judge_of(&open, &change), 1, "change {number} at a rate");
    }
}
