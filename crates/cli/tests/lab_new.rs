//! `plimsoll lab new`: the first run of the new lab succeeds, for a service that the lab starts and for one that is
//! already running.
#![cfg(target_os = "linux")]

mod plimsoll;

use std::fs;
use std::path::Path;
use std::time::Duration;

use plimsoll::plimsoll;
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};
use plimsoll_testkit::ports;
use serde_json::Value;

/// Runs the quick form of a lab, and returns its result and its report.
fn run(folder: &Path, file: &str) -> (Value, String) {
    let ended = plimsoll(&["lab", "run", file, "--quick"])
        .inside(folder)
        .limit(Duration::from_secs(180))
        .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let lab = fs::read_to_string(folder.join(file)).unwrap();
    let is_started = !lab.contains("url = \"http://127.");
    assert_eq!(
        ended.stderr.contains("variant 1 is started"),
        is_started,
        "{ended:?}"
    );
    let report = folder.join(ended.stdout.trim());
    let result = fs::read_to_string(report.with_file_name("result.json")).unwrap();
    (
        serde_json::from_str(&result).unwrap(),
        fs::read_to_string(report).unwrap(),
    )
}

#[test]
fn a_running_service_is_measured_and_reported_as_not_started() {
    let server = LoggedServer::start(Behavior::Prompt).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{}there?a={{b}}", server.http_url());
    let new_lab = plimsoll(&["lab", "new", "--url", &url])
        .inside(folder.path())
        .run();
    assert_eq!(new_lab.status, Some(0), "{new_lab:?}");
    assert!(
        new_lab.stderr.contains("plimsoll lab run lab.toml --quick"),
        "{new_lab:?}"
    );
    let (result, report) = run(folder.path(), "lab.toml");
    let findings = result["findings"].to_string();
    assert!(
        findings.contains("the lab did not start service"),
        "{findings}"
    );
    assert!(report.contains("the lab did not start service"), "{report}");
    assert!(
        report.contains("service was already running, version unknown"),
        "{report}"
    );
    assert!(
        report.contains("already running at http://127.0.0.1"),
        "{report}"
    );
    assert_eq!(
        result["cells"].as_array().map(Vec::len),
        Some(3),
        "{result:#}"
    );
    // The lab does not observe this service, so there are no CPU figures for it.
    for cell in result["cells"].as_array().into_iter().flatten() {
        let cell = cell.to_string();
        assert!(!cell.contains("\"system_cpu\":0"), "{cell}");
        assert!(!cell.contains("cpu_time_per_request"), "{cell}");
    }
    // It still runs, and has received the requests.
    assert!(server.settled_log().entries.len() > 300);

    let again = plimsoll(&["lab", "new", "--url", &url])
        .inside(folder.path())
        .run();
    assert_eq!(again.status, Some(255), "{again:?}");
    assert!(again.stderr.contains("--force"), "{again:?}");
}

#[test]
fn a_service_that_a_command_starts_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let program = "import sys\nfrom http.server import *\nfrom socketserver import ThreadingMixIn\n\
        class S(ThreadingMixIn, HTTPServer): request_queue_size = 128\n\
        class H(BaseHTTPRequestHandler):\n    protocol_version = 'HTTP/1.1'\n    def log_message(self, *a): pass\n    \
        def do_GET(self):\n        self.send_response(200)\n        self.send_header('Content-Length', '2')\n        \
        self.end_headers()\n        self.wfile.write(b'ok')\nS(('127.0.0.1', int(sys.argv[1])), H).serve_forever()\n";
    fs::write(folder.path().join("server.py"), program).unwrap();
    let new_lab = plimsoll(&[
        "lab",
        "new",
        "--command",
        "python3 server.py {port}",
        "shop.toml",
    ])
    .inside(folder.path())
    .run();
    assert_eq!(new_lab.status, Some(0), "{new_lab:?}");
    let (result, report) = run(folder.path(), "shop.toml");
    assert!(!report.contains("did not start"), "{report}");
    assert_eq!(
        result["cells"].as_array().map(Vec::len),
        Some(3),
        "{result:#}"
    );
}

#[test]
fn mistakes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str]| {
        let ended = plimsoll(arguments).inside(folder.path()).run();
        assert_ne!(ended.status, Some(0), "{arguments:?}");
        ended.stderr
    };
    let message = refused(&["lab", "new", "--command", "./shop"]);
    assert!(message.contains("use {port} in it"), "{message}");
    let message = refused(&["lab", "new", "--url", "ftp://h/"]);
    assert!(
        message.contains("not the URL of an HTTP server"),
        "{message}"
    );
    assert!(!folder.path().join("lab.toml").exists());

    let nowhere = ports::closed();
    let url = format!("http://{nowhere}/");
    let new_lab = plimsoll(&["lab", "new", "--url", &url])
        .inside(folder.path())
        .run();
    assert_eq!(new_lab.status, Some(0), "{new_lab:?}");
    let message = refused(&["lab", "run", "lab.toml", "--quick"]);
    assert!(
        message.contains("service does not accept connections"),
        "{message}"
    );
    assert!(
        message.contains("set a command, so the lab starts it"),
        "{message}"
    );

    let text = fs::read_to_string(folder.path().join("lab.toml")).unwrap();
    for (url, why) in [("", "has no host"), ("h", "has no port")] {
        let wrong = text.replace(&format!("http://{nowhere}"), url);
        fs::write(folder.path().join("lab.toml"), wrong).unwrap();
        let message = refused(&["lab", "plan", "lab.toml"]);
        assert!(message.contains(why), "{message}");
    }
    let both = text.replace("[load]", "command = \"./shop\"\n[load]");
    fs::write(folder.path().join("lab.toml"), both).unwrap();
    let message = refused(&["lab", "plan", "lab.toml"]);
    assert!(message.contains("remove one of them"), "{message}");
}
