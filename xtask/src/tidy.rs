//! The project rules that a machine can check.
//!
//! Each rule is a file: [`crate_edges`] (which crate may use which), [`cycles`] (which modules import
//! each other), [`heavy`] (which crates may use large dependencies), [`licenses`], [`purity`]
//! (clocks, sockets and metric names only where they belong), [`panics`], [`unsafe_code`], [`size`], [`names`],
//! [`words`], [`language`], [`test_programs`], [`documents`], [`unused_dependencies`] and
//! [`rust_version`]. A rule is a function from the [`Tree`] to its [`Finding`]s.

mod crate_edges;
mod cycles;
mod documents;
mod heavy;
mod language;
mod licenses;
mod manifest;
mod names;
mod panics;
mod purity;
mod rust_version;
mod size;
mod source;
mod test_programs;
mod tree;
mod unsafe_code;
mod unused_dependencies;
mod words;

use std::fmt;
use std::path::Path;

use tree::Tree;

/// The directories of the workspaces: the tool's, and that of the reference systems.
const WORKSPACES: &[&str] = &["", "reference-systems"];

/// Something to fix, with its location.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Relative to the root.
    path: String,
    /// From 1; 0 for the whole file.
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Finding {
            path: path.into(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// Runs every rule on the tree at `root`; returns findings sorted by location.
pub fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let tree = Tree::read(root)?;
    let mut manifests = Vec::new();
    let mut findings = Vec::new();
    for workspace in WORKSPACES {
        let metadata = manifest::metadata(&root.join(workspace))?;
        let members = manifest::of_workspace(&metadata, root);
        findings.extend(unused_dependencies::check(&tree, &members, &metadata));
        findings.extend(licenses::check(&tree, &metadata));
        manifests.extend(members);
    }
    findings.extend(crate_edges::check(&manifests));
    findings.extend(cycles::check(&tree));
    findings.extend(heavy::check(&manifests));
    findings.extend(rust_version::check(&tree));
    findings.extend(purity::check(&tree));
    findings.extend(panics::check(&tree));
    findings.extend(unsafe_code::check(&tree));
    findings.extend(size::check(&tree));
    findings.extend(names::check(&tree));
    findings.extend(words::check(&tree));
    findings.extend(language::check(&tree));
    findings.extend(test_programs::check(&tree));
    findings.extend(documents::check(&tree, &manifests));
    findings.sort();
    findings.dedup();
    Ok(findings)
}
