//! Rejects names without meaning for directories, files and modules, and names with words that a
//! native engineer would not use.

use super::Finding;
use super::tree::Tree;

const EMPTY_NAMES: &[&str] = &[
    "util", "utils", "common", "core", "helper", "helpers", "manager", "misc",
];

/// Words that file names may not contain, and what to write instead.
const WORDS: &[(&str, &str)] = &[
    ("answer", "response"),
    ("answers", "responses"),
    ("asked", "question or request"),
    ("asking", "client"),
    ("beside", "next-to or compared-with"),
    ("told", "message or options"),
    ("ways", "name what differs"),
];

/// Files whose names may contain these words: recorded cases, collected pages and published reports,
/// and the answers to the questions of a report.
const WORDS_ALLOWED: &[&str] = &[
    "cases/",
    "docs/reports/",
    "crates/audit/",
    "crates/report/src/answer.rs",
    "crates/report/src/table_answers.rs",
];

/// Checks directory and file names, and declared modules, in Rust crates.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = words(tree);
    for file in tree.rust() {
        let mut parts: Vec<&str> = file.path.trim_end_matches(".rs").split('/').collect();
        // `lib.rs` is only accepted at the root of a crate, where cargo requires it.
        if file.path.ends_with("/src/lib.rs") {
            parts.pop();
        }
        for part in parts {
            if EMPTY_NAMES.contains(&part) || part == "lib" {
                findings.push(Finding::new(&file.path, 0, complaint(part)));
            }
        }
        for line in file.rust_lines() {
            let code = line
                .code
                .trim_start()
                .trim_start_matches("pub ")
                .trim_start_matches("pub(crate) ");
            let Some(rest) = code.strip_prefix("mod ") else {
                continue;
            };
            let name = rest
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap_or("");
            if EMPTY_NAMES.contains(&name) || name == "lib" {
                findings.push(Finding::new(&file.path, line.number, complaint(name)));
            }
        }
    }
    findings
}

/// Checks the words in the names of all files.
fn words(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        if WORDS_ALLOWED
            .iter()
            .any(|start| file.path.starts_with(start))
        {
            continue;
        }
        let mut parts = file.path.split(|c: char| !c.is_alphanumeric());
        let found = parts.find_map(|part| WORDS.iter().find(|(word, _)| *word == part));
        if let Some((word, instead)) = found {
            let message = format!("the file name contains '{word}': write {instead}");
            findings.push(Finding::new(&file.path, 0, message));
        }
    }
    findings
}

fn complaint(name: &str) -> String {
    format!("'{name}' does not describe its contents; name it after its one concept")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_file_names_are_checked() {
        let tree = Tree::of(&[
            ("crates/http/tests/beside_nginx.rs", ""),
            ("docs/decisions/0006-io-uring-beside-epoll.md", ""),
            ("crates/http/src/gateways.rs", ""),
            ("crates/report/src/answer.rs", ""),
        ]);
        let paths: Vec<_> = check(&tree).into_iter().map(|f| f.path).collect();
        assert_eq!(
            paths,
            [
                "crates/http/tests/beside_nginx.rs",
                "docs/decisions/0006-io-uring-beside-epoll.md"
            ]
        );
    }

    #[test]
    fn empty_names_are_found() {
        let tree = Tree::of(&[
            ("crates/http/src/util.rs", ""),
            (
                "crates/http/src/lib.rs",
                "pub mod helpers { }\nmod cores;\n",
            ),
            ("crates/http/src/pool/lib.rs", ""),
        ]);
        let lines: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        assert_eq!(
            lines,
            [
                ("crates/http/src/util.rs".to_owned(), 0),
                ("crates/http/src/lib.rs".to_owned(), 1),
                ("crates/http/src/pool/lib.rs".to_owned(), 0),
            ]
        );
    }
}
