//! File sizes: most are under 300 lines, and 600 is the limit.

use super::Finding;
use super::tree::Tree;

const LIMIT: usize = 600;

/// Files that may be longer, each with its reason.
const LONGER: &[(&str, &str)] = &[];

/// Finds source files over the limit, and exceptions that no longer apply.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let sources = tree.files.iter().filter(|file| {
        let recorded = ["cases/", "fuzz/corpora/", "bench/"]
            .iter()
            .any(|dir| file.path.starts_with(dir));
        let source = [".rs", ".js", ".ts", ".sh"]
            .iter()
            .any(|end| file.path.ends_with(end));
        source && (!recorded || file.is_rust())
    });
    for file in sources {
        let count = file.text.lines().count();
        let excused = LONGER.iter().any(|(path, _)| *path == file.path);
        if count > LIMIT && !excused {
            findings.push(Finding::new(
                &file.path,
                0,
                format!("{count} lines, over {LIMIT}: split it along its concepts, or list it with a reason in xtask/src/tidy/size.rs"),
            ));
        } else if count <= LIMIT && excused {
            findings.push(Finding::new(
                &file.path,
                0,
                "no longer over the limit: take it off the list in xtask/src/tidy/size.rs",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_sources_are_found() {
        let long = "x\n".repeat(LIMIT + 1);
        let short = "x\n".repeat(LIMIT);
        let tree = Tree::of(&[
            ("crates/a/src/long.rs", &long),
            ("crates/a/src/short.rs", &short),
            ("docs/long.md", &long),
            ("cases/long/script.js", &long),
        ]);
        let findings = check(&tree);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.starts_with("601 lines"));
    }
}
