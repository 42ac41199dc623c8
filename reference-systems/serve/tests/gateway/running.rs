//! The programs: gateways with their configurations, and upstreams.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use plimsoll_testkit::program::{Ended, Program, Running, Signal};
use serde_json::Value;
use tempfile::TempDir;

use crate::curl::get;

pub fn program() -> Program {
    Program::at(env!("CARGO_BIN_EXE_plimsoll-serve"))
}

/// A running `orders`.
pub struct Orders {
    running: Running,
    places: Value,
}

impl Orders {
    /// Starts an `orders` service whose responses contain `name`.
    pub fn start(name: &str) -> Orders {
        Orders::start_with(&["--listen=127.0.0.1:0", "--name", name])
    }

    /// Starts an `orders` service at an address that a previous one used.
    pub fn start_at(name: &str, address: &str) -> Orders {
        Orders::start_with(&["--listen", address, "--name", name])
    }

    pub fn start_with(flags: &[&str]) -> Orders {
        let mut running = program()
            .args(["orders", "--threads=1"])
            .args(flags)
            .start();
        let places = serde_json::from_str(&running.line()).unwrap();
        Orders { running, places }
    }

    pub fn url(&self) -> &str {
        self.places["url"].as_str().unwrap()
    }

    pub fn place(&self, name: &str) -> &str {
        self.places[name].as_str().unwrap()
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        self.url().trim_start_matches("http://").to_owned()
    }

    /// Number of requests that the service has accepted.
    pub fn requests(&self) -> u64 {
        metric(self.url(), "plimsoll_serve_requests_total")
    }

    /// Kills the service, as in a crash.
    pub fn kill(self) {
        self.running.signal(Signal::KILL);
        self.running.wait();
    }
}

/// A running gateway.
pub struct Gateway {
    running: Running,
    places: Value,
    folder: TempDir,
}

impl Gateway {
    pub fn start(config: &str) -> Gateway {
        Gateway::start_with(config, &[])
    }

    pub fn start_with(config: &str, flags: &[&str]) -> Gateway {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("gateway.yaml"), config).unwrap();
        Gateway::start_in(folder, flags)
    }

    /// Starts a gateway whose directory contains more files than the configuration.
    pub fn start_in(folder: TempDir, flags: &[&str]) -> Gateway {
        let mut running = program()
            .args(["gateway", "--listen=127.0.0.1:0", "--threads=2", "--config"])
            .arg(folder.path().join("gateway.yaml"))
            .args(flags)
            .start();
        let places = serde_json::from_str(&running.line()).unwrap();
        Gateway {
            running,
            places,
            folder,
        }
    }

    /// The URL of the entry `web` with `path`.
    pub fn url(&self, path: &str) -> String {
        self.entry("web", path)
    }

    pub fn entry(&self, name: &str, path: &str) -> String {
        format!("{}{path}", self.places["entries"][name].as_str().unwrap())
    }

    /// The address of the entry `web`.
    pub fn address(&self) -> SocketAddr {
        let url = self.url("");
        url.rsplit('/').next().unwrap().parse().unwrap()
    }

    pub fn metric(&self, name: &str) -> u64 {
        metric(
            self.places["url"].as_str().unwrap(),
            &format!("plimsoll_gateway_{name}"),
        )
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a new configuration as editors do: to another file, which then replaces the old one.
    pub fn write(&self, config: &str) {
        let (new, file) = (
            self.folder().join("new"),
            self.folder().join("gateway.yaml"),
        );
        fs::write(&new, config).unwrap();
        fs::rename(new, file).unwrap();
    }

    /// Writes a new configuration and waits until it is applied.
    pub fn reload(&self, config: &str) {
        let before = self.metric("reloads_total");
        self.write(config);
        self.running.signal(Signal::HUP);
        eventually("the reload", || self.metric("reloads_total") > before);
    }

    pub fn signal(&self, signal: Signal) {
        self.running.signal(signal);
    }

    pub fn end(self) -> Ended {
        self.running.signal(Signal::TERM);
        self.running.wait()
    }
}

/// A configuration with one entry `web`, one route, and these targets.
pub fn simple(targets: &[&str], service: &str, upstream: &str) -> String {
    let targets = targets.join(", ");
    format!(
        "entries:\n  web: {{bind: 127.0.0.1:0}}\n\
         routes:\n  all: {{prefix: /, service: s}}\n\
         services:\n  s: {{upstream: u{service}}}\n\
         upstreams:\n  u: {{targets: [{targets}]{upstream}}}\n"
    )
}

fn metric(url: &str, name: &str) -> u64 {
    let text = get(&format!("{url}/metrics")).body;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no metric {name} in:\n{text}"))
        .parse()
        .unwrap()
}

/// Waits at most ten seconds until a condition holds.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(
            Instant::now() < deadline,
            "this did not happen in time: {what}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A directory of certificates.
pub fn certificates() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let certs = folder.path().join("certs");
    let made = program().arg("certs").arg(&certs).run();
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    (folder, certs)
}

/// A program from the Debian package `package`.
pub fn tool(name: &str, package: &str) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    assert!(
        found,
        "{name} is missing; it is in Debian's package {package}"
    );
    Command::new(name)
}
