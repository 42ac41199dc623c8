//! Archives: a script with its options, its variables and all files that it loads, packed into one tar file with k6's
//! layout.
//!
//! `metadata.json` comes first. `data` is the script. Local files are under `file/…`, named by their absolute paths,
//! and modules from the network under `https/…`, named by their addresses.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use tar::{Builder, EntryType, Header};

use crate::program::{ImportMap, Packed, Sources, shared};

/// A script and everything it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Archive {
    /// The script's absolute path on the machine that packed it, or its `https://` address.
    pub path: PathBuf,
    /// The script's text.
    pub source: Vec<u8>,
    /// Its consolidated options, with k6's names.
    pub options: Json,
    /// The names of options that a run of the archive takes from the script, because they contain secrets that the script
    /// reads. k6 ignores this list.
    pub script_options: Vec<String>,
    /// The variables it was packed with; `None` if they were left out.
    pub env: Option<BTreeMap<String, String>>,
    /// The import map for bare module names. k6 ignores it.
    pub import_map: ImportMap,
    /// The files that the script loads and opens.
    pub files: Packed,
}

/// The k6 version that has this layout. When k6 reads an archive, this version determines how.
const K6_VERSION: &str = "1.8.1";
const METADATA: &str = "metadata.json";
const SCRIPT: &str = "data";
const SCRIPT_OPTIONS: &str = "scriptOptions";

impl Archive {
    /// Whether these bytes look like a tar file (POSIX.1-1988 or GNU's variant).
    pub fn is(bytes: &[u8]) -> bool {
        bytes.get(257..262) == Some(b"ustar")
    }

    /// Reads an archive. Uses at most a few times the archive's size in memory: entries that claim more bytes than they
    /// have, such as sparse files, are refused.
    ///
    /// # Errors
    /// If the archive is damaged or incomplete.
    pub fn read(bytes: &[u8]) -> Result<Archive, String> {
        let entries = entries(bytes)?;
        let metadata = entries.get(METADATA).ok_or_else(|| {
            format!("it has no {METADATA}: create it with `plimsoll archive` or `k6 archive`")
        })?;
        let metadata: Json = serde_json::from_slice(metadata)
            .map_err(|error| format!("its {METADATA} is not JSON: {error}"))?;
        let text = |key: &str| metadata.get(key).and_then(Json::as_str);
        if let Some(other) = text("type").filter(|kind| *kind != "js") {
            return Err(format!(
                "it contains a test of type {other:?}; only js is supported"
            ));
        }
        let filename = text("filename").ok_or_else(|| {
            format!("its {METADATA} does not contain the name of the script (filename)")
        })?;
        let path = place(filename)?;
        let source = match entries.get(SCRIPT) {
            Some(source) => source,
            None => entries
                .get(&entry_name(&path))
                .ok_or_else(|| format!("it has neither {SCRIPT} nor the script {filename}"))?,
        };
        // A script that was read from stdin has no folder.
        let path = match text("pwd") {
            Some(folder) if path == Path::new("/-") => place(folder)?.join("-"),
            _ => path,
        };
        Ok(Archive {
            path,
            source: source.to_vec(),
            options: metadata.get("options").cloned().unwrap_or_default(),
            script_options: script_options(metadata.get(SCRIPT_OPTIONS))?,
            env: variables(metadata.get("env"))?,
            import_map: ImportMap::from_entries(metadata.get("importMap"))?,
            files: packed(&entries),
        })
    }

