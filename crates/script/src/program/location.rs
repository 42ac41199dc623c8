//! The location of a module, and how the names in `import` and `require` are resolved.

use std::path::{Component, Path, PathBuf};

use plimsoll_k6::modules::{self, BuiltIn};

/// The location of a module.
#[derive(Clone)]
pub enum Location {
    File(PathBuf),
    /// An `https://` address.
    Web(String),
    BuiltIn(&'static BuiltIn),
}

impl Location {
    /// The full name, for stack traces and for other modules.
    pub fn name(&self) -> String {
        match self {
            Location::File(path) => format!("file://{}", path.display()),
            Location::Web(address) => address.clone(),
            Location::BuiltIn(module) => module.name.to_owned(),
        }
    }

    /// The location with that full name.
    pub fn of_name(name: &str) -> Option<Self> {
        if let Some(path) = name.strip_prefix("file://") {
            return Some(Location::File(PathBuf::from(path)));
        }
        if name.starts_with("https://") {
            return Some(Location::Web(name.to_owned()));
        }
        modules::find(name).map(Location::BuiltIn)
    }

    /// The file name's extension in lower case. Empty if it has none.
    pub fn extension(&self) -> String {
        let path = match self {
            Location::File(path) => path.as_path(),
            Location::Web(address) => {
                Path::new(address.split(['?', '#']).next().unwrap_or_default())
            }
            Location::BuiltIn(_) => return String::new(),
        };
        path.extension()
            .map(|e| e.to_string_lossy().to_ascii_lowercase())
            .unwrap_or_default()
    }
}

/// Resolves `specifier` in a module at `base` without accessing the disk, except for bare names.
///
/// # Errors
/// Why it is invalid, or `None` for a bare name, which can only be resolved on the disk.
pub fn join(base: &Location, specifier: &str) -> Result<Location, Option<String>> {
    if specifier.is_empty() {
        return Err(Some("a module's name must not be empty".to_owned()));
    }
    if let Some(path) = specifier.strip_prefix("file://") {
        if matches!(base, Location::Web(_)) {
            return Err(Some(format!(
                "{} may not load the local file {specifier}; only local modules may",
                base.name()
            )));
        }
        return Ok(Location::File(normalize(Path::new(&unescape(path)))));
    }
    if specifier.starts_with("https://") {
        return Ok(Location::Web(specifier.to_owned()));
    }
    if specifier.starts_with("http://") {
        return Err(Some(format!(
            "{specifier}: modules are loaded over https:// only"
        )));
    }
    if let Some(module) = modules::find(specifier) {
        return Ok(Location::BuiltIn(module));
    }
    if specifier == "k6" || specifier.starts_with("k6/") {
        return Err(Some(missing_built_in(specifier)));
    }
    let relative = specifier.starts_with("./")
        || specifier.starts_with("../")
        || specifier.starts_with('/')
        || matches!(specifier, "." | "..");
    if !relative {
        return Err(None);
    }
    match base {
        Location::File(file) => {
            let folder = file.parent().unwrap_or(Path::new("/"));
            Ok(Location::File(normalize(&folder.join(specifier))))
        }
        Location::Web(address) => Ok(Location::Web(join_web(address, specifier))),
        Location::BuiltIn(_) => Err(None),
    }
}

/// Why one of k6's own modules does not exist.
fn missing_built_in(name: &str) -> String {
    let hint = match name {
        "k6/experimental/browser" => "; it is now k6/browser",
        "k6/experimental/grpc" => "; it is now k6/net/grpc",
        "k6/experimental/timers" => "; it is now k6/timers",
        "k6/experimental/tracing" => "; use the http-instrumentation-tempo library instead",
        "k6/experimental/webcrypto" => "; `crypto` is global now",
        _ if name.starts_with("k6/x/") => {
            let all = modules::ALL.iter().map(|module| module.name);
            let here: Vec<_> = all.filter(|name| name.starts_with("k6/x/")).collect();
            return match here.as_slice() {
                [] => format!("{name} is not available: extensions of k6 cannot be loaded"),
                here => format!(
                    "{name} is not available: extensions of k6 cannot be loaded; Plimsoll has {}",
                    here.join(", ")
                ),
            };
        }
        _ => {
            let all = modules::ALL.iter().map(|module| module.name);
            return match plimsoll_units::nearest(name, all) {
                Some(near) => format!("there is no module {name}; did you mean {near}?"),
                None => format!("there is no module {name}"),
            };
        }
    };
    format!("{name} does not exist{hint}")
}

/// Removes `.` and `..` from a path without accessing the disk.
pub fn normalize(path: &Path) -> PathBuf {
    let mut clean = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::Normal(name) => clean.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    clean
}

/// Resolves a reference according to RFC 3986, section 5.2, for the forms that modules use: relative and absolute
/// paths.
fn join_web(address: &str, reference: &str) -> String {
    let after_scheme = "https://".len();
    let host_end = address[after_scheme..]
        .find('/')
        .map_or(address.len(), |at| after_scheme + at);
    let (host, path) = address.split_at(host_end);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let folder = match path.rfind('/') {
        Some(at) if !reference.starts_with('/') => &path[..=at],
        _ => "/",
    };
    format!(
        "{host}{}",
        normalize(Path::new(&format!("{folder}{reference}"))).display()
    )
}

/// Decodes percent escapes. Invalid ones stay as they are.
pub fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = (byte == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match escaped {
            Some(decoded) => {
                bytes.push(decoded);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_file(specifier: &str) -> Result<String, Option<String>> {
        join(&Location::File("/work/tests/main.js".into()), specifier).map(|found| found.name())
    }

    fn from_web(specifier: &str) -> Result<String, Option<String>> {
        join(
            &Location::Web("https://a.example/x/y/m.js?v=1".into()),
            specifier,
        )
        .map(|found| found.name())
    }

    #[test]
    fn paths_are_relative_to_the_importing_module() {
        assert_eq!(from_file("./a.js").unwrap(), "file:///work/tests/a.js");
        assert_eq!(from_file("../lib/./a.js").unwrap(), "file:///work/lib/a.js");
        assert_eq!(from_file("/a.js").unwrap(), "file:///a.js");
        assert_eq!(from_file("../../../../a.js").unwrap(), "file:///a.js");
        assert_eq!(from_file("file:///b%20c.js").unwrap(), "file:///b c.js");
        assert_eq!(from_web("./n.js").unwrap(), "https://a.example/x/y/n.js");
        assert_eq!(from_web("../n.js").unwrap(), "https://a.example/x/n.js");
        assert_eq!(from_web("/n.js").unwrap(), "https://a.example/n.js");
    }

    #[test]
    fn load_errors_have_a_reason() {
        assert_eq!(from_file("lodash"), Err(None));
        assert!(
            from_file("http://a.example/x.js")
                .unwrap_err()
                .unwrap()
                .contains("https://")
        );
        assert!(
            from_web("file:///etc/passwd")
                .unwrap_err()
                .unwrap()
                .contains("local")
        );
        assert!(
            from_file("k6/x/kafka")
                .unwrap_err()
                .unwrap()
                .contains("extensions")
        );
        assert!(
            from_file("k6/htpp")
                .unwrap_err()
                .unwrap()
                .contains("k6/http")
        );
        assert!(from_file("").unwrap_err().is_some());
    }
}
