//! Flags, variables and the config file of `plimsoll run` have the values, errors and exit statuses of k6.

mod plimsoll;

use std::fs;
use std::path::Path;

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::Ended;
use serde_json::json;

const NOTHING: &str = "export default function () {}";

/// Runs a script in a folder.
fn run_in(folder: &Path, script: &str, flags: &[&str]) -> Ended {
    plimsoll(&["run", "-q", "--summary-mode=disabled", "-"])
        .args(flags)
        .input(script)
        .inside(folder)
        .run()
}

fn run(script: &str, flags: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), script, flags)
}

/// Runs a script with a variable.
fn run_with(variable: &str, value: &str) -> Ended {
    plimsoll(&["run", "-q", "-"])
        .env(variable, value)
        .input(NOTHING)
        .run()
}

#[test]
fn boolean_flags_accept_values() {
    for flag in [
        "--discard-response-bodies",
        "--include-system-env-vars",
        "--insecure",
        "--insecure-skip-tls-verify",
        "--new-machine-readable-summary",
        "--no-color",
        "--no-connection-reuse",
        "--no-keepalive",
        "--no-setup",
        "--no-summary",
        "--no-teardown",
        "--no-thresholds",
        "--no-usage-report",
        "--no-vu-connection-reuse",
        "--quiet",
        "--throw",
        "--verbose",
    ] {
        for value in ["true", "1", "t", "false", "F"] {
            let flag = format!("{flag}={value}");
            let ended = run(NOTHING, &[&flag]);
            assert_eq!(ended.status, Some(0), "{flag}: {}", ended.stderr);
        }
        let wrong = run(NOTHING, &[&format!("{flag}=maybe")]);
        assert!(
            wrong.stderr.contains(&format!("'{flag}'")),
            "{}",
            wrong.stderr
        );
        let is_of_k6 = !matches!(flag, "--insecure" | "--no-keepalive");
        let status = if is_of_k6 { 255 } else { 104 };
        assert_eq!(wrong.status, Some(status), "{flag}: {}", wrong.stderr);
    }
    for flags in [["--paused=false", "--linger=0"], ["-p=f", "-l=false"]] {
        let ended = run(NOTHING, &flags);
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    }
}

#[test]
fn a_flag_that_is_false_overrides_the_script() {
    let script = "
        import http from 'k6/http';
        export const options = { throw: true, noSetup: true };
        export function setup() { console.log('setup ran'); }
        export default function () { http.get('http://127.0.0.1:1/'); console.log('went on'); }";
    let of_script = run(script, &[]);
    assert!(
        !of_script.stderr.contains("went on"),
        "{}",
        of_script.stderr
    );
    let ended = run(script, &["--throw=false", "--no-setup=false"]);
    for text in ["setup ran", "went on"] {
        assert!(ended.stderr.contains(text), "{}", ended.stderr);
    }
    let ended = plimsoll(&["run", "-q", "--no-thresholds=false", "-"])
        .env("K6_NO_THRESHOLDS", "true")
        .input("export const options = { thresholds: { iterations: ['count>9'] } };\n export default function () {}")
        .run();
    assert_eq!(ended.status, Some(99), "{}", ended.stderr);
}