    /// Writes the archive. The same script always yields the same bytes, wherever and whenever it is packed.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut files: BTreeMap<String, Option<&[u8]>> = BTreeMap::new();
        for (path, bytes) in &self.files.files {
            files.insert(format!("file{}", shared(path).display()), Some(bytes));
        }
        for (address, bytes) in &self.files.web {
            files.insert(format!("https/{address}"), Some(bytes));
        }
        files.insert(entry_name(&self.path), None);
        let mut tar = Builder::new(out);
        let metadata = format!("{:#}", self.metadata());
        append(&mut tar, METADATA, metadata.as_bytes())?;
        append(&mut tar, SCRIPT, &self.source)?;
        for folder in folders(files.keys()) {
            let mut header = header(EntryType::Directory, 0o755, 0);
            tar.append_data(&mut header, format!("{folder}/"), io::empty())?;
        }
        for (name, bytes) in files {
            match bytes {
                Some(bytes) => append(&mut tar, &name, bytes)?,
                None => tar.append_link(&mut header(EntryType::Link, 0o644, 0), name, SCRIPT)?,
            }
        }
        tar.into_inner()?.flush()
    }

    fn metadata(&self) -> Json {
        let (script, folder) = match web(&self.path) {
            Some(address) => {
                let end = address.rfind('/').map_or(address.len(), |at| at + 1);
                (address.to_owned(), address[..end].to_owned())
            }
            None => {
                let path = shared(&self.path);
                let folder = path.parent().unwrap_or(Path::new("/"));
                (
                    format!("file://{}", path.display()),
                    format!("file://{}", folder.display()),
                )
            }
        };
        let mut metadata = json!({
            "type": "js",
            "options": self.options,
            "filename": script,
            "pwd": folder,
            "env": self.env,
            "compatibilityMode": "extended",
            "k6version": K6_VERSION,
            "goos": go_system(),
            "dependencies": { "k6": "*" },
        });
        if let Json::Object(object) = &mut metadata {
            if let Some(entries) = self.import_map.to_entries() {
                object.insert("importMap".to_owned(), entries);
            }
            if !self.script_options.is_empty() {
                object.insert(SCRIPT_OPTIONS.to_owned(), json!(self.script_options));
            }
        }
        metadata
    }
}

/// Go's name for the operating system; only macOS has a different one.
fn go_system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

/// The contents of a tar file by name. If two entries have the same name, the later one wins, as when unpacking.
fn entries(bytes: &[u8]) -> Result<BTreeMap<String, Arc<[u8]>>, String> {
    let broken = |error: io::Error| format!("it is damaged or cut short: {error}");
    let mut found: BTreeMap<String, Arc<[u8]>> = BTreeMap::new();
    for entry in tar::Archive::new(bytes).entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        let content = match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {
                let size = entry.size();
                let mut content = Vec::new();
                entry.read_to_end(&mut content).map_err(broken)?;
                if content.len() as u64 != size {
                    return Err(format!("it is cut short within {name}"));
                }
                content.into()
            }
            EntryType::Link | EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default();
                let target = String::from_utf8_lossy(&target).into_owned();
                let target = target.strip_prefix("./").unwrap_or(&target);
                match found.get(target) {
                    Some(content) => Arc::clone(content),
                    None => {
                        return Err(format!("{name} is a link to {target}, which is not in it"));
                    }
                }
            }
            EntryType::GNUSparse => {
                return Err(format!("{name} is a sparse file, which is not read"));
            }
            _ => continue,
        };
        found.insert(name, content);
    }
    Ok(found)
}

fn packed(entries: &BTreeMap<String, Arc<[u8]>>) -> Packed {
    let mut packed = Packed::default();
    for (name, content) in entries {
        if let Some(path) = name.strip_prefix("file/") {
            let path = Path::new("/").join(path);
            packed
                .files
                .insert(shared(&path).into_owned(), Arc::clone(content));
        } else if let Some(address) = name.strip_prefix("https/") {
            packed
                .web
                .insert(Sources::web_key(address), Arc::clone(content));
        }
    }
    packed
}

fn variables(given: Option<&Json>) -> Result<Option<BTreeMap<String, String>>, String> {
    match given {
        None | Some(Json::Null) => Ok(None),
        Some(env) => serde_json::from_value(env.clone())
            .map(Some)
            .map_err(|error| format!("env in its {METADATA} is not a map of strings: {error}")),
    }
}

fn script_options(given: Option<&Json>) -> Result<Vec<String>, String> {
    let names = given.map(|names| serde_json::from_value(names.clone()));
    names
        .transpose()
        .map(Option::unwrap_or_default)
        .map_err(|error| {
            format!("{SCRIPT_OPTIONS} in its {METADATA} is not a list of names: {error}")
        })
}

/// The address, if the script is from the network.
fn web(path: &Path) -> Option<&str> {
    path.to_str().filter(|path| path.starts_with("https://"))
}

/// The script's name in the archive.
fn entry_name(path: &Path) -> String {
    match web(path) {
        Some(address) => format!("https/{}", Sources::web_key(address)),
        None => format!("file{}", shared(path).display()),
    }
}

/// Accepts an `https://` address, the path of a `file://` address, or a plain path as old versions of k6 wrote it.
fn place(address: &str) -> Result<PathBuf, String> {
    if address.starts_with("https://") {
        return Ok(PathBuf::from(address));
    }
    let path = address.strip_prefix("file://").unwrap_or(address);
    if path.starts_with('/') {
        Ok(crate::program::normalize(Path::new(path)))
    } else {
        Err(format!(
            "{address:?} in its {METADATA} is neither a local file nor an https:// address"
        ))
    }
}

