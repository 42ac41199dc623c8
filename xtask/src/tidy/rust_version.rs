//! The stated minimum version of Rust must be the version with which everything is built and tested.

use super::Finding;
use super::tree::Tree;

const MANIFESTS: &[&str] = &["Cargo.toml", "reference-systems/Cargo.toml"];
const TOOLCHAIN: &str = "rust-toolchain.toml";

/// Checks that `rust-version` in each workspace's manifest is the release in `rust-toolchain.toml`,
/// which rustup installs for every build, including those in CI.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some((_, built)) = value(tree, TOOLCHAIN, "channel") else {
        return vec![Finding::new(TOOLCHAIN, 0, "channel is missing")];
    };
    let mut findings = Vec::new();
    for manifest in MANIFESTS {
        match value(tree, manifest, "rust-version") {
            Some((line, stated))
                if built != stated && !built.starts_with(&format!("{stated}.")) =>
            {
                let message = format!(
                    "rust-version is {stated}, but {TOOLCHAIN} builds with {built}; state the \
                     version that is tested"
                );
                findings.push(Finding::new(*manifest, line, message));
            }
            None => findings.push(Finding::new(*manifest, 0, "rust-version is missing")),
            Some(_) => {}
        }
    }
    findings
}

/// The value of `key = "value"` in a file at the root, with its line.
fn value(tree: &Tree, path: &str, key: &str) -> Option<(usize, String)> {
    let file = tree.files.iter().find(|file| file.path == path)?;
    file.text.lines().enumerate().find_map(|(index, line)| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then(|| (index + 1, value.trim().trim_matches('"').to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(stated: &str, built: &str) -> Vec<usize> {
        let manifest = |stated: &str| format!("[workspace.package]\nrust-version = \"{stated}\"\n");
        let tree = Tree::of(&[
            (MANIFESTS[0], &manifest(stated)),
            (MANIFESTS[1], &manifest(built)),
            (TOOLCHAIN, &format!("[toolchain]\nchannel = \"{built}\"\n")),
        ]);
        check(&tree)
            .into_iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn the_stated_version_must_be_the_tested_one() {
        assert!(lines("1.95", "1.95.0").is_empty());
        assert!(lines("1.95.1", "1.95.1").is_empty());
        assert_eq!(lines("1.9", "1.95.0"), [2]);
        assert_eq!(lines("1.90", "1.95.0"), [2]);
        assert_eq!(lines("1.95", "stable"), [2]);
    }

    #[test]
    fn both_versions_must_be_stated() {
        assert_eq!(check(&Tree::of(&[])).len(), 1);
        let toolchain = (TOOLCHAIN, "channel = \"1.95.0\"\n");
        assert_eq!(check(&Tree::of(&[toolchain])).len(), 2);
        let stated = (MANIFESTS[0], "rust-version = \"1.95\"\n");
        assert_eq!(check(&Tree::of(&[toolchain, stated])).len(), 1);
    }
}
