//! Rejects dependencies that no code of their crate names, because every build compiles them.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::Finding;
use super::manifest::Manifest;
use super::tree::Tree;

/// Dependencies that no code names, with the reason why they are needed.
const NEEDED: &[(&str, &str, &str)] = &[
    ("serve", "prost", GENERATED),
    ("serve", "tonic-prost", GENERATED),
    ("zanzibar", "tonic-prost", GENERATED),
    (
        "systems-fuzz",
        "libfuzzer-sys",
        "the harness, fuzz/src/main.rs, uses it",
    ),
    ("systems-fuzz", "cc", SAME_FEATURES),
    ("fuzz", "cc", SAME_FEATURES),
    ("fuzz", "rsa", SAME_FEATURES),
    ("cli", "h3-quinn", HTTP3_SERVER),
    ("cli", "quinn", HTTP3_SERVER),
    ("cli", "rcgen", HTTP3_SERVER),
    ("cli", "tokio-rustls", HTTP3_SERVER),
];

const GENERATED: &str = "the code that build.rs generates uses it";
const SAME_FEATURES: &str = "its features let the sanitized build share crates with the tests";
const HTTP3_SERVER: &str = "a test includes the server in crates/http/tests/peer, which uses it";

/// Checks every crate of the workspace. `metadata` is the output of `cargo metadata`.
pub fn check(tree: &Tree, manifests: &[Manifest], metadata: &Value) -> Vec<Finding> {
    let libraries = libraries(metadata);
    let mut findings = Vec::new();
    for manifest in manifests {
        let names = names_in(tree, &manifest.path);
        for dependency in &manifest.dependencies {
            let library = libraries.get(dependency.package.as_str());
            let name = match (&dependency.renamed, library) {
                (Some(renamed), _) => renamed.replace('-', "_"),
                (None, Some(library)) => library.clone(),
                (None, None) => dependency.package.replace('-', "_"),
            };
            let is_needed = NEEDED.iter().any(|(user, package, _)| {
                *user == manifest.short_name() && *package == dependency.package
            });
            if names.contains(&name) || is_needed {
                continue;
            }
            let line = manifest.line_of(dependency.renamed.as_ref().unwrap_or(&dependency.package));
            let message = format!(
                "no code of this crate names '{name}'; remove the dependency, or list it in \
                 unused_dependencies.rs with the reason"
            );
            findings.push(Finding::new(&manifest.path, line, message));
        }
    }
    findings
}

/// The name of each package's library in code, which may differ from the package's: `md5` of
/// `md-5`.
fn libraries(metadata: &Value) -> HashMap<&str, String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter_map(|package| Some((package["name"].as_str()?, library_of(package)?)))
        .collect()
}

fn library_of(package: &Value) -> Option<String> {
    let is_library = |target: &&Value| {
        let kinds = target["kind"].as_array().into_iter().flatten();
        kinds
            .filter_map(Value::as_str)
            .any(|kind| kind.ends_with("lib") || kind == "proc-macro")
    };
    let library = package["targets"].as_array()?.iter().find(is_library)?;
    Some(library["name"].as_str()?.replace('-', "_"))
}

/// Every identifier in the code of the crate whose manifest is at `manifest`.
fn names_in(tree: &Tree, manifest: &str) -> BTreeSet<String> {
    let folder = manifest.trim_end_matches("Cargo.toml");
    let mut names = BTreeSet::new();
    for file in tree.rust().filter(|file| file.path.starts_with(folder)) {
        for line in file.rust_lines() {
            let words = line.code.split(|c: char| !c.is_alphanumeric() && c != '_');
            names.extend(words.map(str::to_owned));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::manifest::Dependency;

    fn findings(code: &str, package: &str, renamed: Option<&str>) -> Vec<usize> {
        let tree = Tree::of(&[("crates/a/src/lib.rs", code)]);
        let manifest = Manifest {
            package: "plimsoll-a".to_owned(),
            path: "crates/a/Cargo.toml".to_owned(),
            dependencies: vec![Dependency {
                package: package.to_owned(),
                renamed: renamed.map(str::to_owned),
                dev: false,
                ours: false,
            }],
            text: format!("[dependencies]\n{package} = \"1\"\n"),
        };
        let metadata = serde_json::json!({"packages": [
            {"name": "md-5", "targets": [{"kind": ["lib"], "name": "md5"}]},
            {"name": "serde-x", "targets": [{"kind": ["lib"], "name": "serde-x"}]},
        ]});
        let found = check(&tree, &[manifest], &metadata);
        found.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_dependency_that_no_code_names_is_found_at_its_line() {
        assert_eq!(findings("// md5\nlet a = \"md5\";\n", "md-5", None), [2]);
        assert_eq!(findings("use md5_other;\n", "md-5", None), [2]);
    }

    #[test]
    fn libraries_count_by_their_names_in_code() {
        assert!(findings("use md5::Md5;\n", "md-5", None).is_empty());
        assert!(findings("serde_x::a();\n", "serde-x", None).is_empty());
        assert!(findings("use digest::Md5;\n", "md-5", Some("digest")).is_empty());
    }
}
