//! `plimsoll run`: summaries, signals, streams and misbehaving servers. `cases.rs` compares scripts with k6.

mod plimsoll;

use std::fs;
use std::time::Duration;

use plimsoll::{plimsoll, snapshot};
use plimsoll_testkit::figures::Filters;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::ports;
use plimsoll_testkit::program::{Program, Signal};
use serde_json::{Value, json};

/// Runs `script` from stdin with the variable `url`.
fn run(script: &str, url: &str, flags: &[&str]) -> Program {
    plimsoll(&["run", "--quiet"])
        .args(["-e", &format!("URL={url}")])
        .args(flags)
        .arg("-")
        .input(script)
}

const EVERYTHING: &str = "
    import http from 'k6/http';
    import { check, group } from 'k6';
    import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
    const [count, level, share, time] =
        [new Counter('own_count'), new Gauge('own_level'), new Rate('own_share'), new Trend('own_time', true)];
    export const options = {
        scenarios: {
            one: { executor: 'shared-iterations', vus: 1, iterations: 20 },
            other: { executor: 'per-vu-iterations', vus: 2, iterations: 5, exec: 'other' },
        },
        thresholds: {
            http_req_failed: ['rate<0.5'],
            'http_req_duration{scenario:one}': ['p(90)<9000', 'max<0.000001'],
        },
    };
    export default function () {
        group('outer', () => {
            check(http.get(__ENV.URL), { 'it came': (r) => r.status === 200, 'it is long': (r) => r.body.length > 99 });
            group('inner', () => check(1, { 'one is one': (n) => n === 1 }));
        });
        count.add(1); level.add(2); share.add(true); time.add(3);
    }
    export function other() { http.get(__ENV.URL, { tags: { name: 'other' } }); }
";

#[test]
fn each_summary_has_its_layout() {
    let server = Peer::start(Play::ok("hello"));
    for mode in ["compact", "full", "legacy"] {
        let ended = run(EVERYTHING, &server.url(), &["--summary-mode", mode]).run();
        assert_eq!(ended.status, Some(99), "{}", ended.stderr);
        assert!(
            !ended.stdout.contains('\x1b'),
            "colors are only for terminals"
        );
        // The verdict depends on the machine.
        let filters = Filters::figures().after(r"verdict: .*(\n {9,}\S.*)*", "verdict: …");
        snapshot(&format!("summary_{mode}"), &filters.apply(&ended.stdout));
    }
}

