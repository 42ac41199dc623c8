//! Short hashes of texts and files, to tell whether two are the same.

use sha2::{Digest, Sha256};

/// The first 128 bits of SHA-256 over the parts, each preceded by its length, in
/// hexadecimal: no two lists of parts have the same by being cut elsewhere.
pub fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize()[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart() {
        let of = |parts: &[&str]| hash(parts.iter().map(|part| part.as_bytes()));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["ab"]));
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
        assert_eq!(of(&["a"]).len(), 32);
    }
}
