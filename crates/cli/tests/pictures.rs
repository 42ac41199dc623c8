//! Creates the pictures of the documentation from real runs: the terminal as SVG, and the live page and a report in
//! Chromium. `docs/pictures/make` writes them to `docs/pictures`. The test creates them from shorter runs, below
//! `target`.

#![cfg(target_os = "linux")]

#[path = "terminal/screen.rs"]
mod screen;
#[path = "terminal/svg.rs"]
mod svg;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_testkit::chromium::chromium;
use plimsoll_testkit::npm;
use screen::{Session, Streams};

const PACKAGE: &str = include_str!("../../live/tests/browser/package.json");
const LOCK: &str = include_str!("../../live/tests/browser/package-lock.json");
const TAKE: &str = include_str!("../../../docs/pictures/pictures.mjs");

/// Maximum size of a picture.
const MAX_BYTES: usize = 200_000;

/// Where to write pictures, and the duration of runs in seconds.
fn target() -> (PathBuf, u32) {
    match std::env::var_os("PICTURES") {
        Some(folder) => (folder.into(), 24),
        None => {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../screenshots");
            (folder, 4)
        }
    }
}

/// A server whose responses take some milliseconds. Few are slow, and few are failures.
fn server() -> SocketAddr {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut buffer = [0; 4_096];
                while connection.read(&mut buffer).is_ok_and(|count| count > 0) {
                    let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
                    // Irregular, but the same in each run.
                    let spread = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
                    let slow = if number.is_multiple_of(97) { 60 } else { 0 };
                    thread::sleep(
                        Duration::from_micros(3_000 + spread * 40) + Duration::from_millis(slow),
                    );
                    let status = if number % 409 == 408 {
                        "503 Service Unavailable"
                    } else {
                        "200 OK"
                    };
                    let response =
                        format!("HTTP/1.1 {status}\r\ncontent-length: 12\r\n\r\nhello, world");
                    if connection.write_all(response.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn assert_small(path: &Path) {
    let size = fs::metadata(path).map_or(0, |file| file.len() as usize);
    assert!(
        (1_000..MAX_BYTES).contains(&size),
        "{}: {size} bytes",
        path.display()
    );
}

#[test]
fn the_picture_of_the_terminal_is_created() {
    let (folder, seconds) = target();
    fs::create_dir_all(&folder).unwrap();
    let scripts = tempfile::tempdir().unwrap();
    let text = format!(
        "import http from 'k6/http'; import {{ check }} from 'k6';
         export const options = {{
           scenarios: {{ checkout: {{ executor: 'constant-arrival-rate', rate: 300, duration: '{seconds}s', preAllocatedVUs: 60 }} }},
           thresholds: {{ http_req_duration: ['p(95)<50'], http_req_failed: ['rate<0.01'] }},
         }};
         export default function () {{ check(http.get('http://{}/'), {{ 'status is 200': (r) => r.status === 200 }}); }}",
        server()
    );
    fs::write(scripts.path().join("checkout.js"), text).unwrap();
    let arguments = ["run", "checkout.js"];
    let mut session = Session::start_in(scripts.path(), &arguments, 100, 50, Streams::Both);
    session.wait_for("so far");
    session.wait_for(&format!("running ({:02}.", seconds * 3 / 4));
    let drawn = svg::svg(session.screen());
    let path = folder.join("terminal.svg");
    fs::write(&path, &drawn).unwrap();
    for text in ["requests/s", "now,", "p95", " of 2 met", "so far"] {
        assert!(drawn.contains(text), "{text}: {drawn}");
    }
    assert_eq!(
        drawn.matches("<text ").count(),
        drawn.matches("</text>").count()
    );
    assert_small(&path);
    session.finish();
}

#[test]
fn pictures_of_the_live_page_and_the_report_are_created() {
    let (folder, seconds) = target();
    fs::create_dir_all(&folder).unwrap();
    let chromium = chromium();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures-browser");
    npm::install(&directory, PACKAGE, LOCK);
    fs::write(directory.join("pictures.mjs"), TAKE).unwrap();
    let mut browser = Command::new("node")
        .arg("pictures.mjs")
        .arg(&folder)
        .arg((seconds * 3 / 4).to_string())
        .env("CHROMIUM", chromium)
        .current_dir(&directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs Node.js");
    let mut lines = BufReader::new(browser.stdout.take().unwrap()).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    assert_eq!(line(), "ready");

    let scratch = tempfile::tempdir().unwrap();
    let report = scratch.path().join("report.html");
    let url = format!("http://{}/", server());
    let mut run = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args([
            "http",
            "-r",
            "300",
            "-u",
            "60",
            "-d",
            &format!("{seconds}s"),
            "--web=0",
        ])
        .args(["--objective", "p95<50ms", "--report", "report.html", &url])
        // The report shows the command.
        .arg0("plimsoll")
        .current_dir(scratch.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut messages = BufReader::new(run.stderr.take().unwrap()).lines();
    let mut addresses = messages.by_ref().map_while(Result::ok);
    let address = addresses
        .find_map(|line| line.strip_prefix("live page: ").map(str::to_owned))
        .expect("the page's address");
    let rest = thread::spawn(move || messages.map_while(Result::ok).collect::<Vec<_>>());
    let mut input = browser.stdin.take().unwrap();
    writeln!(input, "{address}").unwrap();
    assert_eq!(line(), "live");
    run.wait().unwrap();
    assert!(report.exists(), "{:?}", rest.join());
    writeln!(input, "{}", report.display()).unwrap();
    assert!(browser.wait().unwrap().success());
    for name in ["live.png", "report.png"] {
        assert_small(&folder.join(name));
    }
}

#[test]
fn the_pictures_of_the_readme_exist_and_are_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let shown: Vec<&str> = readme
        .split("](")
        .filter_map(|rest| rest.split(')').next())
        .filter(|path| path.starts_with("docs/pictures/"))
        .collect();
    for name in ["terminal.svg", "live.png", "report.png"] {
        assert!(
            shown.iter().any(|path| path.ends_with(name)),
            "{name}: {shown:?}"
        );
    }
    for path in shown {
        assert_small(&root.join(path));
    }
}
