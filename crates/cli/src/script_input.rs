//! What a script is run with: its source or an archive, its environment, its options' layers.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plimsoll_script::{
    Archive, Fetch, fetch_script, normalize, read_file, read_stream, read_text_file,
};

use crate::args::RuntimeArgs;

/// What was named as the script.
pub enum ScriptInput {
    Script {
        /// Absolute, or an `https://` address; of one that was piped in, a file
        /// in the working directory that need not exist.
        path: PathBuf,
        source: Vec<u8>,
        piped: bool,
    },
    Archive(Box<Archive>),
}

impl ScriptInput {
    /// Reads a file, or standard input for `-`. What looks like an archive is
    /// one, whatever its name, unless `kind` says otherwise.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(name: &str, kind: Option<&str>, fetch: &Fetch) -> Result<ScriptInput, String> {
        let (path, bytes) = if name.starts_with("https://") {
            (PathBuf::from(name), fetch_script(fetch, name)?)
        } else {
            bytes(name)?
        };
        let archive = match kind {
            None | Some("") => Archive::is(&bytes),
            Some("js") => false,
            Some("archive") => true,
            Some(other) => return Err(format!("--type {other}: use js or archive")),
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
            "{name} is a folder: name the script in it, like {}",
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

/// The script's `__ENV`: an archive's variables, over them the system's unless
/// told otherwise, over those the ones given by flag.
///
/// # Errors
/// When a flag is not of the form NAME=VALUE.
pub fn environment(
    args: &RuntimeArgs,
    packed: BTreeMap<String, String>,
    include_system: bool,
) -> Result<BTreeMap<String, String>, String> {
    let mut env = packed;
    if args.include_system_env_vars.unwrap_or(include_system) {
        env.extend(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }));
    }
    for given in &args.env {
        let (name, value) = match given.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            // Without a value, the system's is passed on.
            None => (given.as_str(), std::env::var(given).unwrap_or_default()),
        };
        let fine = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !fine {
            return Err(format!(
                "--env {given}: \"{name}\" is no name of a variable; write NAME=VALUE"
            ));
        }
        env.insert(name.to_owned(), value);
    }
    Ok(env)
}

/// The config file's JSON: the one named, or the user's own if there is one.
///
/// # Errors
/// When the named one cannot be read, or either is no JSON.
pub fn config(named: Option<&Path>) -> Result<Option<serde_json::Value>, String> {
    let own = config_home().map(|home| home.join("k6/config.json"));
    let (path, must_exist) = match (named, own) {
        (Some(path), _) => (path.to_owned(), true),
        (None, Some(path)) => (path, false),
        (None, None) => return Ok(None),
    };
    let text = match read_text_file(&path) {
        Ok(text) => text,
        Err(error) if !must_exist && error.kind() == ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => {
            return Err(format!(
                "cannot read the config file {}: {error}",
                path.display()
            ));
        }
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| format!("the config file {} is no JSON: {error}", path.display()))
}

fn config_home() -> Option<PathBuf> {
    std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))
}
