//! What flags, variables and the config file say of a script's run.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plimsoll_plan::Options;
use plimsoll_run::settings::IoMode;
use plimsoll_run::{AtRate, Refusal, ScriptRequest, SourceKind};
use plimsoll_script::read_text_file;

use crate::args::{OptionArgs, RuntimeArgs};
use crate::log::Log;
use crate::option_flags;

/// What a command asks of the preparation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Purpose {
    /// Scripts get the system's variables unless a flag says otherwise.
    pub system_env: bool,
    /// All files that the script loads are kept.
    pub keep_files: bool,
    pub io: IoMode,
}

/// Reads them.
///
/// # Errors
/// Whatever is wrong with one of them.
pub fn script_request(
    script: &str,
    runtime: &RuntimeArgs,
    options: &OptionArgs,
    log: &Log,
    purpose: Purpose,
) -> Result<ScriptRequest, Refusal> {
    let flags = option_flags::read(options).map_err(Refusal::other)?;
    let system: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let variables = Options::from_env(&system).map_err(Refusal::config)?;
    let config = config(runtime.config.as_deref()).map_err(Refusal::config)?;
    let (config, config_warnings) =
        Options::from_config(config.unwrap_or_default()).map_err(Refusal::config)?;
    check_dialect(runtime, log)?;
    let gets_system = runtime
        .include_system_env_vars
        .unwrap_or(purpose.system_env);
    Ok(ScriptRequest {
        script: script.to_owned(),
        kind: kind(runtime)?,
        config,
        config_warnings,
        variables,
        flags,
        rate: options.rate.map(|rate| AtRate {
            rate,
            max_users: options.max_users,
        }),
        system_env: if gets_system { system } else { BTreeMap::new() },
        given_env: given_env(&runtime.env).map_err(Refusal::other)?,
        import_map: runtime.import_map.clone(),
        is_offline: runtime.offline,
        keep_files: purpose.keep_files,
        io: purpose.io,
    })
}

fn kind(runtime: &RuntimeArgs) -> Result<SourceKind, Refusal> {
    match runtime.kind.as_deref() {
        None | Some("") => Ok(SourceKind::Detected),
        Some("js") => Ok(SourceKind::Script),
        Some("archive") => Ok(SourceKind::Archive),
        Some(other) => Err(Refusal::other(format!("--type {other}: use js or archive"))),
    }
}

/// There is one dialect, which is all of k6's.
fn check_dialect(runtime: &RuntimeArgs, log: &Log) -> Result<(), Refusal> {
    match runtime.compatibility_mode.as_deref() {
        None | Some("" | "extended" | "base") => Ok(()),
        Some("experimental_enhanced") => {
            log.warn("--compatibility-mode experimental_enhanced: types are stripped from .ts files in any mode");
            Ok(())
        }
        Some(other) => Err(Refusal::other(format!(
            "--compatibility-mode {other}: use extended or base"
        ))),
    }
}

/// The variables given by flag, in their order.
fn given_env(flags: &[String]) -> Result<Vec<(String, String)>, String> {
    flags
        .iter()
        .map(|given| {
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
                    "--env {given}: \"{name}\" is not a valid variable name; write NAME=VALUE"
                ));
            }
            Ok((name.to_owned(), value))
        })
        .collect()
}

/// The config file's JSON: the one named, or the user's own if there is one.
///
/// # Errors
/// When the named one cannot be read, or either is not JSON.
fn config(named: Option<&Path>) -> Result<Option<serde_json::Value>, String> {
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
        .map_err(|error| format!("the config file {} is not JSON: {error}", path.display()))
}

fn config_home() -> Option<PathBuf> {
    std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))
}
