//! Converts flags and variables to a request that can be prepared.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plimsoll_plan::{Errors, Fault, Options, Plan};
use serde_json::Value;

use crate::Refusal;
use crate::config_file::ConfigFile;
use crate::features::Features;
use crate::prepare::ScriptRequest;
use crate::rate_override::RateOverride;
use crate::script_input::SourceKind;
use crate::settings::IoMode;
use crate::tls_files::TlsFiles;

/// The script and its options from the command line.
pub struct ScriptOptions {
    pub script: String,
    pub kind: SourceKind,
    pub config: ConfigFile,
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
    /// Reads the variables.
    ///
    /// # Errors
    /// If one of them is invalid.
    pub fn resolve(self) -> Result<ScriptRequest, Refusal> {
        let system: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let variables = Options::from_env(&system).map_err(refuse_variables)?;
        let env = self.env.iter().map(|text| variable(text));
        Ok(ScriptRequest {
            given_env: env.collect::<Result<_, String>>().map_err(Refusal::other)?,
            script: self.script,
            kind: self.kind,
            config: self.config.options,
            config_warnings: self.config.warnings,
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

/// The refusal of invalid variables. k6 reads two of them later than the others, and exits with another status.
fn refuse_variables(errors: Errors) -> Refusal {
    let is_late = |fault: &Fault| matches!(&*fault.place, "K6_DNS" | "K6_SUMMARY_TREND_STATS");
    if errors.0.iter().all(is_late) {
        Refusal::other(errors)
    } else {
        Refusal::config(errors)
    }
}

/// Reads the options from the flags on the command line.
///
/// # Errors
/// If a value is invalid. As in k6, the exit status for a negative duration is that of an invalid option.
pub fn options_of_flags(given: &[(String, String)]) -> Result<Options, Refusal> {
    Options::from_flags(given).map_err(|errors| {
        let is_negative = |fault: &Fault| fault.message.contains(" is negative: ");
        if errors.0.iter().all(is_negative) {
            Refusal::config(errors)
        } else {
            Refusal::other(errors)
        }
    })
}

/// Checks the name of a JavaScript dialect. All of them run the same scripts.
///
/// # Errors
/// The list of valid names.
pub fn compatibility_mode(text: &str) -> Result<String, String> {
    match text {
        "" | "extended" | "base" | "experimental_enhanced" => Ok(text.to_owned()),
        _ => Err("use extended or base".to_owned()),
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
