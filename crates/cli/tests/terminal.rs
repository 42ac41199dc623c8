//! Terminal output, tested by the contents of the emulated screen instead of the bytes.

#![cfg(target_os = "linux")]

mod plimsoll;
#[path = "terminal/screen.rs"]
mod screen;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use screen::{Session, Streams};

const WIDTHS: [u16; 5] = [40, 60, 80, 100, 130];

/// A server with slow responses, so that the live view has time to appear.
fn slow_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut buffer = [0; 4_096];
                while connection.read(&mut buffer).is_ok_and(|count| count > 0) {
                    thread::sleep(Duration::from_millis(20));
                    let response = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                    if connection.write_all(response).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn only_the_result_of_http_remains_on_the_screen() {
    let server = slow_server();
    let url = format!("http://{server}/");
    for columns in WIDTHS {
        let arguments = ["http", "-c", "4", "-n", "400", &url];
        // On a busy machine, the verdict has many lines.
        let mut session = Session::start(&arguments, columns, 90, Streams::Both);
        session.wait_for("latency");
        let live = session.contents();
        assert_eq!(
            live.matches("now,").count(),
            1,
            "frames scrolled at {columns}:\n{live}"
        );
        let status = session.finish();
        assert_eq!(status, Some(0));
        let end = session.contents();
        assert!(
            !end.contains("now,"),
            "the live view remains at {columns}:\n{end}"
        );
        assert_eq!(end.matches("verdict:").count(), 1, "{columns}:\n{end}");
        // The protocol line is not mixed with earlier output.
        let line = end.lines().find(|line| line.contains("HTTP/1.1")).unwrap();
        assert!(line.trim_end().ends_with("× 400"), "{columns}: {line:?}");
        assert!(
            session.is_unwrapped(),
            "a row was wrapped at {columns}:\n{end}"
        );
    }
}

#[test]
fn the_progress_of_a_script_is_drawn_in_place_at_every_width() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.js");
    let text = "import { sleep } from 'k6'; export default function () { console.log('line ' + __ITER); sleep(0.3); }";
    std::fs::write(&script, text).unwrap();
    let script = script.to_str().unwrap();
    for columns in WIDTHS {
        let arguments = ["run", "-i", "5", script];
        let mut session = Session::start(&arguments, columns, 100, Streams::Both);
        session.wait_for("line 2");
        session.wait_for("running");
        let status = session.finish();
        assert_eq!(status, Some(0));
        let end = session.contents();
        assert_eq!(
            end.matches("running (").count(),
            1,
            "frames remain at {columns}:\n{end}"
        );
        for number in 0..5 {
            let line = format!("line {number}");
            assert_eq!(end.matches(&line).count(), 1, "{line} at {columns}:\n{end}");
        }
    }
}

/// A script that checks the responses of a server for three seconds.
fn checking_script(folder: &std::path::Path) -> String {
    let url = format!("http://{}/", slow_server());
    let text = format!(
        "import http from 'k6/http'; import {{ check }} from 'k6';
         export const options = {{ vus: 2, duration: '3s', thresholds: {{ http_req_failed: ['rate<0.01'] }} }};
         export default function () {{ check(http.get('{url}'), {{ ok: (r) => r.status === 200 }}); }}"
    );
    let script = folder.join("script.js");
    std::fs::write(&script, text).unwrap();
    script.to_str().unwrap().to_owned()
}

#[test]
fn a_script_shows_the_live_figures_at_every_width() {
    let folder = tempfile::tempdir().unwrap();
    let script = checking_script(folder.path());
    for columns in WIDTHS {
        let mut session = Session::start(&["run", &script], columns, 60, Streams::Both);
        session.wait_for("so far");
        let live = session.contents();
        assert_eq!(live.matches("running (").count(), 1, "{columns}:\n{live}");
        assert_eq!(live.matches("now,").count(), 1, "{columns}:\n{live}");
        // A row may break between figures, but not within one.
        for figure in [
            "requests/s",
            "(0.00%)",
            "p95 ",
            "initialized)",
            "received ",
            "100.00% passed",
            "1 of 1 met",
            "generator",
        ] {
            assert!(live.contains(figure), "{figure} at {columns}:\n{live}");
        }
        // The rows of k6's header may have any length.
        assert!(
            session.is_unwrapped_below("running ("),
            "a row was wrapped at {columns}:\n{live}"
        );
        assert_eq!(session.finish(), Some(0));
        let end = session.contents();
        assert!(!end.contains("now,"), "figures remain at {columns}:\n{end}");
        assert_eq!(end.matches("running (").count(), 1, "{columns}:\n{end}");
    }
}