/// All folders that contain these names, each before its contents.
fn folders<'a>(names: impl Iterator<Item = &'a String>) -> std::collections::BTreeSet<&'a str> {
    names
        .flat_map(|name| name.match_indices('/').map(|(at, _)| &name[..at]))
        .collect()
}

fn append(tar: &mut Builder<impl Write>, name: &str, content: &[u8]) -> io::Result<()> {
    let mut header = header(EntryType::Regular, 0o644, content.len() as u64);
    tar.append_data(&mut header, name, content)
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Archive {
        let deep = format!(
            "/w/{}/data.bin",
            "a-long-name/".repeat(20).trim_end_matches('/')
        );
        Archive {
            path: "/w/script.js".into(),
            source: b"export default function () {}".to_vec(),
            options: json!({ "vus": 2 }),
            script_options: vec!["tags".to_owned()],
            env: Some(BTreeMap::from([("A".to_owned(), "ü".to_owned())])),
            import_map: ImportMap::default(),
            files: Packed {
                files: BTreeMap::from([
                    (
                        "/w/script.js".into(),
                        Arc::from(&b"export default function () {}"[..]),
                    ),
                    (deep.into(), Arc::from(&[0_u8, 255][..])),
                ]),
                web: BTreeMap::from([("a.example:1/x y.js?v=1".to_owned(), Arc::from(&b"1"[..]))]),
            },
        }
    }

    fn written(archive: &Archive) -> Vec<u8> {
        let mut bytes = Vec::new();
        archive.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn archives_survive_a_round_trip() {
        let bytes = written(&sample());
        assert!(Archive::is(&bytes));
        assert_eq!(Archive::read(&bytes), Ok(sample()));
        assert_eq!(bytes, written(&sample()), "the same script, the same bytes");
    }

    #[test]
    fn a_script_may_come_from_the_network() {
        let mut archive = sample();
        archive.path = "https://a.example:1/tests/main.js".into();
        let files = &mut archive.files;
        files.files.remove(Path::new("/w/script.js"));
        files.web.insert(
            "a.example:1/tests/main.js".to_owned(),
            Arc::from(&b"export default function () {}"[..]),
        );
        assert_eq!(Archive::read(&written(&archive)), Ok(archive));
    }

    #[test]
    fn a_truncated_archive_is_refused_or_complete() {
        let bytes = written(&sample());
        let end = bytes.len() - 1024;
        for length in (0..bytes.len()).step_by(97) {
            let read = Archive::read(&bytes[..length]);
            assert!(
                read.is_err()
                    || length >= end
                    || read.is_ok_and(|read| read.source == sample().source),
                "cut at {length}"
            );
        }
    }

    #[test]
    fn invalid_archives_are_reported() {
        let tar = |entries: &[(&str, &str)]| {
            let mut tar = Builder::new(Vec::new());
            for (name, content) in entries {
                append(&mut tar, name, content.as_bytes()).unwrap();
            }
            tar.into_inner().unwrap()
        };
        let fault = |bytes: &[u8]| Archive::read(bytes).unwrap_err();
        assert!(fault(b"").contains("no metadata.json"));
        assert!(fault(&[b'x'; 2048]).contains("damaged"));
        assert!(fault(&tar(&[("metadata.json", "{")])).contains("not JSON"));
        assert!(fault(&tar(&[("metadata.json", "{}")])).contains("filename"));
        let of = |filename: &str| {
            tar(&[(
                "metadata.json",
                &json!({ "filename": filename }).to_string(),
            )])
        };
        assert!(fault(&of("ftp://a.example/x.js")).contains("neither a local file"));
        assert!(fault(&of("file:///w/x.js")).contains("neither data nor the script"));
        let metadata = json!({ "filename": "file:///w/x.js", "scriptOptions": { "a": 1 } });
        let names = tar(&[("metadata.json", &metadata.to_string()), ("data", "")]);
        assert!(fault(&names).contains("not a list of names"));
        let mut link = Builder::new(Vec::new());
        let mut to = header(EntryType::Symlink, 0o644, 0);
        link.append_link(&mut to, "file/x", "/etc/passwd").unwrap();
        assert!(fault(&link.into_inner().unwrap()).contains("not in it"));
    }
}
