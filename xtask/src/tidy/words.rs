//! Rejects forbidden words, and printing from crates that may not print.

use super::Finding;
use super::tree::Tree;

/// Rejected parts of a line, and what to do instead. Written in two parts, so that this file does
/// not match.
const WORDS: &[(&str, &str)] = &[
    (
        concat!("../", "shared"),
        "do not refer to files outside the repository",
    ),
    (
        concat!("/work", "/wt"),
        "do not name directories of one machine",
    ),
    (concat!("<<<<", "<<< "), "finish the merge"),
    (
        concat!("FIX", "ME"),
        "fix it, or document the gap for users",
    ),
    (concat!("XX", "X:"), "fix it, or document the gap for users"),
    (
        concat!("TO", "DO:"),
        "do it, or write down what is left out where a reader looks",
    ),
];

/// Crates that may print with macros: developers' tools. The program prints through the crate `terminal`.
const PRINTERS: &[&str] = &["xtask", "bench", "fuzz"];

/// Checks every text file.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        // Recorded output of other programs stays unchanged.
        if file.path.starts_with("cases/") || file.path == "Cargo.lock" {
            continue;
        }
        for (index, text) in file.text.lines().enumerate() {
            for (word, instead) in WORDS.iter().filter(|(word, _)| text.contains(word)) {
                findings.push(Finding::new(
                    &file.path,
                    index + 1,
                    format!("`{word}`: {instead}"),
                ));
            }
        }
        // A build script prints its instructions to cargo.
        let printer = PRINTERS.contains(&file.crate_dir()) || file.path.ends_with("/build.rs");
        if file.is_rust() && !printer {
            for line in file.rust_lines().iter().filter(|line| !line.in_test) {
                let prints = ["println!(", "print!(", "eprintln!(", "eprint!(", "dbg!("];
                if let Some(call) = prints.iter().find(|call| line.code.contains(*call)) {
                    let message = format!(
                        "`{call}`: only `cli` prints, through the crate `terminal`; return the text to the caller"
                    );
                    findings.push(Finding::new(&file.path, line.number, message));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_words_are_found_with_their_line() {
        let text = concat!("fine\nsee ../", "shared/x\n");
        let findings = check(&Tree::of(&[("docs/a.md", text), ("cases/a/out", text)]));
        assert_eq!(findings.iter().map(|f| f.line).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn printing_outside_developers_tools_is_found() {
        let text = "fn a() { println!(\"x\"); }\n";
        let tree = Tree::of(&[("crates/http/src/a.rs", text), ("bench/src/a.rs", text)]);
        assert_eq!(check(&tree).len(), 1);
    }
}