#[test]
fn results_are_written_to_the_given_files() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "--summary-export",
        "summary.json",
        "--out",
        "json=samples.json",
        "--out",
        "csv=samples.csv",
    ];
    let ended = run(EVERYTHING, &server.url(), &flags)
        .inside(folder.path())
        .run();
    assert_eq!(ended.status, Some(99), "{}", ended.stderr);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(summary["metrics"]["http_reqs"]["count"], 30);
    assert_eq!(summary["metrics"]["own_count"]["count"], 20);
    let requests = |text: &str, mark: &str| text.lines().filter(|line| line.contains(mark)).count();
    assert_eq!(
        requests(&read("samples.json"), r#""type":"Point","#),
        requests(&read("samples.csv"), ",") - 1
    );
    for line in read("samples.json").lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn misbehaving_servers_are_reported_to_the_script() {
    let script = "
        import http from 'k6/http';
        export default function () {
            const r = http.get(__ENV.URL, { timeout: '300ms' });
            console.log(JSON.stringify([r.status, r.error_code, r.error]));
        }";
    let printed = |url: &str| {
        let ended = run(script, url, &["--log-format", "raw", "--no-summary"]).run();
        assert_eq!(
            ended.status,
            Some(0),
            "a failed request does not fail the run"
        );
        Filters::none()
            .with(r"127\.0\.0\.1:\d+", "<address>")
            .apply(&ended.stderr)
    };
    let mut all = String::new();
    for (what, play) in [
        ("garbage", Play::garbage()),
        ("half a response", Play::truncated_body()),
        ("a reset", Play::reset()),
        ("closed at once", Play::CloseImmediately),
        ("endless headers", Play::endless_headers()),
        ("a stall", Play::stall()),
    ] {
        let server = Peer::start(play);
        all += &format!("# {what}\n{}\n", printed(&server.url()));
    }
    all += &format!(
        "# nobody listens\n{}\n",
        printed(&format!("http://{}", ports::closed()))
    );
    all += &format!(
        "# no such name\n{}\n",
        printed("http://no-such-host.invalid")
    );
    all += &format!("# no URL\n{}\n", printed("http://"));
    snapshot("misbehaving_servers", &all);
}

/// Iterations that last for `pause`, and log when they end.
fn patient(pause: &str) -> String {
    format!(
        "import http from 'k6/http';
         import {{ sleep }} from 'k6';
         export const options = {{ vus: 2, duration: '60s', gracefulStop: '30s' }};
         export default function () {{ http.get(__ENV.URL); sleep({pause}); }}
         export function teardown() {{ console.log('torn down'); }}"
    )
}

fn wait_for_requests(server: &Peer, count: usize) {
    while server.requests() < count {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn one_interrupt_stops_with_a_summary() {
    let server = Peer::start(Play::ok("hello"));
    let running = run(&patient("0.05"), &server.url(), &[]).start();
    wait_for_requests(&server, 4);
    running.signal(Signal::INT);
    let ended = running.wait();
    assert_eq!(ended.status, Some(105), "{}", ended.stderr);
    assert!(ended.stdout.contains("http_reqs"), "{}", ended.stdout);
    assert!(ended.stderr.contains("torn down"), "{}", ended.stderr);
}

#[test]
fn two_interrupts_stop_immediately() {
    let server = Peer::start(Play::ok("hello"));
    let running = run(&patient("50"), &server.url(), &[])
        .limit(Duration::from_secs(20))
        .start();
    wait_for_requests(&server, 2);
    running.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    running.signal(Signal::INT);
    assert_eq!(running.wait().status, Some(105));
}

#[test]
fn a_run_whose_setup_fails_is_not_valid() {
    let script = "
        export const options = { vus: 2, iterations: 4 };
        export function setup() { throw new Error('no database'); }
        export default function () {}
    ";
    let ended = run(script, "", &[]).run();
    assert_eq!(ended.status, Some(107), "{}", ended.stderr);
    let verdict = "invalid — client: nothing was measured: no iteration started";
    assert!(ended.stdout.contains(verdict), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("0 of 4 iterations"),
        "{}",
        ended.stdout
    );
}

#[test]
fn an_endless_loop_is_ended() {
    let script = "
        export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
        export default function () { for (;;) {} }";
    let ended = run(script, "", &[]).limit(Duration::from_secs(30)).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
}

#[test]
fn a_new_script_can_be_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let made = plimsoll(&["new", "mine.js"]).inside(folder.path()).run();
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let again = plimsoll(&["new", "mine.js"]).inside(folder.path()).run();
    assert_ne!(again.status, Some(0), "it was overwritten");
    let inspected = plimsoll(&["inspect", "mine.js"])
        .inside(folder.path())
        .run();
    assert_eq!(inspected.status, Some(0), "{}", inspected.stderr);
    let options: Value = serde_json::from_str(&inspected.stdout).unwrap();
    assert!(options.get("scenarios").is_some(), "{options}");
}

#[test]
fn inspect_merges_tags_if_the_feature_is_enabled() {
    let script =
        "export const options = { tags: { a: '1', b: '1' } }; export default function () {}";
    for (feature, expected) in [
        ("merge-run-tags", json!({ "a": "1", "b": "2" })),
        ("freeze-env", json!({ "b": "2" })),
    ] {
        let ended = plimsoll(&["inspect", "--tag=b=2", "--features", feature, "-"])
            .input(script)
            .run();
        let options: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(options["tags"], expected, "{}", ended.stderr);
    }
}

#[test]
fn scripts_cannot_change_their_environment_if_the_feature_is_enabled() {
    let script = "export default function () {
        const attempt = (change) => { try { change(); return 'changed'; } catch (e) { return e.name; } };
        const results = [
            attempt(() => { __ENV.A = 'new'; }), attempt(() => { delete __ENV.A; }), attempt(() => { __ENV.B = 'b'; }),
        ];
        console.log(...results, __ENV.A, __ENV.B);
    }";
    for (flags, expected) in [
        (&["-e", "A=old"][..], "changed changed changed undefined b"),
        (
            &["-e", "A=old", "--features", "freeze-env"],
            "TypeError TypeError TypeError old undefined",
        ),
    ] {
        let ended = run(script, "", flags).run();
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
}

#[test]
fn the_version_and_the_features_are_printed_as_json() {
    let printed = |arguments: &[&str]| -> Value {
        let ended = plimsoll(arguments).run();
        serde_json::from_str(&ended.stdout).unwrap()
    };
    let version = printed(&["version", "--json"]);
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    let features = printed(&["features", "--json"]);
    let names = features.as_array().unwrap().iter();
    let names: Vec<&Value> = names.map(|feature| &feature["name"]).collect();
    for name in ["native-histograms", "merge-run-tags", "freeze-env"] {
        assert!(names.contains(&&json!(name)), "{name}: {features}");
        let text = plimsoll(&["features"]).run().stdout;
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn every_command_has_help() {
    for command in [
        "run",
        "http",
        "inspect",
        "archive",
        "new",
        "version",
        "completion",
    ] {
        let ended = plimsoll(&[command, "--help"]).run();
        assert_eq!(ended.status, Some(0), "{command}");
        assert_eq!(ended.stderr, "", "{command}");
        assert!(
            ended.stdout.contains(&format!("Usage: plimsoll {command}")),
            "{}",
            ended.stdout
        );
    }
    snapshot("help", &plimsoll(&["--help"]).run().stdout);
    let version = plimsoll(&["version"]).run().stdout;
    assert!(
        version.starts_with(&format!("plimsoll v{}", env!("CARGO_PKG_VERSION"))),
        "{version}"
    );
}

/// A time zone in the format of RFC 9636: UTC+05:30 at all times.
fn time_zone() -> Vec<u8> {
    let part = |version: u8| {
        let mut part = b"TZif".to_vec();
        part.push(version);
        part.extend_from_slice(&[0; 15]);
        // No transitions: one local time type, whose name has four bytes.
        for count in [0_u32, 0, 0, 0, 1, 4] {
            part.extend_from_slice(&count.to_be_bytes());
        }
        part.extend_from_slice(&19_800_i32.to_be_bytes());
        part.extend_from_slice(b"\0\0IST\0");
        part
    };
    [part(b'2'), part(b'2'), b"\nIST-5:30\n".to_vec()].concat()
}

/// Reading the time zone needs more stack than a script's call has, so the program must read it before the call.
#[test]
fn the_first_log_line_of_a_script_has_the_local_time() {
    let folder = tempfile::tempdir().unwrap();
    let zone = folder.path().join("zone");
    fs::write(&zone, time_zone()).unwrap();
    let script = "export default function () { console.log('a line'); }";
    let ended = run(script, "", &[]).env("TZ", &zone).run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let line = ended.stderr.lines().find(|line| line.contains("a line"));
    assert!(
        line.is_some_and(|line| line.contains("+05:30\"")),
        "{ended:?}"
    );
}

#[test]
fn a_trace_on_the_command_line_replaces_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("times.txt"), "0\n0.1\n0.2\n9\n").unwrap();
    let script = "export const options = { vus: 9, duration: '1h' };
        export default () => console.log('came');";
    let run = |flags: &[&str]| {
        let run = run(script, "", &["--arrivals", "trace:times.txt"]).args(flags);
        run.inside(folder.path()).run()
    };
    let ended = run(&["--duration", "1s"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("msg=came").count(), 3);
    let ended = run(&["--iterations", "2"]);
    assert_eq!(ended.status, Some(104), "{}", ended.stderr);
    assert!(ended.stderr.contains("omit --iterations"));
}
