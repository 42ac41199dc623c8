//! The contents of a tar file as text, for comparison.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// One line for each file and link, sorted by name, followed by the lines of small text files.
/// Directories are omitted, because programs differ in which ones they list.
pub fn listing(path: &Path) -> io::Result<String> {
    let mut listed = Vec::new();
    for entry in tar::Archive::new(File::open(path)?).entries()? {
        let mut entry = entry?;
        let name = entry.path()?.display().to_string();
        let kind = entry.header().entry_type();
        if kind.is_hard_link() || kind.is_symlink() {
            let target = entry.link_name()?.unwrap_or_default().display().to_string();
            listed.push(format!("{name} -> {target}"));
        } else if kind.is_file() {
            let mut content = Vec::new();
            entry.read_to_end(&mut content)?;
            let content = String::from_utf8_lossy(&content);
            let content: String = content
                .lines()
                .map(|line| format!("\n    {line}"))
                .collect();
            listed.push(format!("{name}:{content}"));
        }
    }
    listed.sort();
    Ok(listed.join("\n"))
}
