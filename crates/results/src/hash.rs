//! Short hashes of strings and files, to detect whether two of them are equal.

use std::io::Read;

use sha2::{Digest, Sha256};

/// The first 128 bits of SHA-256 over the parts, in hexadecimal. Each part is prefixed with its
/// length, so that different splits of the same text have different hashes.
pub fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    shortened(digest)
}

/// Hashes the contents of `input`, as one part of unknown length.
///
/// # Errors
/// Returns an error if the input cannot be read to its end.
pub fn of_reader(mut input: impl Read) -> std::io::Result<String> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match input.read(&mut piece) {
            Ok(0) => return Ok(shortened(digest)),
            Ok(read) => digest.update(piece.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn shortened(digest: Sha256) -> String {
    digest.finalize()[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_distinguished() {
        let of = |parts: &[&str]| hash(parts.iter().map(|part| part.as_bytes()));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["ab"]));
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
        assert_eq!(of(&["a"]).len(), 32);
    }

    #[test]
    fn a_reader_is_read_to_its_end() {
        let long = vec![7; 200_000];
        let of = |bytes: &[u8]| of_reader(bytes).unwrap();
        assert_eq!(of(&long), of(&long));
        assert_ne!(of(&long), of(&long[1..]));
        // The first 128 bits of the SHA-256 hash of the empty input (FIPS 180-4).
        assert_eq!(of(b""), "e3b0c44298fc1c149afbf4c8996fb924");
    }
}
