//! Reads a script's source from a file, an address, stdin or an archive.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plimsoll_machine::{read_file, read_stream};
use plimsoll_script::{Archive, Fetch, fetch_script, normalize};
use serde_json::Value;

/// The type of a script's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceKind {
    /// Detected from the contents: an archive if they look like one.
    #[default]
    Detected,
    Script,
    Archive,
}

impl SourceKind {
    /// Parses `js` or `archive`. An empty text is the default.
    ///
    /// # Errors
    /// The list of valid values.
    pub fn parse(text: &str) -> Result<SourceKind, String> {
        match text {
            "" => Ok(SourceKind::Detected),
            "js" => Ok(SourceKind::Script),
            "archive" => Ok(SourceKind::Archive),
            _ => Err("use js or archive".to_owned()),
        }
    }
}

/// A script that was read.
pub enum ScriptInput {
    Script {
        /// An absolute path, or an `https://` address. For a script from stdin, a path in the working directory that
        /// need not exist.
        path: PathBuf,
        source: Vec<u8>,
        piped: bool,
    },
    Archive(Box<Archive>),
}

impl ScriptInput {
    /// Reads a file, or stdin for `-`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(name: &str, kind: SourceKind, fetch: &Fetch) -> Result<ScriptInput, String> {
        let (path, bytes) = if name.starts_with("https://") {
            (PathBuf::from(name), fetch_script(fetch, name)?)
        } else {
            bytes(name)?
        };
        let archive = match kind {
            SourceKind::Detected => Archive::is(&bytes),
            SourceKind::Script => false,
            SourceKind::Archive => true,
        };
        if archive {
            let archive =
                Archive::read(&bytes).map_err(|error| format!("the archive {name}: {error}"))?;
            return Ok(ScriptInput::Archive(Box::new(archive)));
        }
        Ok(ScriptInput::Script {
            path,
            source: bytes,
            piped: name == "-",
        })
    }
}

pub(crate) struct ArchivedOptions {
    options: Value,
    script_options: Vec<String>,
}

impl ArchivedOptions {
    pub(crate) fn take(archive: &mut Archive) -> Self {
        Self {
            options: archive.options.take(),
            script_options: std::mem::take(&mut archive.script_options),
        }
    }

    /// All options of the archive. `script` contains those of the script itself.
    pub(crate) fn completed(mut self, script: &Value) -> Value {
        if let Value::Object(options) = &mut self.options {
            for name in self.script_options {
                let value = script.get(&name).cloned().unwrap_or_default();
                options.insert(name, value);
            }
        }
        self.options
    }
}

fn bytes(name: &str) -> Result<(PathBuf, Vec<u8>), String> {
    if name.is_empty() {
        return Err("the script's name is empty: name a file, or - for standard input".to_owned());
    }
    let path = std::path::absolute(name).map_err(|error| format!("{name}: {error}"))?;
    let path = normalize(&path);
    if name == "-" {
        let source = read_stream(std::io::stdin().lock())
            .map_err(|error| format!("cannot read the script from standard input: {error}"))?;
        return Ok((path, source));
    }
    if name.starts_with("http://") {
        return Err(format!("{name}: scripts are fetched over https:// only"));
    }
    if path.is_dir() {
        return Err(format!(
            "{name} is a directory: name the script in it, such as {}",
            Path::new(name).join("script.js").display()
        ));
    }
    let source = read_file(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "The moduleSpecifier \"{name}\" couldn't be found on local disk ({error}). Make sure that \
             you've specified the right path to the file. plimsoll new {name} writes one to start from"
        ),
        _ => format!("could not read the script {name}: {error}"),
    })?;
    Ok((path, source))
}
