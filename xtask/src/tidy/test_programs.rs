//! Checks `scripts/test-programs`, which lists tests by name: if a test is renamed, its line must
//! change, too.

use super::Finding;
use super::tree::Tree;

const TABLE: &str = "scripts/test-programs";

/// Checks that each listed test exists and names a program.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(table) = tree.files.iter().find(|file| file.path == TABLE) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (index, line) in table.text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(test) = words.next().filter(|test| !test.starts_with('#')) else {
            continue;
        };
        let function = format!("fn {}(", test.rsplit("::").next().unwrap_or(test));
        if !tree.rust().any(|file| file.text.contains(&function)) {
            let message = format!("no test is named {test}; correct the name or delete the line");
            findings.push(Finding::new(TABLE, index + 1, message));
        }
        if words.next().is_none() {
            let message = format!("{test} needs at least one program; name it after the test");
            findings.push(Finding::new(TABLE, index + 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_tests_and_missing_programs_are_found() {
        let tree = Tree::of(&[
            (TABLE, "# comment\nfirst caddy\na::second\na::third caddy\n"),
            ("crates/a/tests/b.rs", "fn first() {}\nfn second() {}\n"),
        ]);
        let lines: Vec<usize> = check(&tree).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [3, 4]);
    }
}
