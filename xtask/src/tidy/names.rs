//! Rejects names without meaning for directories, files and modules.

use super::Finding;
use super::tree::Tree;

const EMPTY_NAMES: &[&str] = &[
    "util", "utils", "common", "core", "helper", "helpers", "manager", "misc",
];

/// Checks directory and file names, and declared modules, in Rust crates.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
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

fn complaint(name: &str) -> String {
    format!("'{name}' does not describe its contents; name it after its one concept")
}

#[cfg(test)]
mod tests {
    use super::*;

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
