//! A receiver of OpenTelemetry metrics and traces in Python. It uses the classes that OpenTelemetry generates from its
//! own definitions.

#![allow(dead_code)] // No test uses all of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

const PACKAGES: [&str; 3] = [
    "opentelemetry-proto==1.45.2",
    "protobuf==7.36.2",
    "grpcio==1.85.1",
];

/// A private receiver.
pub struct Receiver {
    process: Child,
    folder: tempfile::TempDir,
    /// The port for gRPC.
    pub calls: u16,
    /// The port for HTTP.
    pub posts: u16,
}

impl Receiver {
    pub fn start() -> Receiver {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opentelemetry/receiver.py");
        let process = Command::new(python())
            .arg(script)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let ports = loop {
            if let Ok(ports) = fs::read_to_string(folder.path().join("ports")) {
                break ports;
            }
            assert!(Instant::now() < deadline, "the receiver did not start");
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut ports = ports.split_whitespace().map(|port| port.parse().unwrap());
        Receiver {
            process,
            folder,
            calls: ports.next().unwrap(),
            posts: ports.next().unwrap(),
        }
    }

    /// All requests so far, each with its `headers`.
    pub fn requests(&self) -> Vec<Value> {
        self.lines("received.jsonl")
    }

    /// The requests for its pages so far, each with its `path` and `traceparent`.
    pub fn served(&self) -> Vec<Value> {
        self.lines("served.jsonl")
    }

    fn lines(&self, file: &str) -> Vec<Value> {
        let lines = fs::read_to_string(self.folder.path().join(file)).unwrap();
        let requests = lines.lines().map(serde_json::from_str);
        requests.collect::<Result<_, _>>().unwrap()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // It may already have exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A Python with the packages. Its environment is created once per version.
fn python() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("opentelemetry-python");
        let stamp = directory.join("versions");
        let versions = PACKAGES.join("\n");
        if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == versions) {
            let _ = fs::remove_dir_all(&directory);
            run(Command::new("python3").args(["-m", "venv"]).arg(&directory));
            let mut install = Command::new(directory.join("bin/pip"));
            install.args(["install", "--quiet", "--disable-pip-version-check"]);
            run(install.args(PACKAGES));
            fs::write(stamp, versions).unwrap();
        }
        directory.join("bin/python")
    })
}

fn run(command: &mut Command) {
    let needs = "this test needs Python 3 with venv, and PyPI or a copy of it; on Debian: apt-get install python3-venv";
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot run {command:?}: {error}; {needs}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} failed; {needs}\n{stderr}"
    );
}
