//! Generates load with h2load.

use std::thread::{JoinHandle, spawn};

use crate::running::tool;

/// The counts of h2load.
#[derive(Debug, PartialEq, Eq)]
pub struct Counted {
    pub succeeded: u64,
    pub failed: u64,
    pub errored: u64,
    pub timeout: u64,
    /// Responses by class: 2xx, 3xx, 4xx, 5xx.
    pub classes: [u64; 4],
}

impl Counted {
    /// Fails the test if anything went wrong.
    pub fn assert_flawless(&self) {
        let [good, ..] = self.classes;
        assert!(good > 0, "{self:?}");
        assert_eq!(
            (self.failed, self.errored, self.timeout),
            (0, 0, 0),
            "{self:?}"
        );
        // Responses whose headers had arrived when the time was over count only by class.
        assert!(good >= self.succeeded, "{self:?}");
        assert_eq!(self.classes, [good, 0, 0, 0], "{self:?}");
    }
}

/// Runs h2load in the background.
pub fn start(arguments: &[&str]) -> JoinHandle<Counted> {
    let mut command = tool("h2load", "nghttp2-client");
    command.args(arguments);
    spawn(move || {
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = |start: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(start));
            line.unwrap_or_else(|| panic!("no '{start}' in:\n{text}"))
                .to_owned()
        };
        let number = |line: &str, word: &str| {
            let part = line.split(',').find(|part| part.trim().ends_with(word));
            let number = part.and_then(|part| part.split_whitespace().next());
            number
                .and_then(|number| number.parse().ok())
                .unwrap_or_else(|| panic!("{line}"))
        };
        let requests = line("requests:");
        let codes = line("status codes:");
        Counted {
            succeeded: number(&requests, "succeeded"),
            failed: number(&requests, "failed"),
            errored: number(&requests, "errored"),
            timeout: number(&requests, "timeout"),
            classes: ["2xx", "3xx", "4xx", "5xx"].map(|class| number(&codes, class)),
        }
    })
}
