//! Untrusted input must not cause a panic: an `unwrap` or `expect` in product code needs a comment
//! above it that explains why it cannot fail. Disabled tests are rejected.

use super::Finding;
use super::source::Line;
use super::tree::Tree;

/// Programs of this workspace that only developers use.
const FOR_DEVELOPERS: &[&str] = &[
    "xtask",
    "bench",
    "fuzz",
    "crates/testkit",
    "crates/testground",
    "reference-systems/fuzz",
];

/// Calls that panic, and what to do instead.
const CALLS: &[(&str, &str)] = &[
    (
        ".unwrap()",
        "return an error, or say in a comment why it cannot fail",
    ),
    (
        ".expect(",
        "return an error, or say in a comment why it cannot fail",
    ),
    (
        ".unwrap_err()",
        "return an error, or say in a comment why it cannot fail",
    ),
    (
        "panic!(",
        "return an error, or say in a comment why this is never reached",
    ),
    (
        "unreachable!(",
        "say in a comment why this is never reached, or make it impossible by type",
    ),
];

/// Rejected everywhere, including tests. Written in two parts, so that this file does not match.
const NEVER: &[(&str, &str)] = &[
    (
        concat!("todo", "!("),
        "write it, or leave the feature out and say so by an error",
    ),
    (
        concat!("unimplemented", "!("),
        "write it, or leave the feature out and say so by an error",
    ),
    (
        concat!("#[", "ignore"),
        "fix or delete a test that does not run",
    ),
];

/// Checks every Rust file.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let lines = file.rust_lines();
        let free = FOR_DEVELOPERS.contains(&file.crate_dir()) || file.path.ends_with("build.rs");
        for (index, line) in lines.iter().enumerate() {
            for (call, instead) in NEVER.iter().filter(|(call, _)| line.code.contains(call)) {
                findings.push(Finding::new(
                    &file.path,
                    line.number,
                    format!("`{call}`: {instead}"),
                ));
            }
            if line.in_test || free {
                continue;
            }
            for (call, instead) in CALLS.iter().filter(|(call, _)| line.code.contains(call)) {
                if !explained(&lines, index) {
                    findings.push(Finding::new(
                        &file.path,
                        line.number,
                        format!("`{call}`: {instead}"),
                    ));
                }
            }
        }
    }
    findings
}

/// Whether the statement at line `index` has a comment: on one of its lines, or directly above.
fn explained(lines: &[Line], index: usize) -> bool {
    let comment = |at: usize| {
        lines
            .get(at)
            .is_some_and(|line| !line.comment.trim().is_empty() && !is_doc(line))
    };
    let mut at = index;
    loop {
        if comment(at) {
            return true;
        }
        let Some(above) = at.checked_sub(1) else {
            return false;
        };
        let code = lines.get(above).map_or("", |line| line.code.trim_end());
        let is_end = code.ends_with([';', '{', '}']) || (code.trim().is_empty() && !comment(above));
        if is_end {
            return false;
        }
        at = above;
    }
}

/// Documentation of an item does not explain a panic in it.
fn is_doc(line: &Line) -> bool {
    line.comment.starts_with(['/', '!'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: [usize; 0] = [];

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)]))
            .into_iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn an_unexplained_panic_is_found() {
        assert_eq!(
            found("crates/http/src/a.rs", "fn f() {\n  g().unwrap();\n}\n"),
            [2]
        );
        assert_eq!(
            found(
                "crates/http/src/a.rs",
                "/// Docs.\nfn f() { g().expect(\"x\") }\n"
            ),
            [2]
        );
    }

    #[test]
    fn a_comment_next_to_or_above_the_statement_explains_it() {
        assert_eq!(
            found("crates/http/src/a.rs", "  g().unwrap(); // Just pushed.\n"),
            NOTHING
        );
        let text = "fn f() {\n  // Just pushed.\n  a.b()\n    .c()\n    .unwrap();\n}\n";
        assert_eq!(found("crates/http/src/a.rs", text), NOTHING);
        let text = "fn f() {\n  // About h.\n  h();\n  g().unwrap();\n}\n";
        assert_eq!(found("crates/http/src/a.rs", text), [4]);
    }

    #[test]
    fn tests_and_developers_tools_are_free() {
        assert_eq!(found("crates/http/tests/a.rs", "g().unwrap();"), NOTHING);
        assert_eq!(found("bench/src/a.rs", "g().unwrap();"), NOTHING);
        assert_eq!(
            found(
                "crates/http/src/a.rs",
                "#[test]\nfn t() {\n g().unwrap();\n}\n"
            ),
            NOTHING
        );
    }

    #[test]
    fn a_switched_off_test_is_found_even_in_tests() {
        assert_eq!(
            found(
                "crates/http/tests/a.rs",
                concat!("#[test]\n#[", "ignore]\nfn a() {}")
            ),
            [2]
        );
    }
}
