//! Converts flags, variables and the config file to a request that can be prepared.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plimsoll_machine::read_text_file;
use plimsoll_plan::{Options, Plan};
use serde_json::Value;

use crate::Refusal;
use crate::features::Features;
use crate::prepare::ScriptRequest;
use crate::rate_override::RateOverride;
use crate::script_input::SourceKind;
use crate::settings::IoMode;
use crate::tls_files::TlsFiles;

/// The script and its options from the command line.
pub struct ScriptOptions {
    pub script: String,
    /// `js` or `archive`. Detected if not given.
    pub kind: Option<String>,
    /// The config file. The default is k6's own, if it exists.
    pub config: Option<PathBuf>,
    /// `NAME=VALUE`, or the name of a system variable to pass on.
    pub env: Vec<String>,
    /// Whether the script sees all system variables.
    pub has_system_env: bool,
    pub flags: Options,
    pub rate: Option<RateOverride>,
    /// The default seed of random arrivals.
    pub arrivals_seed: Option<u64>,
    pub import_map: Option<PathBuf>,
    pub is_offline: bool,
    pub keep_files: bool,
    /// Accept options that cannot run, because the script is only read.
    pub is_only_read: bool,
    /// Names of enabled k6 features.
    pub features: Vec<String>,
    /// Sources of secrets, such as `file=secrets.txt`.
    pub secret_sources: Vec<String>,
    pub io: IoMode,
    /// The share of HTTP requests that traces record, if the run has traces.
    pub traced: Option<f64>,
    pub tls: TlsFiles,
}

impl ScriptOptions {
    /// Reads the variables and the config file.
    ///
    /// # Errors
    /// If one of them is invalid.
    pub fn resolve(self) -> Result<ScriptRequest, Refusal> {
        let system: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let variables = Options::from_env(&system).map_err(Refusal::config)?;
        let config = config(self.config.as_deref()).map_err(Refusal::config)?;
        let (config, config_warnings) =
            Options::from_config(config.unwrap_or_default()).map_err(Refusal::config)?;
        let kind = match self.kind.as_deref() {
            None | Some("") => SourceKind::Detected,
            Some("js") => SourceKind::Script,
            Some("archive") => SourceKind::Archive,
            Some(other) => {
                return Err(Refusal::other(format!("--type {other}: use js or archive")));
            }
        };
        let env = self.env.iter().map(|text| variable(text));
        Ok(ScriptRequest {
            given_env: env.collect::<Result<_, String>>().map_err(Refusal::other)?,
            script: self.script,
            kind,
            config,
            config_warnings,
            variables,
            flags: self.flags,
            rate: self.rate,
            arrivals_seed: self.arrivals_seed,
            system_env: if self.has_system_env {
                system
            } else {
                BTreeMap::new()
            },
            import_map: self.import_map,
            is_offline: self.is_offline,
            keep_files: self.keep_files,
            is_only_read: self.is_only_read,
            features: Features::parse(&self.features).map_err(Refusal::config)?,
            secret_sources: self.secret_sources,
            io: self.io,
            traced: self.traced,
            tls: self.tls,
        })
    }
}

/// The options of a plan, with the users and the time that it needs.
pub fn needed_json(plan: &Plan) -> Value {
    let mut options = plan.options.to_json();
    if let Some(object) = options.as_object_mut() {
        let needs = plan.requirements();
        let duration = needs
            .duration_with_graceful_stop
            .map(plimsoll_units::duration::format);
        object.insert("totalDuration".to_owned(), duration.into());
        object.insert("maxVUs".to_owned(), needs.max_users.into());
    }
    options
}

/// Parses a variable for the script.
fn variable(text: &str) -> Result<(String, String), String> {
    // As in k6, a name without a value sets the variable to an empty string.
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let is_valid = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if !is_valid {
        return Err(format!(
            "--env {text}: \"{name}\" is not a valid variable name; write NAME=VALUE"
        ));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Reads the JSON of the given config file, or of the user's own if it exists.
fn config(named: Option<&Path>) -> Result<Option<Value>, String> {
    let own = config_home().map(|home| home.join("k6/config.json"));
    let (path, must_exist) = match (named, own) {
        (Some(path), _) => (path.to_owned(), true),
        (None, Some(path)) => (path, false),
        (None, None) => return Ok(None),
    };
    let text = match read_text_file(&path) {
        Ok(text) => text,
        Err(error) if !must_exist && error.kind() == ErrorKind::NotFound => return Ok(None),
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
