//! Modules from the network, with a cache on disk.

use std::path::{Path, PathBuf};

use plimsoll_script::{Fetch, Integrity};

/// Returns a function that fetches modules through the cache, or only from the cache if `offline`. It trusts
/// `authorities` (PEM) in addition to the system's.
pub fn fetcher(offline: bool, authorities: Vec<Vec<u8>>) -> Fetch {
    Box::new(move |address| {
        let cached = cache_file(address);
        if let Some(bytes) = cached.as_deref().and_then(read_intact) {
            return Ok(bytes);
        }
        if offline {
            return Err(format!(
                "{address} is not in the cache, and --offline prevents fetching it: run once without --offline, or use \
                 copies (plimsoll vendor SCRIPT)"
            ));
        }
        let bytes = plimsoll_scriptless::fetch(address, &authorities).map_err(|error| {
            let is_answered = ["responded with status", "certificate"];
            match is_answered.iter().any(|sign| error.contains(sign)) {
                true => error,
                false => format!(
                    "{error}; to run without a network, first make copies with `plimsoll vendor SCRIPT`"
                ),
            }
        })?;
        if let Some(file) = cached {
            keep(&file, &bytes);
        }
        Ok(bytes)
    })
}

/// Fetches the script itself. Uses the cache only if `offline`, because users edit their scripts.
pub fn script_fetcher(offline: bool, authorities: Vec<Vec<u8>>) -> Fetch {
    if offline {
        return fetcher(offline, authorities);
    }
    Box::new(move |address| {
        let bytes = plimsoll_scriptless::fetch(address, &authorities)?;
        if let Some(file) = cache_file(address) {
            keep(&file, &bytes);
        }
        Ok(bytes)
    })
}

/// The cache file for an address. Its name is the escaped address.
fn cache_file(address: &str) -> Option<PathBuf> {
    let home = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let name: String = address
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' => char::from(byte).to_string(),
            other => format!("%{other:02x}"),
        })
        .collect();
    // File systems limit names to 255 bytes; longer addresses are not cached.
    (name.len() < 250).then(|| home.join("plimsoll/modules-2").join(name))
}

/// Reads a cached module. `None` if its digest is wrong, for example because the disk was full or someone edited the
/// file.
fn read_intact(file: &Path) -> Option<Vec<u8>> {
    let stored = std::fs::read(file).ok()?;
    let (line, bytes) =
        stored.split_at_checked(stored.iter().position(|byte| *byte == b'\n')? + 1)?;
    let digest = Integrity::parse(std::str::from_utf8(line).ok()?.trim()).ok()?;
    digest.check("", bytes).ok()?;
    Some(bytes.to_vec())
}

/// Stores a module after a line with its digest, atomically. Ignores errors, because they only cause another fetch in
/// the next run.
fn keep(file: &Path, bytes: &[u8]) {
    let Some(folder) = file.parent() else { return };
    let partial = file.with_extension(format!("partial-{}", std::process::id()));
    let contents = [Integrity::of(bytes).to_string().as_bytes(), b"\n", bytes].concat();
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&partial, contents))
        .and_then(|()| std::fs::rename(&partial, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
}
