//! Compares text with the contents of a file.

use std::fs;
use std::path::Path;

/// Set it to 1 to write the snapshots, and review the diff before committing.
const UPDATE: &str = "UPDATE_SNAPSHOTS";

/// Compares `text` with the file at `path`.
///
/// # Panics
/// If they differ. The message shows both and the first differing line.
pub fn compare(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(path, text))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let expected = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{}: {error}; write it with {UPDATE}=1", path.display()));
    if expected == text {
        return;
    }
    let line = expected
        .lines()
        .zip(text.lines())
        .position(|(expected, got)| expected != got);
    let line = line.unwrap_or_else(|| expected.lines().count().min(text.lines().count())) + 1;
    panic!(
        "{} differs, first at line {line} (review both, then accept the new one with {UPDATE}=1)\n\
         ---- expected\n{expected}\n---- got\n{text}",
        path.display()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "first at line 2")]
    fn a_difference_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "one\ntwo\n").unwrap();
        compare(&path, "one\ntwo\n");
        compare(&path, "one\nthree\n");
    }
}
