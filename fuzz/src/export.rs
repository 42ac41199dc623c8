//! Writes libFuzzer's initial inputs and the dictionary of each target.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use crate::TARGETS;

/// Writes `<directory>/<target>/first-N` for every input in the code, and `<directory>/<target>.dict`.
///
/// # Errors
/// If the directory cannot be written.
pub fn write_all(directory: &Path) -> io::Result<()> {
    for target in TARGETS {
        let folder = directory.join(target.name);
        fs::create_dir_all(&folder)?;
        for (index, seed) in target.seeds.iter().enumerate() {
            fs::write(folder.join(format!("first-{index}")), seed)?;
        }
        let dictionary: String = target
            .words
            .iter()
            .map(|word| dictionary_entry(word))
            .collect();
        fs::write(directory.join(format!("{}.dict", target.name)), dictionary)?;
    }
    Ok(())
}

/// One line of a dictionary in libFuzzer's format.
fn dictionary_entry(word: &str) -> String {
    let mut line = String::from("\"");
    for byte in word.bytes() {
        match byte {
            b'"' | b'\\' => _ = write!(line, "\\{}", char::from(byte)),
            b' '..=b'~' => line.push(char::from(byte)),
            _ => _ = write!(line, "\\x{byte:02x}"),
        }
    }
    line + "\"\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_escaped() {
        assert_eq!(dictionary_entry("a\"\\\r\n"), "\"a\\\"\\\\\\x0d\\x0a\"\n");
    }
}
