//! File sizes: most are under 300 lines, and 600 is the limit. The size of the command line's crate.

use super::Finding;
use super::tree::Tree;

const LIMIT: usize = 600;

/// A crate that only connects others: arguments, a call, the exit status.
const THIN: &str = "crates/cli/src/";
const THIN_LIMIT: usize = 4000;

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
    let thin = tree.rust().filter(|file| file.path.starts_with(THIN));
    let count: usize = thin.map(|file| file.text.lines().count()).sum();
    if count > THIN_LIMIT {
        findings.push(Finding::new(
            THIN,
            0,
            format!("{count} lines, over {THIN_LIMIT}: move everything but arguments, calls and printing to other crates"),
        ));
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

    #[test]
    fn the_command_line_stays_thin() {
        let half = "x\n".repeat(THIN_LIMIT / 10);
        let files: Vec<(String, &str)> = (0..11)
            .map(|number| (format!("{THIN}{number}.rs"), half.as_str()))
            .collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        assert_eq!(check(&Tree::of(&files[..10])).len(), 0);
        let message = &check(&Tree::of(&files))[0].message;
        let lines = format!("{} lines", THIN_LIMIT / 10 * 11);
        assert!(message.starts_with(&lines), "{message}");
    }
}
