//! Rejects import cycles in the product: top-level modules of a crate may not use each other, directly or through
//! others. A module is a file in `src` together with the folder of the same name.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::tree::{File, Tree};

/// Crates that still have cycles.
const UNCHECKED: &[&str] = &["crates/quickjs"];

/// The modules that each module uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Finds the cycles of every crate, and exceptions that are no longer needed.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in tree.rust().filter(|file| !file.is_test) {
        let folder = file.crate_dir();
        let inside = file.path.strip_prefix(folder).unwrap_or_default();
        let is_of_product = folder.starts_with("crates/");
        if is_of_product && inside.starts_with("/src/") && !inside.starts_with("/src/bin/") {
            crates.entry(folder).or_default().push(file);
        }
    }
    let mut findings = Vec::new();
    for (folder, files) in crates {
        let cycles = cycles(&graph(folder, &files));
        if !UNCHECKED.contains(&folder) {
            findings.extend(cycles.iter().map(|modules| {
                Finding::new(
                    folder,
                    0,
                    format!(
                        "its modules {} import each other: move what they share to a module below them",
                        modules.join(", ")
                    ),
                )
            }));
        } else if cycles.is_empty() {
            let message =
                "has no import cycle: remove it from the list in xtask/src/tidy/cycles.rs";
            findings.push(Finding::new(folder, 0, message));
        }
    }
    findings
}

fn graph(folder: &str, files: &[&File]) -> Graph {
    let module = |file: &File| {
        let path = file.path.strip_prefix(folder).unwrap_or_default();
        let path = path.trim_start_matches("/src/").trim_end_matches(".rs");
        path.split('/').next().unwrap_or_default().to_owned()
    };
    let is_root = |name: &str| matches!(name, "lib" | "main");
    let mut graph: Graph = files
        .iter()
        .map(|file| (module(file), BTreeSet::new()))
        .collect();
    graph.retain(|name, _| !is_root(name));
    // The names that the root re-exports, with the modules that define them.
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    for root in files.iter().filter(|file| is_root(&module(file))) {
        let code = code(root);
        for name in graph.keys() {
            for part in code.split(&format!("use {name}::")).skip(1) {
                let reexports = part.split(';').next().unwrap_or_default();
                for word in reexports.split(|c: char| !c.is_alphanumeric() && c != '_') {
                    owners
                        .entry(word.to_owned())
                        .or_insert_with(|| name.clone());
                }
            }
        }
    }
    for file in files {
        let name = module(file);
        let code = code(file);
        for used in paths(&code, "crate::") {
            let used = match owners.get(&used) {
                Some(owner) if !graph.contains_key(&used) => owner.clone(),
                _ => used,
            };
            if used != name && graph.contains_key(&used) && !is_root(&name) {
                graph.entry(name.clone()).or_default().insert(used);
            }
        }
    }
    graph
}

fn code(file: &File) -> String {
    let lines = file.rust_lines().into_iter().filter(|line| !line.in_test);
    lines.map(|line| line.code + "\n").collect()
}

/// The first names of the paths that follow `prefix`: `a` of `crate::a::b`, `a` and `c` of
/// `crate::{a::b, c}`.
fn paths(code: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code.get(..at).and_then(|text| text.chars().next_back());
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = code.get(at + prefix.len()..).unwrap_or_default();
        let Some(group) = rest.strip_prefix('{') else {
            names.push(word(rest));
            continue;
        };
        let mut depth = 0usize;
        let mut is_start = true;
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => is_start = true,
                c if c.is_whitespace() => {}
                _ if is_start && depth == 0 => {
                    names.push(word(group.get(at..).unwrap_or_default()));
                    is_start = false;
                }
                _ => {}
            }
        }
    }
    names
}

fn word(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

/// The groups of modules that import each other.
fn cycles(graph: &Graph) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph
        .keys()
        .map(|name| (name, reachable(graph, name)))
        .collect();
    let reaches = |a: &String, b: &String| reached.get(a).is_some_and(|all| all.contains(b));
    let groups: BTreeSet<Vec<String>> = graph
        .keys()
        .filter(|name| reaches(name, name))
        .map(|name| {
            let members = graph.keys();
            members
                .filter(|other| reaches(name, other) && reaches(other, name))
                .cloned()
                .collect()
        })
        .collect();
    groups.into_iter().collect()
}

fn reachable<'a>(graph: &'a Graph, from: &String) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&String> = graph.get(from).into_iter().flatten().collect();
    while let Some(name) = next.pop() {
        if found.insert(name) {
            next.extend(graph.get(name).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let findings = check(&Tree::of(files));
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_cycle_through_groups_and_reexports_is_found() {
        let found = messages(&[
            (
                "crates/a/src/lib.rs",
                "mod b;\nmod c;\nmod d;\npub use d::{Dee, other::Thing};\n",
            ),
            (
                "crates/a/src/b.rs",
                "use crate::{\n    c::{self, X},\n    e,\n};\n",
            ),
            ("crates/a/src/c.rs", "use crate::Thing;\n"),
            ("crates/a/src/d/mod.rs", ""),
            ("crates/a/src/d/other.rs", "fn f() { crate::b::g(); }\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("its modules b, c, d import each other"),
            "{found:?}"
        );
    }

    #[test]
    fn tests_comments_and_other_crates_are_not_imports() {
        let found = messages(&[
            ("crates/a/src/lib.rs", "mod b;\nmod c;\n"),
            ("crates/a/src/b.rs", "use crate::c::X;\n"),
            (
                "crates/a/src/c.rs",
                "// crate::b\nuse other_crate::b;\nuse mycrate::b;\n#[cfg(test)]\nmod tests { use crate::b; }\n",
            ),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn an_exception_that_is_not_needed_is_found() {
        for folder in UNCHECKED {
            let (root, module) = (format!("{folder}/src/lib.rs"), format!("{folder}/src/b.rs"));
            let found = messages(&[(&module, ""), (&root, "mod b;")]);
            assert!(
                found
                    .iter()
                    .any(|text| text.contains("remove it from the list")),
                "{found:?}"
            );
        }
    }
}
