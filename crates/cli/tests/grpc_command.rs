//! Tests of `plimsoll grpc`.

mod plimsoll;

use std::path::PathBuf;

use plimsoll::{plimsoll, snapshot};
use plimsoll_testkit::cases::suite::Server;
use plimsoll_testkit::figures::Filters;
use plimsoll_testkit::ports;
use plimsoll_testkit::program::Ended;
use serde_json::{Value, json};

/// The test server of the crate `testkit`, and its address.
fn server() -> (Server, String) {
    let server = Server::start().unwrap();
    let mut variables = server.addresses.variables.iter();
    let base = variables.find(|(name, _)| name == "BASE").unwrap();
    let address = base.1.trim_start_matches("http://").to_owned();
    (server, address)
}

fn call(address: &str, method: &str, flags: &[&str]) -> Ended {
    let mut arguments = vec!["grpc", "--plaintext", "--threads", "1"];
    arguments.extend(flags);
    let method = format!("cases.Cases/{method}");
    arguments.extend([address, &method]);
    plimsoll(&arguments).run()
}

/// Parses the JSON object of `--json`.
fn result(address: &str, method: &str, flags: &[&str]) -> Value {
    let mut all = vec!["--json"];
    all.extend(flags);
    let ended = call(address, method, &all);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn a_server_with_reflection_needs_no_schema_file() {
    let (_server, address) = server();
    let printed = result(
        &address,
        "EchoWord",
        &[
            "-c",
            "3",
            "-n",
            "60",
            "--data",
            "{\"text\":\"{{.RequestNumber}}\"}",
        ],
    );
    assert_eq!(printed["schema"], "plimsoll/grpc-result/1");
    assert_eq!(
        (&printed["requests"], &printed["failed"]),
        (&json!(60), &json!(0))
    );
    assert_eq!(printed["status_codes"], json!({"OK": 60}));
    assert_eq!(printed["connections_opened"], 3);
    assert_eq!(printed["connect_time"]["count"], 3);
    assert_eq!(printed["messages_sent"], Value::Null);
    assert_eq!(printed["service_time"]["count"], 60);
}

#[test]
fn connections_are_per_user_shared_or_per_request() {
    let (_server, address) = server();
    let opened = |flags: &[&str]| {
        let mut all = vec!["-u", "4", "-n", "40"];
        all.extend(flags);
        let printed = result(&address, "EchoWord", &all);
        assert_eq!(printed["status_codes"], json!({"OK": 40}), "{flags:?}");
        printed["connections_opened"].as_u64().unwrap()
    };
    assert_eq!(opened(&[]), 4);
    assert_eq!(opened(&["--connections", "1"]), 1);
    assert_eq!(opened(&["--connections", "2"]), 2);
    assert_eq!(opened(&["--no-keepalive"]), 40);
    assert_eq!(opened(&["--connections", "fresh"]), 40);
}

/// Fixed work opens its connections before its makespan begins, so no call has to connect.
#[test]
fn fixed_work_opens_connections_before_its_makespan() {
    let (_server, address) = server();
    let printed = |flags: &[&str]| {
        let mut all = vec!["--users", "4", "--loops", "10", "--connections"];
        all.extend(flags);
        let printed = result(&address, "EchoWord", &all);
        assert_eq!(printed["status_codes"], json!({"OK": 40}), "{flags:?}");
        // A call that opens a connection takes longer than its time on the wire.
        let waits = |key: &str| printed[key]["max"].as_f64().unwrap();
        let connects = waits("total_time") - waits("service_time");
        (printed["connections_opened"].as_u64().unwrap(), connects)
    };
    let (opened, connects) = printed(&["kept"]);
    assert_eq!(opened, 4);
    assert!(connects < 1e-3, "{connects} ms");
    let (opened, connects) = printed(&["shared"]);
    assert_eq!(opened, 1);
    assert!(connects < 1e-3, "{connects} ms");
    assert_eq!(printed(&["kept", "--include-connecting"]).0, 4);
    assert_eq!(printed(&["fresh"]).0, 40);
}

#[test]
fn statuses_are_counted_by_name() {
    let (_server, address) = server();
    let data = "[{\"code\":5,\"message\":\"not here\"},{\"code\":14},{\"code\":42}]";
    let printed = result(&address, "Fail", &["-c", "1", "-n", "6", "--data", data]);
    assert_eq!(
        printed["status_codes"],
        json!({"NotFound": 2, "Unavailable": 2, "Code(42)": 2})
    );
    assert_eq!(printed["failed"], 6);
    let errors = printed["errors"].as_array().unwrap();
    assert!(
        errors
            .iter()
            .any(|error| error["text"] == "NotFound: not here" && error["code"] == 5),
        "{errors:?}"
    );
}

#[test]
fn each_call_is_a_sample_of_an_output() {
    let (_server, address) = server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.json");
    let output = format!("json={}", file.display());
    let data = "[{\"code\":14},{\"code\":5}]";
    let flags = ["-c", "1", "-n", "6", "--data", data, "--out", &output];
    let printed = result(&address, "Fail", &flags);
    assert_eq!(printed["requests"], 6);
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let calls: Vec<Value> = lines
        .filter(|line: &Value| line["type"] == "Point" && line["metric"] == "grpc_req_duration")
        .collect();
    assert_eq!(calls.len(), 6);
    for call in &calls {
        let tags = &call["data"]["tags"];
        assert_eq!(tags["service"], "cases.Cases", "{call}");
        assert_eq!(tags["method"], "Fail", "{call}");
        assert_eq!(tags["name"], "/cases.Cases/Fail", "{call}");
    }
    let failed = calls.iter();
    let failed = failed.filter(|call| call["data"]["tags"]["status"] == "5");
    assert_eq!(failed.count(), 3);
    assert!(!text.contains("\"http_reqs\""), "{text}");
}

#[test]
fn streams_of_all_kinds_are_counted_in_messages() {
    let (_server, address) = server();
    let printed = |method: &str, flags: &[&str]| {
        let mut all = vec!["-c", "2", "-n", "10"];
        all.extend(flags);
        let printed = result(&address, method, &all);
        assert_eq!(
            printed["status_codes"],
            json!({"OK": 10}),
            "{method}: {printed}"
        );
        (
            printed["messages_sent"].clone(),
            printed["messages_received"].clone(),
        )
    };
    let five = "{\"value\":5}";
    assert_eq!(printed("Count", &["--data", five]), (json!(10), json!(50)));
    let three = ["--data", "{\"value\":1000000}", "--stream-call-count", "3"];
    assert_eq!(printed("Count", &three), (json!(10), json!(30)));
    let two = "[{\"value\":1},{\"value\":2}]";
    assert_eq!(printed("Sum", &["--data", two]), (json!(20), json!(10)));
    let words = ["--data", "{\"text\":\"a\"}", "--stream-call-count", "4"];
    assert_eq!(printed("Chat", &words), (json!(40), json!(40)));
    let times = [
        "--data",
        "{\"value\":100000000}",
        "--stream-call-duration",
        "20ms",
    ];
    let (sent, received) = printed("Count", &times);
    assert_eq!(sent, 10);
    assert!(received.as_u64().unwrap() >= 10, "{received}");
}

#[test]
fn fixed_work_is_completed_and_its_payload_reported() {
    let (_server, address) = server();
    // A Word with a string of five letters has seven bytes.
    let flags = [
        "--users",
        "4",
        "--loops",
        "5",
        "--data",
        "{\"text\":\"hello\"}",
    ];
    let printed = result(&address, "EchoWord", &flags);
    for (key, wanted) in [
        ("workers", 4),
        ("loops", 5),
        ("calls", 20),
        ("failed_calls", 0),
        ("payload_bytes", 2 * 20 * 7),
        ("payload_bytes_sent", 20 * 7),
        ("payload_bytes_received", 20 * 7),
    ] {
        assert_eq!(printed[key], wanted, "{key}: {printed}");
    }
    let number = |key: &str| printed[key].as_f64().unwrap_or(f64::NAN);
    let megabytes = 280.0 / 1e6 / number("makespan_seconds");
    assert!((number("megabytes_per_second") / megabytes - 1.0).abs() < 1e-9);
    assert!((number("megabits_per_second") / megabytes / 8.0 - 1.0).abs() < 1e-9);

    let failing = ["--users", "2", "--loops", "3", "--data", "{\"code\":5}"];
    let printed = result(&address, "Fail", &failing);
    assert_eq!(
        (&printed["failed_calls"], &printed["payload_bytes"]),
        (&json!(6), &json!(0))
    );
    let streams = ["--users", "1", "--loops", "2", "--data", "{\"value\":3}"];
    let printed = result(&address, "Count", &streams);
    assert_eq!(printed["payload_bytes_received"], 2 * 3 * 2);

    let text = call(&address, "EchoWord", &flags).stdout;
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
fn compressed_messages_are_sent_and_received() {
    let (_server, address) = server();
    let data = format!("{{\"text\":\"{}\"}}", "x".repeat(100_000));
    let bytes = |flags: &[&str]| {
        let mut all = vec!["-c", "1", "-n", "3", "--data", data.as_str()];
        all.extend(flags);
        let printed = result(&address, "EchoWord", &all);
        assert_eq!(printed["status_codes"], json!({"OK": 3}), "{flags:?}");
        let number = |key: &str| printed[key].as_u64().unwrap();
        (number("bytes_sent"), number("bytes_received"))
    };
    let (sent, received) = bytes(&[]);
    assert!(sent > 300_000 && received > 300_000, "{sent} {received}");
    let (sent, received) = bytes(&["--gzip"]);
    assert!(sent < 30_000 && received < 30_000, "{sent} {received}");
}

#[test]
fn a_client_certificate_is_sent_if_requested() {
    let server = Server::start().unwrap();
    let mut variables = server.addresses.variables.iter();
    let (_, address) = variables.find(|(name, _)| name == "TLS_MUTUAL").unwrap();
    let address = address.trim_start_matches("https://");
    let folder = PathBuf::from(&server.addresses.certificates);
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (authority, cert, key) = (path("ca.pem"), path("client.pem"), path("client-key.pem"));
    let ask = |flags: &[&str]| {
        let mut all = vec!["grpc", "--threads", "1", "--json", "-c", "2", "-n", "6"];
        all.extend(flags);
        all.extend([address, "cases.Cases/EchoWord"]);
        plimsoll(&all).run()
    };
    let ended = ask(&["--ca", &authority, "--cert", &cert, "--key", &key]);
    let printed: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    assert_eq!(printed["status_codes"], json!({"OK": 6}));
    assert_eq!(printed["connections_opened"], 2);
    // In TLS 1.3, the server rejects the client only after the client's handshake is complete. The failed write may
    // hide the alert, so only the failure is certain.
    for (flags, part) in [
        (
            vec!["--cacert", authority.as_str()],
            "did not describe its services",
        ),
        (
            vec!["--cert", cert.as_str(), "--key", key.as_str()],
            "certificate",
        ),
    ] {
        let ended = ask(&flags);
        assert_eq!(ended.status, Some(104), "{ended:?}");
        assert!(ended.stderr.contains(part), "{flags:?}: {ended:?}");
    }
}

#[test]
fn connect_times_are_reported_if_each_call_connects() {
    let (_server, address) = server();
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("run.jsonl");
    let flags = [
        "-c",
        "2",
        "-n",
        "20",
        "--fresh",
        "--record",
        record.to_str().unwrap(),
    ];
    let ended = call(&address, "EchoWord", &flags);
    for part in ["20 opened", "  connecting ", "  total time "] {
        assert!(ended.stdout.contains(part), "{part}: {ended:?}");
    }
    let lines = std::fs::read_to_string(record).unwrap();
    let end: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    for trend in ["connection_time", "http_req_total", "http_req_duration"] {
        assert!(end["trends"][trend].is_object(), "{trend}: {end}");
    }
}

#[test]
fn a_deadline_ends_a_call() {
    let (_server, address) = server();
    let flags = [
        "-c",
        "1",
        "-n",
        "2",
        "-t",
        "20ms",
        "--data",
        "{\"value\":20000}",
    ];
    let printed = result(&address, "Wait", &flags);
    assert_eq!(printed["status_codes"], json!({"DeadlineExceeded": 2}));
}

#[test]
fn files_can_describe_services() {
    let (_server, address) = server();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testkit/src/case_server");
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (proto, set) = (path("cases.proto"), path("cases.protoset"));
    let imports = folder.to_string_lossy().into_owned();
    for flags in [
        vec!["--proto", proto.as_str()],
        vec!["--proto", "cases.proto", "-i", imports.as_str()],
        vec!["--protoset", set.as_str()],
    ] {
        let mut all = flags.clone();
        all.extend(["-c", "1", "-n", "3"]);
        let printed = result(&address, "EchoKnown", &all);
        assert_eq!(printed["status_codes"], json!({"OK": 3}), "{flags:?}");
    }
}

#[test]
fn a_closed_run_reports_service_times() {
    let (_server, address) = server();
    let ended = call(&address, "EchoWord", &["-c", "2", "-n", "2000"]);
    let filters = Filters::figures()
        .after(r"verdict: .*(\n {9,}\S.*)*", "verdict: …")
        .after(&regex_escaped(&address), "ADDRESS");
    let text = filters.apply(&ended.stdout);
    snapshot(
        "grpc_closed",
        &format!("{text}\nexit status: {:?}\n", ended.status),
    );
}

#[test]
fn an_open_run_reports_response_times() {
    let (_server, address) = server();
    let printed = result(
        &address,
        "EchoWord",
        &["--rps", "100", "-d", "1s", "-u", "5"],
    );
    assert!(
        printed["response_time"]["count"].as_u64().unwrap() > 0,
        "{printed}"
    );
    assert!(
        printed["send_lag"]["count"].as_u64().unwrap() > 0,
        "{printed}"
    );
}

fn regex_escaped(text: &str) -> String {
    text.replace('.', "\\.")
}

#[test]
fn mistakes_are_reported_with_a_fix() {
    let (_server, address) = server();
    let nobody = ports::closed().to_string();
    let printed = |method: &str, flags: &[&str]| {
        let ended = call(&address, method, flags);
        assert_eq!(ended.status, Some(104), "{ended:?}");
        assert_eq!(ended.stdout, "");
        ended.stderr
    };
    assert!(printed("EchoWort", &[]).contains("did you mean cases.Cases/EchoWord"));
    assert!(printed("EchoWord", &["--data", "{\"txt\":1}"]).contains("cases.Word"));
    assert!(printed("EchoWord", &["--data", "{{nothing}}"]).contains("is not a known placeholder"));
    assert!(printed("EchoWord", &["-m", "no colon"]).contains("NAME: VALUE"));
    assert!(printed("EchoWord", &["--proto", "/no/such.proto"]).contains("such.proto"));
    assert!(printed("EchoWord", &["-d", "0s"]).contains("--duration"));
    let ended = call(&nobody, "EchoWord", &[]);
    assert_eq!(ended.status, Some(104));
    assert!(ended.stderr.contains("connection refused"), "{ended:?}");
}

#[test]
fn a_search_works_with_grpc_calls() {
    let (_server, address) = server();
    let ended = plimsoll(&[
        "find",
        "--json",
        "--objective",
        "p50<60s",
        "--start",
        "20",
        "--most",
        "20",
        "--trial",
        "1s",
        "--soak",
        "1s",
        "--",
        "grpc",
        "--plaintext",
        &address,
        "cases.Cases/EchoWord",
    ])
    .run();
    let printed: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    let trials = printed["trials"].as_array().unwrap();
    assert!(!trials.is_empty(), "{printed}");
    assert!(
        trials
            .iter()
            .all(|trial| trial["metric"] == "http_req_response_time"),
        "{printed}"
    );
}
