//! `plimsoll http`: text and JSON output, and misbehaving servers.

mod plimsoll;

use std::time::Duration;

use plimsoll::{plimsoll, snapshot};
use plimsoll_testkit::cases::suite::Server;
use plimsoll_testkit::figures::Filters;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::ports;
use plimsoll_testkit::program::{self, Ended};
use serde_json::Value;

/// The summary without the parts that depend on the machine or the time.
fn printed(ended: &Ended) -> String {
    assert_eq!(ended.stderr, "");
    let filters = Filters::figures()
        .after(r"verdict: .*(\n {9,}\S.*)*", "verdict: …")
        .after(r"connecting .*", "connecting …");
    // This row exists only if enough requests open a connection, which depends on the machine.
    let lines = ended.stdout.lines();
    let lines: Vec<&str> = lines
        .filter(|line| !line.trim_start().starts_with("total time"))
        .collect();
    format!(
        "{}\nexit status: {:?}\n",
        filters.apply(&(lines.join("\n") + "\n")),
        ended.status
    )
}

/// Parses the JSON object of `--json`.
fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn a_closed_run_reports_service_times() {
    let server = Peer::start(Play::ok("hello"));
    let ended = plimsoll(&["http", "-c", "2", "-n", "2000", &server.url()]).run();
    snapshot("http_closed", &printed(&ended));
    assert!(ended.stdout.contains(" 200  2000\n"), "{}", ended.stdout);
    assert_eq!((server.connections(), server.requests()), (2, 2000));
}

#[test]
fn an_open_run_reports_response_times() {
    let server = Peer::start(Play::ok("hello"));
    let ended = plimsoll(&[
        "http",
        "--rate",
        "300",
        "-d",
        "1s",
        "-c",
        "20",
        &server.url(),
    ])
    .run();
    snapshot("http_open", &printed(&ended));
}

#[test]
fn json_counts_what_happened() {
    let server = Peer::start(Play::ok("hello"));
    let ended = plimsoll(&["http", "--json", "-c", "3", "-n", "30", &server.url()]).run();
    let result = json(&ended);
    assert_eq!(ended.status, Some(0));
    assert_eq!(result["requests"], 30);
    assert_eq!(result["failed"], 0);
    assert_eq!(result["status_codes"], serde_json::json!({"200": 30}));
    assert_eq!(result["protocol"], "HTTP/1.1");
    assert_eq!(
        result["bytes_received"],
        30 * plimsoll_testkit::peers::ok_response("hello").len()
    );
    let times = &result["service_time"];
    let time = |name: &str| {
        times[name]
            .as_f64()
            .unwrap_or_else(|| panic!("no {name} in {times}"))
    };
    assert!(
        0.0 < time("min") && time("min") <= time("p50") && time("p50") <= time("max"),
        "{times}"
    );
    assert!(
        result["generator"]["cpu_seconds"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0)
    );
}

/// Fixed work opens its connections before its makespan begins, so no request has to connect.
#[test]
fn fixed_work_opens_connections_before_its_makespan() {
    let run = |flags: &[&str]| {
        let server = Peer::start(Play::ok("hello"));
        let work = ["http", "--json", "--users", "4", "--loops", "5"];
        let url = server.url();
        let ended = plimsoll(&[&work[..], flags, &[url.as_str()]].concat()).run();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let result = json(&ended);
        assert_eq!(server.requests(), 20);
        assert_eq!(result["connections_opened"], server.connections());
        assert_eq!(result["connect_time"]["count"], server.connections());
        let longest = |key: &str| result[key]["max"].as_f64().unwrap();
        // Only requests that open a connection take longer than their time on the wire.
        let connects = longest("total_time") - longest("service_time");
        (server.connections(), connects)
    };
    for flags in [&[][..], &["--connections", "kept"]] {
        let (connections, connects) = run(flags);
        assert_eq!(connections, 4);
        assert!(connects < 1e-3, "{connects} ms");
    }
    assert_eq!(run(&["--include-connecting"]).0, 4);
    assert_eq!(run(&["--connections", "fresh"]).0, 20);

    let server = Server::start().unwrap();
    let mut variables = server.addresses.variables.iter();
    let base = variables.find(|(name, _)| name == "BASE").unwrap();
    let url = format!("{}/get", base.1);
    let work = ["http", "--json", "--h2c", "--users", "4", "--loops", "5"];
    let shared = ["--connections", "shared", url.as_str()];
    let result = json(&plimsoll(&[&work[..], &shared].concat()).run());
    assert_eq!(
        (&result["calls"], &result["connections_opened"]),
        (&20.into(), &1.into())
    );
    for (flags, printed) in [
        (
            &["--users", "4", "--loops", "5", "--connections", "shared"][..],
            "needs HTTP/2",
        ),
        (
            &["--users", "4", "--loops", "5", "--connections", "3"],
            "cannot share 3 connections evenly",
        ),
        (&["--loops", "5"], "--users"),
        (
            &["--connections", "some"],
            "write a number, shared, kept or fresh",
        ),
    ] {
        let ended = plimsoll(&[&["http"], flags, &["http://127.0.0.1:9/"]].concat()).run();
        assert_eq!(ended.status, Some(104), "{ended:?}");
        assert!(ended.stderr.contains(printed), "{printed}: {ended:?}");
    }
}

