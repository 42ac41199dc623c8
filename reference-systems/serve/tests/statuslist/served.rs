//! The running program.

use std::fs;

use plimsoll_testkit::program::{Ended, Program, Running, Signal};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http_client::{Client, Response};

pub const KEY: &str = "open sesame";

/// A running server.
pub struct Served {
    running: Running,
    pub url: String,
}

pub fn program(flags: &[&str]) -> Program {
    Program::at(env!("CARGO_BIN_EXE_plimsoll-serve"))
        .arg("statuslist")
        .args(flags)
        .limit(std::time::Duration::from_secs(180))
}

impl Served {
    /// Starts a server and waits until it is ready.
    pub fn start(flags: &[&str]) -> Served {
        let mut running = program(flags).start();
        let places: Value = serde_json::from_str(&running.line()).unwrap();
        assert_eq!(places["system"], "statuslist");
        let url = places["url"].as_str().unwrap().to_owned();
        Served { running, url }
    }

    pub fn client(&self) -> Client {
        Client::new(&self.url)
    }

    /// Kills the server, as in a crash.
    pub fn kill(self) {
        self.running.signal(Signal::KILL);
        self.running.wait();
    }

    pub fn end(self) -> Ended {
        self.running.signal(Signal::TERM);
        self.running.wait()
    }
}

/// A directory with a file of pools.
pub struct TestFolder {
    directory: TempDir,
}

impl TestFolder {
    /// `pools` without their keys.
    pub fn new(mut pools: Value) -> TestFolder {
        for pool in pools.as_object_mut().unwrap().values_mut() {
            pool["api-key"] = KEY.into();
        }
        let directory = tempfile::tempdir().unwrap();
        let text = json!({"pools": pools}).to_string();
        fs::write(directory.path().join("pools.json"), text).unwrap();
        TestFolder { directory }
    }

    pub fn pools(&self) -> String {
        let file = self.directory.path().join("pools.json");
        format!("--pools={}", file.display())
    }

    pub fn sqlite(&self) -> String {
        let file = self.directory.path().join("lists.db");
        format!("--store=sqlite:{}", file.display())
    }

    /// A server on a free port, with SQLite.
    pub fn start(&self) -> Served {
        Served::start(&["--listen=127.0.0.1:0", &self.pools(), &self.sqlite()])
    }
}

/// An issued index.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    pub uri: String,
    pub index: u64,
}

impl Reference {
    pub fn of(value: &Value) -> Reference {
        Reference {
            uri: value["uri"].as_str().unwrap().to_owned(),
            index: value["index"].as_u64().unwrap(),
        }
    }

    /// All indices in a response.
    pub fn all(response: &Response) -> Vec<Reference> {
        assert_eq!(response.status, 200, "{response:?}");
        let json = response.json();
        let references = json["references"].as_array().unwrap();
        references.iter().map(Reference::of).collect()
    }

    /// The path of the list on its server.
    pub fn path(&self) -> String {
        format!("/{}", self.uri.rsplit('/').next().unwrap())
    }

    pub fn update(&self, value: u64) -> String {
        json!({"uri": self.uri, "index": self.index, "value": value}).to_string()
    }
}

/// The text of a problem response; checks that it is one.
pub trait ProblemResponse {
    fn problem(&self, status: u16) -> String;
}

impl ProblemResponse for Response {
    fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json")
        );
        let problem = self.json();
        assert_eq!(problem["status"], status);
        problem["detail"].as_str().unwrap().to_owned()
    }
}
