//! Converts the flags of a script's run to its options.

use plimsoll_run::{ConfigFile, RateOverride, Refusal, ScriptOptions, options_of_flags};
use plimsoll_terminal::log::Log;

use crate::args::{GlobalArgs, OptionArgs, RuntimeArgs};

/// Converts the flags. The caller sets the options that depend on its purpose, such as `keep_files`.
///
/// # Errors
/// If a flag is invalid.
pub fn read(
    script: &str,
    runtime: &RuntimeArgs,
    options: &OptionArgs,
    global: &GlobalArgs,
    log: &Log,
) -> Result<ScriptOptions, Refusal> {
    let mut flags = options_of_flags(&global.given)?;
    flags.protocol = options.version.protocol();
    if runtime.compatibility_mode.as_deref() == Some("experimental_enhanced") {
        log.warn("--compatibility-mode experimental_enhanced: types are stripped from .ts files in any mode");
    }
    let arrivals = options.limit.arrivals.as_ref();
    if let (None, Some(arrivals)) = (options.rate, arrivals)
        && arrivals.trace().is_none()
    {
        return Err(Refusal::config(format!(
            "--arrivals {arrivals} needs --rate; or set `arrivals` in the script's scenario"
        )));
    }
    Ok(ScriptOptions {
        script: script.to_owned(),
        kind: runtime.kind.unwrap_or_default(),
        config: ConfigFile::read(runtime.config.as_deref())?,
        env: runtime.env.clone(),
        has_system_env: runtime.include_system_env_vars.unwrap_or_default(),
        flags,
        rate: (options.rate.is_some() || arrivals.is_some()).then(|| RateOverride {
            rate: options.rate,
            max_users: options.limit.max_users,
            arrivals: arrivals.cloned(),
        }),
        arrivals_seed: options.limit.arrivals_seed,
        import_map: runtime.import_map.clone(),
        is_offline: runtime.offline,
        keep_files: false,
        is_only_read: false,
        features: runtime.features.clone(),
        secret_sources: runtime.secret_source.clone(),
        io: options.connection.io.io,
        traced: None,
        tls: options.tls.files(),
    })
}