#[test]
fn k6_progress_shows_only_bars() {
    let folder = tempfile::tempdir().unwrap();
    let script = checking_script(folder.path());
    let arguments = ["run", "--progress", "k6", &script];
    let mut session = Session::start(&arguments, 100, 50, Streams::Both);
    session.wait_for("running (02.");
    let live = session.contents();
    assert!(!live.contains("now,"), "{live}");
    assert_eq!(session.finish(), Some(0));
}

#[test]
fn a_search_shows_the_figures_of_its_trials() {
    let url = format!("http://{}/", slow_server());
    let arguments = [
        "find",
        "--objective",
        "p95<10s",
        "--start",
        "20",
        "--most",
        "20",
        "--repeats",
        "1",
        "--trials",
        "1",
        "--trial",
        "3s",
        "--warm-up",
        "1s",
        "--soak",
        "1s",
        "--",
        "http",
        &url,
    ];
    for columns in [40, 100] {
        let mut session = Session::start(&arguments, columns, 60, Streams::Stderr);
        session.wait_for("send lag");
        let live = session.contents();
        for figure in ["the trial at 20/s", "20.0 offered", "p95", "0 dropped"] {
            assert!(live.contains(figure), "{figure} at {columns}:\n{live}");
        }
        assert!(session.is_unwrapped(), "{columns}:\n{live}");
        session.finish();
        let end = session.contents();
        assert!(!end.contains("on average"), "{columns}:\n{end}");
    }
}

#[test]
fn a_terminal_that_is_resized_keeps_one_live_view() {
    let server = slow_server();
    let url = format!("http://{server}/");
    let arguments = ["http", "-c", "2", "-n", "600", &url];
    let mut session = Session::start(&arguments, 130, 40, Streams::Both);
    session.wait_for("now,");
    for columns in [60, 100, 40, 130] {
        session.resize(columns, 40);
        session.wait_for_frames(3);
        let live = session.contents();
        assert_eq!(live.matches("now,").count(), 1, "at {columns}:\n{live}");
    }
    assert_eq!(session.finish(), Some(0));
    let end = session.contents();
    assert!(!end.contains("now,"), "{end}");
    assert_eq!(end.matches("verdict:").count(), 1, "{end}");
}

#[test]
fn frames_do_not_scroll_on_a_low_terminal() {
    let server = slow_server();
    let url = format!("http://{server}/");
    let arguments = ["http", "-c", "2", "-n", "400", &url];
    let mut session = Session::start(&arguments, 80, 6, Streams::Both);
    session.wait_for("now,");
    session.wait_for_frames(5);
    assert_eq!(session.scrolled(), 0, "{}", session.contents());
    assert_eq!(session.finish(), Some(0));
}

#[test]
fn a_live_view_only_on_stderr_is_cleared() {
    let server = slow_server();
    let url = format!("http://{server}/");
    let arguments = ["http", "-c", "2", "-n", "400", &url];
    let mut session = Session::start(&arguments, 80, 40, Streams::Stderr);
    session.wait_for("now,");
    assert_eq!(session.finish(), Some(0));
    assert_eq!(
        session.contents().trim(),
        "",
        "the result is not on the screen"
    );
}

#[test]
fn messages_appear_above_the_live_view() {
    let server = slow_server();
    let url = format!("http://{server}/");
    // There are too few users for the rate, so a warning appears while the view is shown.
    let arguments = [
        "http",
        "-c",
        "1",
        "-r",
        "200",
        "--max-users",
        "2",
        "-d",
        "5s",
        &url,
    ];
    let mut session = Session::start(&arguments, 100, 50, Streams::Both);
    session.wait_for("Insufficient VUs");
    session.wait_for_frames(3);
    let live = session.contents();
    assert_eq!(live.matches("Insufficient VUs").count(), 1, "{live}");
    assert_eq!(live.matches("now,").count(), 1, "{live}");
    let (message, rate) = (live.find("Insufficient"), live.find("now,"));
    assert!(message < rate, "{live}");
    session.finish();
    let end = session.contents();
    assert_eq!(end.matches("Insufficient VUs").count(), 1, "{end}");
    assert!(!end.contains("now,"), "{end}");
}
