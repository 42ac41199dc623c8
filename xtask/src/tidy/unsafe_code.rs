//! Unsafe code is only where it has to be, and a comment above each use says why it is sound.

use super::Finding;
use super::source::Line;
use super::tree::Tree;

/// The files and directories with unsafe code. A directory ends with `/`.
const PLACES: &[&str] = &[
    // Measures the cost of system calls.
    "bench/src/syscalls.rs",
    // Reads the processor time of its thread.
    "crates/http/examples/closed_loop.rs",
    // Socket options and statistics of the kernel that no safe crate covers.
    "crates/iperf/src/kernel.rs",
    "crates/net/src/stamped.rs",
    "crates/net/src/uring/",
    "crates/netem/src/priority.rs",
    // Only async-signal-safe calls are allowed between fork and exec.
    "crates/lab/src/run/start.rs",
    // The JavaScript engine is written in C.
    "crates/quickjs/",
    "crates/quickjs-sys/",
    // An allocator that counts, for a test.
    "crates/samples/tests/allocations/counting.rs",
    // The allocator calls it when memory runs out.
    "crates/terminal/src/out_of_memory.rs",
    // The entry point that libFuzzer calls.
    "fuzz/src/main.rs",
];

/// Beginnings of unsafe blocks and implementations. An unsafe function only passes the duty to its callers.
const USES: &[&str] = &["unsafe {", "unsafe impl"];

/// Checks every Rust file.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let is_place = PLACES.iter().any(|place| is_in(&file.path, place));
        let lines = file.rust_lines();
        for (index, line) in lines.iter().enumerate() {
            if !has_unsafe(&line.code) {
                continue;
            }
            let message = if !is_place {
                "unsafe code outside the places for it: xtask/src/tidy/unsafe_code.rs lists them"
            } else if USES.iter().any(|start| line.code.contains(start))
                && !explained(&lines, index)
            {
                "say in a comment above, `// SAFETY: …`, why this is sound"
            } else {
                continue;
            };
            findings.push(Finding::new(&file.path, line.number, message));
        }
    }
    findings
}

fn is_in(path: &str, place: &str) -> bool {
    path == place || (place.ends_with('/') && path.starts_with(place))
}

/// Whether the keyword is in the code: not in a longer name such as `unsafe_code`.
fn has_unsafe(code: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word == "unsafe")
}

/// Whether a comment with `SAFETY` is above the use, without a blank line between: one comment may cover several statements in
/// a row. `SAFETY (all …)` covers what follows in the file.
fn explained(lines: &[Line], index: usize) -> bool {
    let above = lines.get(..=index).unwrap_or_default();
    if above
        .iter()
        .any(|line| line.comment.contains("SAFETY (all"))
    {
        return true;
    }
    above
        .iter()
        .rev()
        .take_while(|line| !(line.code.trim().is_empty() && line.comment.is_empty()))
        .any(|line| line.comment.contains("SAFETY"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)]))
            .into_iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn unsafe_code_is_only_in_its_places() {
        let text = "fn f() {\n  // SAFETY: nothing is read.\n  unsafe { g() }\n}\n";
        assert_eq!(found("crates/http/src/a.rs", text), [3]);
        assert_eq!(found("crates/net/src/uring/ring.rs", text), [0; 0]);
        assert_eq!(
            found("crates/http/src/a.rs", "#![deny(unsafe_code)]\n"),
            [0; 0]
        );
        assert_eq!(
            found("crates/http/src/a.rs", "// unsafe { }\nfn f() {}\n"),
            [0; 0]
        );
    }

    #[test]
    fn each_use_has_a_reason() {
        let path = "crates/quickjs/src/a.rs";
        assert_eq!(found(path, "fn f() {\n  unsafe { g() }\n}\n"), [2]);
        let other = "// SAFETY: of another function.\nfn e() {}\n\nfn f() {\n  unsafe { g() }\n}\n";
        assert_eq!(found(path, other), [5]);
        assert_eq!(
            found(path, "// SAFETY: no state.\nunsafe impl Send for A {}\n"),
            [0; 0]
        );
        assert_eq!(
            found(path, "/// # Safety\n///\n/// As `g`.\npub unsafe fn f();\n"),
            [0; 0]
        );
    }
}