#[test]
fn invalid_values_have_the_exit_statuses_of_k6() {
    for (flags, status) in [
        (["--dns", "ttl=x"], 255),
        (["--local-ips", "1.2.3"], 255),
        (["--summary-mode", "foo"], 255),
        (["--compatibility-mode", "foo"], 255),
        (["--type", "foo"], 255),
        (["-d", "1x"], 255),
        (["-d", "-1s"], 104),
        (["--duration", "0"], 104),
        (["--duration", "0s"], 104),
        (["-s", "-1s:3"], 104),
        (["-i", "-1"], 104),
        (["--rps", "-5"], 0),
        (["--max-redirects", "-1"], 0),
        (["--batch", "-1"], 0),
    ] {
        let ended = run(NOTHING, &flags);
        assert_eq!(ended.status, Some(status), "{flags:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("tip:"), "{}", ended.stderr);
    }
    for (variable, value, status) in [
        ("K6_SUMMARY_TREND_STATS", "avg,foo", 255),
        ("K6_DNS", "ttl=x", 255),
        ("K6_SUMMARY_MODE", "foo", 255),
        ("K6_COMPATIBILITY_MODE", "foo", 255),
        ("K6_NO_SUMMARY", "maybe", 255),
        ("K6_NO_THRESHOLDS", "maybe", 255),
        ("K6_INCLUDE_SYSTEM_ENV_VARS", "maybe", 255),
        ("K6_VUS", "abc", 104),
        ("K6_NO_SETUP", "maybe", 104),
        ("K6_THROW", "1", 104),
        ("K6_LOCAL_IPS", "1.2.3", 104),
        ("K6_DURATION", "-1s", 104),
        ("K6_WEB_DASHBOARD", "maybe", 104),
    ] {
        let ended = run_with(variable, value);
        assert_eq!(ended.status, Some(status), "{variable}: {}", ended.stderr);
        assert!(ended.stderr.contains(variable), "{}", ended.stderr);
        let message = ended.stderr.replace("'--help'", "");
        assert!(!message.contains("--"), "{message}");
    }
}

#[test]
fn errors_name_the_source_of_an_option() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("c.json"), r#"{"duration": "0s"}"#).unwrap();
    for (flags, place) in [
        (["-d", "0s"], "--duration: must"),
        (["-s", "1s"], "--stage: stages[0]: has no target"),
        (["-i", "0"], "--iterations: must"),
        (["-c", "c.json"], "config file: duration: must"),
    ] {
        let ended = run_in(folder.path(), NOTHING, &flags);
        assert!(ended.stderr.contains(place), "{flags:?}: {}", ended.stderr);
    }
    let ended = run_with("K6_ITERATIONS", "0");
    assert!(
        ended.stderr.contains("K6_ITERATIONS: must"),
        "{}",
        ended.stderr
    );
    let ended = run(NOTHING, &["--web=99999"]);
    assert!(ended.stderr.contains("from 0 to 65535"), "{}", ended.stderr);
    let ended = plimsoll(&["scale", "-u", "x"]).run();
    assert!(
        ended.stderr.contains("not a whole number"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_config_file_requests_outputs_and_the_live_page() {
    let folder = tempfile::tempdir().unwrap();
    let config = |value: serde_json::Value| {
        fs::write(folder.path().join("c.json"), value.to_string()).unwrap();
    };
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    config(json!({"out": ["json=samples.json", "csv=samples.csv"]}));
    let ended = run_in(folder.path(), NOTHING, &["-c", "c.json"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));
    assert!(read("samples.json").contains("\"iterations\""));
    assert!(read("samples.csv").contains("iterations,"));
    // A flag replaces the list.
    let before = read("samples.csv");
    let ended = run_in(
        folder.path(),
        NOTHING,
        &["-c", "c.json", "-o", "json=other.json"],
    );
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(read("other.json").contains("\"iterations\""));
    assert_eq!(read("samples.csv"), before);

    config(json!({"webDashboard": true}));
    let page = |variable: &str, value: &str| {
        plimsoll(&["run", "-q", "-c", "c.json", "-"])
            .env("K6_WEB_DASHBOARD_PORT", "0")
            .env("K6_WEB_DASHBOARD_EXPORT", "page.html")
            .env(variable, value)
            .input(NOTHING)
            .inside(folder.path())
            .run()
    };
    let ended = page("K6_WEB_DASHBOARD", "false");
    assert!(!ended.stderr.contains("live page"), "{}", ended.stderr);
    assert_eq!(read("page.html"), "");
    let ended = page("K6_WEB_DASHBOARD", "");
    assert!(
        ended.stderr.contains("live page: http://127.0.0.1:"),
        "{}",
        ended.stderr
    );
    assert!(read("page.html").starts_with("<!doctype html>"));

    for (value, status) in [
        (json!({"out": 5}), 104),
        (json!({"out": "json"}), 104),
        (json!({"out": ["foo"]}), 255),
        (json!({"webDashboard": 5}), 104),
        (json!({"linger": "x"}), 104),
    ] {
        config(value.clone());
        let ended = run_in(folder.path(), NOTHING, &["-c", "c.json"]);
        assert_eq!(ended.status, Some(status), "{value}: {}", ended.stderr);
    }
}

/// The log lines of requests and responses, without times, dates and identifiers.
fn debug_lines(stderr: &str) -> Vec<String> {
    let lines = stderr
        .lines()
        .filter(|line| line.contains("source=http-debug"));
    lines
        .map(|line| {
            let (_, line) = line.split_once("msg=").unwrap();
            let (before, after) = line.split_once(" request_id=").unwrap();
            let (id, after) = after.split_once(' ').unwrap();
            assert_eq!(id.len(), 36, "{line}");
            format!("{before} {after}")
        })
        .collect()
}

#[test]
fn http_debug_logs_requests_and_responses() {
    let server = Peer::start(Play::ok("hello\r\nworld"));
    let script = format!(
        "import http from 'k6/http';
        import {{ group }} from 'k6';
        export default function () {{
            group('g', () => http.post('{}/a', 'x=1', {{ tags: {{ own: 'o', name: 'n' }}, headers: {{ 'X-H': '1' }} }}));
            http.get('http://127.0.0.1:1/');
        }}",
        server.url()
    );
    let silent = run(&script, &[]);
    assert!(!silent.stderr.contains("http-debug"), "{}", silent.stderr);
    let host = server.address();
    let agent = format!("plimsoll/{} (k6 compatible)", env!("CARGO_PKG_VERSION"));
    let fields = "iter=0 name=n own=o scenario=default source=http-debug vu=1";
    let request = |body: &str| {
        format!(
            "\"Request:\\nPOST /a HTTP/1.1\\nHost: {host}\\nUser-Agent: {agent}\\nContent-Length: 3\\nX-H: 1\\n\\n{body}\\n\" group=\"::g\" {fields}"
        )
    };
    let response = |body: &str| {
        format!(
            "\"Response:\\nHTTP/1.1 200 OK\\nContent-Length: 12\\n\\n{body}\\n\" group=\"::g\" {fields}"
        )
    };
    for (flags, request, response) in [
        (
            ["--http-debug=full", "-q"],
            request("x=1"),
            response("hello\\nworld"),
        ),
        (
            ["--http-debug", "--discard-response-bodies"],
            request(""),
            response(""),
        ),
    ] {
        let ended = run(&script, &flags);
        let lines = debug_lines(&ended.stderr);
        assert_eq!(lines.len(), 3, "{}", ended.stderr);
        assert_eq!(lines[0], request);
        assert_eq!(lines[1], response);
        assert!(
            lines[2].starts_with("\"Request:\\nGET / HTTP/1.1\\nHost: 127.0.0.1:1\\n"),
            "{}",
            lines[2]
        );
    }
    // The variable and the option do the same.
    let of_script = format!("export const options = {{ httpDebug: 'full' }};\n{script}");
    let ended = run(&of_script, &["--discard-response-bodies"]);
    assert_eq!(debug_lines(&ended.stderr)[1], response("hello\\nworld"));
    let ended = plimsoll(&["run", "-q", "-"])
        .env("K6_HTTP_DEBUG", "headers")
        .input(script)
        .run();
    assert_eq!(debug_lines(&ended.stderr)[1], response(""));
}
