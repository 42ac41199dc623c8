//! Checks that the important documents exist, and that their links resolve.

use super::Finding;
use super::manifest::Manifest;
use super::tree::Tree;

const EXPECTED: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "deny.toml",
    "rust-toolchain.toml",
    "docs/terminology.md",
    "docs/decisions/README.md",
    ".ci/run",
];

/// Checks that each document exists, that each crate has its row in
/// `ARCHITECTURE.md` and an overview at its top, and that relative links resolve.
pub fn check(tree: &Tree, manifests: &[Manifest]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = EXPECTED
        .iter()
        .filter(|path| !tree.has(path))
        .map(|path| Finding::new(*path, 0, "this document is missing"))
        .collect();
    findings.extend(crates_without_row(tree, manifests));
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        findings.extend(dead_links(tree, &file.path, &file.text));
    }
    for file in tree.rust() {
        let is_root = file.path.ends_with("/src/lib.rs") || file.path.ends_with("/src/main.rs");
        if is_root && !file.text.trim_start().starts_with("//!") {
            findings.push(Finding::new(
                &file.path,
                1,
                "begin with what this crate is for (`//! …`)",
            ));
        }
    }
    findings
}

fn crates_without_row(tree: &Tree, manifests: &[Manifest]) -> Vec<Finding> {
    let Some(architecture) = tree
        .files
        .iter()
        .find(|file| file.path == "ARCHITECTURE.md")
    else {
        return Vec::new();
    };
    let named = |name: &str| architecture.text.contains(&format!("`{name}`"));
    manifests
        .iter()
        .filter(|manifest| manifest.path.starts_with("crates/") && !named(manifest.short_name()))
        .map(|manifest| {
            Finding::new(
                "ARCHITECTURE.md",
                0,
                format!("the crate `{}` is missing", manifest.short_name()),
            )
        })
        .collect()
}

/// Relative links of a Markdown file that do not resolve.
fn dead_links(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for part in line.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or("");
            let target = target.split('#').next().unwrap_or("");
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if !tree.has(&resolve(path, target)) {
                findings.push(Finding::new(
                    path,
                    index + 1,
                    format!("the target of this link does not exist: {target}"),
                ));
            }
        }
    }
    findings
}

/// `target` in a link of the file at `path`, relative to the root.
fn resolve(path: &str, target: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_from_their_file() {
        let tree = Tree::of(&[("docs/a.md", ""), ("docs/b/c.md", ""), ("README.md", "")]);
        let links = "[1](a.md) [2](b) [3](../README.md#top) [4](https://x.y/) [5](none.md) \
                     ![6](../picture.png)";
        let findings = dead_links(&tree, "docs/a.md", links);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains("none.md"));
    }

    #[test]
    fn missing_documents_are_named() {
        let findings = check(&Tree::of(&[]), &[]);
        assert_eq!(findings.len(), EXPECTED.len());
    }

    #[test]
    fn a_crate_must_have_its_row_and_its_overview() {
        let tree = Tree::of(&[
            ("ARCHITECTURE.md", "`units`"),
            ("crates/plan/src/lib.rs", "fn a() {}"),
        ]);
        let manifest = Manifest {
            package: "plimsoll-plan".into(),
            path: "crates/plan/Cargo.toml".into(),
            dependencies: vec![],
            text: String::new(),
        };
        let messages: Vec<String> = check(&tree, &[manifest])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(messages.contains(&"ARCHITECTURE.md: the crate `plan` is missing".to_owned()));
        assert!(
            messages
                .iter()
                .any(|m| m.starts_with("crates/plan/src/lib.rs:1: begin with"))
        );
    }
}
