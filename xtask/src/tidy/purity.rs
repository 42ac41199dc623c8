//! The crates that may use clocks, sockets, runtimes and metric names.

use super::Finding;
use super::tree::Tree;

/// Crates, names that their product code may not use, and the reason.
const RULES: &[(&[&str], &[&str], &str)] = &[
    (
        &["units", "address", "plan", "pace", "stats"],
        &[
            "std::net::TcpStream",
            "std::net::TcpListener",
            "std::net::UdpSocket",
            "std::net::ToSocketAddrs",
            "std::env",
            "std::fs",
            "std::thread",
            "std::process",
            "tokio",
        ],
        "this crate is pure: no socket, environment, file, thread or runtime",
    ),
    (
        &["units", "address", "plan", "pace", "stats"],
        &["Instant", "SystemTime"],
        "this crate has no clock: pass the time as a Moment or a Duration",
    ),
    (
        &[
            "net",
            "http",
            "engine",
            "samples",
            "quickjs",
            "k6",
            "script",
            "scriptless",
            "machine",
            "verdict",
            "run",
        ],
        &["std::time::Instant"],
        "there is one monotonic clock: clock::now()",
    ),
    (
        PROTOCOLS,
        &["JSValue", "quickjs"],
        "protocols do not know about JavaScript",
    ),
];

/// Crates in which no string may contain a built-in metric's name: only `samples` and the crates
/// that print its results know them.
const NAMELESS: &[&str] = &["engine", "pace", "clock", "units", "machine", "quickjs"];

/// Crates of protocols, in which no metric is named either.
const PROTOCOLS: &[&str] = &[
    "net", "http", "http2", "http3", "ws", "grpc", "netem", "iperf", "probe", "sql",
];

/// Checks the rules above outside tests.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !file.is_test) {
        let name = file.crate_dir().strip_prefix("crates/").unwrap_or("");
        for line in file.rust_lines().iter().filter(|line| !line.in_test) {
            for (_, words, reason) in RULES.iter().filter(|(crates, ..)| crates.contains(&name)) {
                for word in words.iter().filter(|word| names_path(&line.code, word)) {
                    findings.push(Finding::new(
                        &file.path,
                        line.number,
                        format!("`{word}`: {reason}"),
                    ));
                }
            }
            // `code` has no strings, so check the original line.
            let raw = file.text.lines().nth(line.number - 1).unwrap_or("");
            let is_nameless = NAMELESS.contains(&name) || PROTOCOLS.contains(&name);
            if is_nameless && !line.code.is_empty() && raw.contains("\"http_req") {
                findings.push(Finding::new(
                    &file.path,
                    line.number,
                    "only `samples` names metrics; pass facts to it",
                ));
            }
        }
    }
    findings
}

/// Whether `code` contains `path`, directly or as `std::time::{Duration, Instant}`.
fn names_path(code: &str, path: &str) -> bool {
    let grouped = path.rsplit_once("::").is_some_and(|(parent, leaf)| {
        code.split_once(&format!("{parent}::{{"))
            .is_some_and(|(_, group)| names_word(group.split('}').next().unwrap_or(""), leaf))
    });
    grouped || names_word(code, path)
}

/// Whether `code` contains `word` as a whole word.
fn names_word(code: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code.get(..at).and_then(|text| text.chars().next_back());
        let after = code
            .get(at + word.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_in_a_pure_crate_is_found() {
        let tree = Tree::of(&[(
            "crates/pace/src/lib.rs",
            "//! Instant\nuse std::time::Instant;\n",
        )]);
        let findings = check(&tree);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 2);
    }

    #[test]
    fn other_crates_and_tests_may() {
        let tree = Tree::of(&[
            ("crates/clock/src/lib.rs", "use std::time::Instant;"),
            ("crates/pace/tests/a.rs", "use std::time::Instant;"),
            (
                "crates/pace/src/b.rs",
                "#[cfg(test)]\nmod tests {\n use std::time::Instant;\n}\n",
            ),
            ("crates/plan/src/c.rs", "struct Instantly; // std::env\n"),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn grouped_imports_are_seen_and_another_librarys_clock_is_not_meant() {
        let tree = Tree::of(&[
            (
                "crates/http/src/a.rs",
                "use std::time::{Duration, Instant};\n",
            ),
            (
                "crates/http/src/b.rs",
                "let deadline = tokio::time::Instant::now();\n",
            ),
        ]);
        let found: Vec<_> = check(&tree)
            .into_iter()
            .map(|finding| finding.path)
            .collect();
        assert_eq!(found, ["crates/http/src/a.rs"]);
    }

    #[test]
    fn a_metric_named_by_a_protocol_is_found() {
        let tree = Tree::of(&[
            ("crates/http/src/a.rs", "let a = \"http_reqs\";"),
            ("crates/samples/src/a.rs", "let a = \"http_reqs\";"),
        ]);
        assert_eq!(check(&tree).len(), 1);
    }
}
