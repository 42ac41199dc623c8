//! The files under version control, read once.

use std::path::Path;
use std::process::Command;

use super::source::{self, Line};

/// One text file of the tree.
pub struct File {
    /// Relative to the root, with forward slashes.
    pub path: String,
    pub text: String,
    /// Whether the whole file is a test, only supports tests, or is an example or a benchmark.
    pub is_test: bool,
}

impl File {
    fn new(path: &str, text: String) -> File {
        File {
            path: path.to_owned(),
            text,
            is_test: is_test_path(path),
        }
    }

    /// The lines of a Rust file, divided into code, comment and test.
    pub fn rust_lines(&self) -> Vec<Line> {
        let mut lines = source::lines(&self.text);
        if self.is_test {
            lines.iter_mut().for_each(|line| line.in_test = true);
        }
        lines
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The crate's directory, as `crates/http`; empty for files outside crates.
    pub fn crate_dir(&self) -> &str {
        let parts: Vec<&str> = self.path.split('/').collect();
        let depth = match parts.first() {
            Some(&("crates" | "reference-systems")) => 2,
            Some(&("bench" | "xtask" | "fuzz")) => 1,
            _ => return "",
        };
        let length = parts
            .iter()
            .take(depth)
            .map(|part| part.len() + 1)
            .sum::<usize>();
        self.path.get(..length.saturating_sub(1)).unwrap_or("")
    }
}

/// Every tracked or new text file that is not ignored.
pub struct Tree {
    pub files: Vec<File>,
    /// The paths of tracked or new files that are not text, such as pictures.
    other: Vec<String>,
}

impl Tree {
    /// Lists the files with git, so that ignored files are not checked.
    pub fn read(root: &Path) -> Result<Tree, String> {
        let listing = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cannot run git to list the files: {error}"))?;
        if !listing.status.success() {
            return Err(format!(
                "git ls-files: {}",
                String::from_utf8_lossy(&listing.stderr)
            ));
        }
        let mut files = Vec::new();
        let mut other = Vec::new();
        for path in String::from_utf8_lossy(&listing.stdout).split('\0') {
            if path.is_empty() || path.starts_with("vendor/") || path.contains("fuzz/corpora/") {
                continue;
            }
            // Skip files that are deleted but still in the index.
            let Ok(bytes) = std::fs::read(root.join(path)) else {
                continue;
            };
            match String::from_utf8(bytes) {
                Ok(text) => files.push(File::new(path, text)),
                Err(_) => other.push(path.to_owned()),
            }
        }
        Ok(Tree::new(files, other))
    }

    fn new(mut files: Vec<File>, other: Vec<String>) -> Tree {
        let for_tests: Vec<String> = files
            .iter()
            .filter(|file| file.is_rust())
            .flat_map(test_modules)
            .collect();
        for file in &mut files {
            file.is_test |= for_tests.iter().any(|stem| {
                file.path == format!("{stem}.rs") || file.path.starts_with(&format!("{stem}/"))
            });
        }
        Tree { files, other }
    }

    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// Whether a file or a directory with files exists at `path`.
    pub fn has(&self, path: &str) -> bool {
        let texts = self.files.iter().map(|file| file.path.as_str());
        let mut all = texts.chain(self.other.iter().map(String::as_str));
        all.any(|there| {
            let rest = there.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Tree {
        Tree::new(
            files
                .iter()
                .map(|&(path, text)| File::new(path, text.to_owned()))
                .collect(),
            vec!["picture.png".to_owned()],
        )
    }
}

fn is_test_path(path: &str) -> bool {
    path.split('/')
        .any(|part| matches!(part, "tests" | "benches" | "examples"))
        || path.ends_with("/tests.rs")
        || path.ends_with("_tests.rs")
}

/// The paths, without extension, of the modules that `file` declares only for tests: `#[cfg(test)]
/// mod name;`.
fn test_modules(file: &File) -> Vec<String> {
    let parent = match file.path.rsplit_once('/') {
        Some((folder, "mod.rs" | "lib.rs" | "main.rs")) => folder,
        _ => file.path.trim_end_matches(".rs"),
    };
    let declared = |line: &Line| {
        let code = line.code.replace("#[cfg(test)]", "");
        let name = code
            .trim()
            .strip_suffix(';')?
            .rsplit_once("mod ")?
            .1
            .to_owned();
        line.in_test.then(|| format!("{parent}/{name}"))
    };
    source::lines(&file.text)
        .iter()
        .filter_map(declared)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_for_tests_alone_are_known() {
        let tree = Tree::of(&[
            (
                "crates/a/src/b.rs",
                "#[cfg(test)]\nmod testing;\nmod proper;\n",
            ),
            ("crates/a/src/b/testing.rs", ""),
            ("crates/a/src/b/testing/more.rs", ""),
            ("crates/a/src/b/proper.rs", ""),
            ("crates/a/src/lib.rs", "#[cfg(test)] mod kit;"),
            ("crates/a/src/kit.rs", ""),
            ("crates/a/tests/c.rs", ""),
        ]);
        let tests: Vec<_> = tree
            .files
            .iter()
            .filter(|f| f.is_test)
            .map(|f| f.path.as_str())
            .collect();
        assert_eq!(
            tests,
            [
                "crates/a/src/b/testing.rs",
                "crates/a/src/b/testing/more.rs",
                "crates/a/src/kit.rs",
                "crates/a/tests/c.rs"
            ]
        );
    }

    #[test]
    fn a_file_knows_its_crate() {
        let dir = |path: &str| Tree::of(&[(path, "")]).files[0].crate_dir().to_owned();
        assert_eq!(dir("crates/http/src/h1/parse.rs"), "crates/http");
        assert_eq!(
            dir("reference-systems/serve/build.rs"),
            "reference-systems/serve"
        );
        assert_eq!(dir("xtask/src/main.rs"), "xtask");
        assert_eq!(dir("docs/performance.md"), "");
    }
}
