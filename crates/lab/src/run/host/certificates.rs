//! Certificates for a process on another host. The lab creates them on this host and sends them.

use std::fs;
use std::path::Path;

use super::super::names::Names;
use crate::resolve::process::Process;
use crate::template;

/// The files that a process may need. Those that only the certificate authority needs are not
/// included.
const FILES: [&str; 6] = [
    "ca.pem",
    "server.pem",
    "server.key",
    "both.pem",
    "client.pem",
    "client.key",
];

/// The certificates as files for a process that uses them, and their variables with the paths in
/// `directory` on its host.
///
/// # Errors
/// If the certificates cannot be read.
pub fn sent(
    process: &Process,
    directory: &str,
    names: &mut Names,
) -> Result<Vec<(String, String)>, String> {
    let texts = process.command.iter();
    let texts = texts.chain(process.environment.iter().map(|(_, text)| text));
    let mut texts = texts.chain(process.files.iter().map(|(_, text)| text));
    let is_named =
        |text: &String| template::names(text).any(|name| name.starts_with("certificates."));
    let (true, Some(here)) = (texts.any(is_named), names.get("certificates.directory")) else {
        return Ok(Vec::new());
    };
    let here = here.to_owned();
    let mut files = Vec::new();
    for name in FILES {
        let path = Path::new(&here).join(name);
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        files.push((name.to_owned(), text));
    }
    for field in crate::resolve::scope::CERTIFICATES {
        let name = format!("certificates.{field}");
        if let Some(path) = names.get(&name) {
            let path = path.replacen(&here, directory, 1);
            names.set(name, path);
        }
    }
    Ok(files)
}
