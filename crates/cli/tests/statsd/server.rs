//! Etsy's StatsD server, from npm in a locked version.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use plimsoll_testkit::npm;
use plimsoll_testkit::program::{Program, Running};
use serde_json::Value;

const PACKAGE: &str = include_str!("package.json");
const LOCK: &str = include_str!("package-lock.json");

/// A private StatsD that never forwards what it receives.
pub struct StatsD {
    samples: SocketAddr,
    reports: SocketAddr,
    _folder: tempfile::TempDir,
    _running: Running,
}

impl StatsD {
    pub fn start() -> StatsD {
        let folder = tempfile::tempdir().unwrap();
        let (samples, reports) = free_addresses();
        let settings = format!(
            "{{ address: '127.0.0.1', port: {}, mgmt_address: '127.0.0.1', mgmt_port: {}, \
             flushInterval: 3600000, backends: [] }}",
            samples.port(),
            reports.port()
        );
        let file = folder.path().join("settings.js");
        fs::write(&file, settings).unwrap();
        // Otherwise its reports are shortened for a console.
        let whole = "require('util').inspect.defaultOptions.maxArrayLength = null;\n";
        fs::write(folder.path().join("whole.js"), whole).unwrap();
        let running = Program::at("node")
            .args(["--require", "./whole.js"])
            .inside(folder.path())
            .arg(installed().join("node_modules/statsd/stats.js"))
            .arg(&file)
            .start();
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(reports).is_err() {
            assert!(Instant::now() < deadline, "StatsD did not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        StatsD {
            samples,
            reports,
            _folder: folder,
            _running: running,
        }
    }

    /// The address on which it receives samples.
    pub fn address(&self) -> SocketAddr {
        self.samples
    }

    /// Its `counters`, `gauges` or `timers`.
    pub fn report(&self, kind: &str) -> Value {
        let mut stream = TcpStream::connect(self.reports).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream.write_all(format!("{kind}\n").as_bytes()).unwrap();
        let (mut text, mut part) = (String::new(), [0; 4096]);
        while !text.ends_with("END\n\n") {
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "StatsD closed the connection after {text}");
            text.push_str(&String::from_utf8_lossy(&part[..read]));
        }
        from_javascript(text.trim_end().trim_end_matches("END"))
    }
}

/// Ports that are free both for datagrams and for connections.
fn free_addresses() -> (SocketAddr, SocketAddr) {
    let samples = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let reports = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    (samples.local_addr().unwrap(), reports.local_addr().unwrap())
}

/// Reads an object that Node.js printed in its console format.
fn from_javascript(text: &str) -> Value {
    let output = Program::at("node")
        .args(["-e", "process.stdout.write(JSON.stringify(eval('(' + require('fs').readFileSync(0, 'utf8') + ')')))"])
        .input(text)
        .run();
    assert_eq!(output.status, Some(0), "{text}\n{}", output.stderr);
    serde_json::from_str(&output.stdout).unwrap()
}

/// The directory with the packages, installed once below `target`.
fn installed() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("statsd");
        npm::install(&directory, PACKAGE, LOCK);
        directory
    })
}