#[test]
fn fixed_work_is_completed_and_its_payload_reported() {
    let server = Peer::start(Play::ok("hello"));
    let work = ["http", "--users", "4", "--loops", "5", &server.url()];
    let ended = plimsoll(&[&work[..], &["--json"]].concat()).run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let result = json(&ended);
    assert_eq!((server.connections(), server.requests()), (4, 20));
    for (key, wanted) in [
        ("workers", 4),
        ("loops", 5),
        ("calls", 20),
        ("failed_calls", 0),
    ] {
        assert_eq!(result[key], wanted, "{key}");
    }
    assert_eq!(result["payload_bytes"], 20 * 5);
    assert_eq!(result["payload_bytes_received"], 20 * 5);
    let number = |key: &str| result[key].as_f64().unwrap_or(f64::NAN);
    let megabytes = 100.0 / 1e6 / number("makespan_seconds");
    assert!((number("megabytes_per_second") / megabytes - 1.0).abs() < 1e-9);
    assert!((number("megabits_per_second") / megabytes / 8.0 - 1.0).abs() < 1e-9);

    let text = plimsoll(&work).run().stdout;
    for part in [
        "20 calls (4 users × 5)",
        "makespan",
        " MB/s = ",
        " Mbit/s: ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn failed_calls_do_not_count_as_throughput() {
    let server = Peer::start(Play::truncated_body());
    let ended = plimsoll(&[
        "http",
        "--json",
        "--users",
        "2",
        "--loops",
        "3",
        &server.url(),
    ])
    .run();
    assert_eq!(ended.status, Some(1), "{ended:?}");
    let result = json(&ended);
    assert_eq!(result["calls"], 6);
    assert_eq!(result["failed_calls"], 6);
    assert_eq!(result["payload_bytes"], 0);
    assert_eq!(result["megabytes_per_second"], 0.0);
}

#[test]
fn the_requested_parameters_are_sent() {
    let server = Peer::start(Play::ok(""));
    let ended = plimsoll(&[
        "http",
        "--json",
        "-c",
        "1",
        "-n",
        "4",
        "--no-keepalive",
        &server.url(),
    ])
    .run();
    assert_eq!(json(&ended)["requests"], 4);
    assert_eq!(server.connections(), 4, "connections were reused");
}

/// A kind of misbehavior, and the word for it in the result.
fn misbehaving() -> Vec<(&'static str, Play, &'static str)> {
    vec![
        ("garbage", Play::garbage(), "malformed HTTP"),
        ("half a response", Play::truncated_body(), "unexpected EOF"),
        ("a reset", Play::reset(), "reset by peer"),
        ("closed at once", Play::CloseImmediately, "EOF"),
        ("endless headers", Play::endless_headers(), "header"),
        ("a stall", Play::stall(), "timeout"),
        (
            "a stall in the body",
            Play::RespondAndStall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal".to_vec()),
            "timeout",
        ),
    ]
}

#[test]
fn a_timeout_of_zero_means_none() {
    let server = Peer::start(Play::ok("hello"));
    let ended = plimsoll(&[
        "http",
        "--json",
        "--timeout",
        "0s",
        "-n",
        "4",
        &server.url(),
    ])
    .run();
    let result = json(&ended);
    assert_eq!(ended.status, Some(0), "{result}");
    assert_eq!(
        (&result["requests"], &result["failed"]),
        (&4.into(), &0.into()),
        "{result}"
    );
}

#[test]
fn servers_that_misbehave_are_named_and_counted() {
    for (what, play, word) in misbehaving() {
        let server = Peer::start(play);
        let ended = plimsoll(&[
            "http",
            "--json",
            "-c",
            "2",
            "-n",
            "6",
            "--timeout",
            "300ms",
            &server.url(),
        ])
        .run();
        let result = json(&ended);
        assert_eq!(ended.status, Some(1), "{what}");
        assert_eq!(result["requests"], 6, "{what}: {result}");
        assert_eq!(result["failed"], 6, "{what}: {result}");
        assert_eq!(
            result["service_time"],
            Value::Null,
            "{what}: failures must not count as service"
        );
        assert!(
            result["errors"].to_string().contains(word),
            "{what}: {}",
            result["errors"]
        );
        // Memory is bounded in all cases.
        assert!(
            result["generator"]["peak_rss_bytes"]
                .as_u64()
                .is_some_and(|bytes| bytes < 200 << 20),
            "{what}: {result}"
        );
    }
}

#[test]
fn unreachable_places_are_named() {
    let closed = format!("http://{}/", ports::closed());
    for (url, word) in [
        (closed.as_str(), "refused"),
        ("http://no-such-host.invalid/", "no such host"),
    ] {
        let ended = plimsoll(&["http", "--json", "-c", "1", "-n", "2", url]).run();
        assert_eq!(ended.status, Some(1), "{url}");
        let result = json(&ended);
        assert_eq!(result["failed"], 2);
        assert!(
            result["errors"].to_string().contains(word),
            "{url}: {}",
            result["errors"]
        );
    }
}

#[test]
fn a_huge_body_does_not_use_memory() {
    const HUGE: u64 = 512 << 20;
    let server = Peer::start(Play::huge_body(HUGE));
    let ended = plimsoll(&["http", "--json", "-c", "1", "-n", "1", &server.url()]).run();
    let result = json(&ended);
    assert_eq!(
        (ended.status, &result["failed"]),
        (Some(0), &Value::from(0)),
        "{result}"
    );
    assert!(
        result["bytes_received"]
            .as_u64()
            .is_some_and(|bytes| bytes > HUGE),
        "{result}"
    );
    assert!(
        result["generator"]["peak_rss_bytes"]
            .as_u64()
            .is_some_and(|bytes| bytes < 100 << 20),
        "{result}"
    );
}

#[test]
fn an_interrupt_ends_the_run_with_its_summary() {
    let server = Peer::start(Play::ok("hello"));
    let running = plimsoll(&["http", "--json", "-c", "1", "-d", "60s", &server.url()]).start();
    while server.requests() < 10 {
        std::thread::sleep(Duration::from_millis(1));
    }
    running.signal(program::Signal::INT);
    let ended = running.wait();
    assert_eq!(ended.status, Some(105));
    let requests = json(&ended)["requests"].as_u64();
    // The signal may have interrupted the tenth request.
    assert!(
        requests.is_some_and(|requests| requests >= 9),
        "{requests:?}"
    );
}

#[test]
fn tls_certificates_are_verified_and_presented() {
    let server = Server::start().unwrap();
    let url = |listener: &str| {
        let mut variables = server.addresses.variables.iter();
        let (_, url) = variables.find(|(name, _)| name == listener).unwrap();
        format!("{url}/get")
    };
    let file = |name: &str| format!("{}/{name}", server.addresses.certificates);
    let load = |listener: &str, flags: &[&str]| {
        let ended = plimsoll(&["http", "--json", "-c", "1", "-n", "3"])
            .args(flags)
            .arg(url(listener))
            .run();
        json(&ended)
    };

    let distrusted = load("TLS", &[]);
    assert_eq!(distrusted["failed"], 3);
    assert!(
        distrusted["errors"].to_string().contains("x509"),
        "{distrusted}"
    );

    let trusted = load("TLS", &["--insecure"]);
    assert_eq!(
        (&trusted["failed"], &trusted["protocol"]),
        (&Value::from(0), &Value::from("HTTP/2.0"))
    );
    assert_eq!(load("TLS", &["--insecure", "--h1"])["protocol"], "HTTP/1.1");

    assert_eq!(load("TLS_MUTUAL", &["--insecure"])["failed"], 3);
    let (certificate, key) = (file("client.pem"), file("client-key.pem"));
    let shown = load(
        "TLS_MUTUAL",
        &["--insecure", "--cert", &certificate, "--key", &key],
    );
    assert_eq!(shown["failed"], 0, "{shown}");

    let others = tempfile::tempdir().unwrap();
    let made = plimsoll(&["certs"]).arg(others.path()).run();
    assert_eq!(made.status, Some(0), "{made:?}");
    let ended = plimsoll(&["http", "--cert", &certificate, "--key"])
        .arg(others.path().join("client.key"))
        .arg(url("TLS"))
        .run();
    assert_eq!(
        ended.status,
        Some(104),
        "a certificate with the key of another"
    );
}

/// The address in the variable, and the flags for the certificates of the test server.
fn mutual_tls(server: &Server) -> (String, [String; 6]) {
    let mut variables = server.addresses.variables.iter();
    let (_, address) = variables.find(|(name, _)| name == "TLS_MUTUAL").unwrap();
    let file = |name: &str| format!("{}/{name}", server.addresses.certificates);
    let flags = [
        "--ca".to_owned(),
        file("ca.pem"),
        "--cert".to_owned(),
        file("client.pem"),
        "--key".to_owned(),
        file("client-key.pem"),
    ];
    (address.clone(), flags)
}

#[test]
fn tls_flags_have_the_same_meaning_in_every_command() {
    let server = Server::start().unwrap();
    let (address, certificates) = mutual_tls(&server);
    let url = format!("{address}/get");
    let host = address.trim_start_matches("https://");
    let script = format!(
        "import http from 'k6/http'; \
         export default function () {{ if (http.get('{url}').status !== 200) throw new Error('x'); }}"
    );
    let target = format!("GET {url}\n");
    let commands: [(&[&str], &str); 4] = [
        (&["http", "-n", "2", "-c", "1", &url], ""),
        (&["run", "--quiet", "-i", "1", "-"], &script),
        (&["attack", "-duration=100ms", "--json"], &target),
        (&["probe", "-n", "1", host], ""),
    ];
    for (command, input) in commands {
        let run = |flags: &[&str]| {
            let (name, rest) = command.split_first().unwrap();
            let flags = [&[*name], flags, rest].concat();
            plimsoll(&flags).input(input).run()
        };
        let certificates: Vec<&str> = certificates.iter().map(String::as_str).collect();
        let ended = run(&certificates);
        assert_eq!(ended.status, Some(0), "{command:?}: {ended:?}");
        let insecure = run(&[&["-k"], &certificates[2..]].concat());
        assert_eq!(insecure.status, Some(0), "{command:?}: {insecure:?}");
        let distrusted = run(&certificates[2..]);
        let text = format!("{}{}", distrusted.stdout, distrusted.stderr);
        assert!(
            text.contains("x509") || text.contains("certificate"),
            "{command:?}: {text}"
        );
    }
}

#[test]
fn users_share_connections() {
    let server = Server::start().unwrap();
    let mut variables = server.addresses.variables.iter();
    let base = variables.find(|(name, _)| name == "BASE").unwrap();
    let url = format!("{}/get", base.1);
    for (flags, connections) in [
        (&["-u", "8", "-c", "2"][..], 2),
        (&["-c", "2", "--streams", "4"], 2),
        (&["-u", "8", "-c", "shared"], 1),
        (&["-u", "3"], 3),
    ] {
        let load = ["http", "--json", "--h2c", "-n", "64", &url];
        let result = json(&plimsoll(&[&load[..], flags].concat()).run());
        assert_eq!(result["failed"], 0, "{flags:?}: {result}");
        assert_eq!(
            result["connections_opened"], connections,
            "{flags:?}: {result}"
        );
    }
}
