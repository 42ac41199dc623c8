//! The flags of a script's run.

use std::sync::Arc;

use plimsoll_run::{AtRate, Prepared, Refusal, ScriptOptions, prepare};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::log::Log;

use crate::args::{GlobalArgs, OptionArgs, RuntimeArgs};
use crate::option_flags;

/// Why a command prepares a script.
#[derive(Clone, Copy, Debug, Default)]
pub struct Purpose {
    /// The script gets the system's variables unless a flag says otherwise.
    pub has_system_env: bool,
    /// Keep all files that the script loads.
    pub keep_files: bool,
    /// Only the script's options are of interest: its functions may be missing.
    pub is_only_read: bool,
}

/// Runs a command of a script with the log of its flags; the exit status.
pub fn with_log(
    global: &GlobalArgs,
    command: impl FnOnce(&Arc<Log>) -> Result<Exit, Refusal>,
) -> Exit {
    match global.log() {
        Ok(log) => {
            let log = Arc::new(log);
            let exit = command(&log);
            exit.unwrap_or_else(|refusal| Exit::of_refusal(&refusal, &log))
        }
        Err(message) => Exit::of_text(Err(message)),
    }
}

/// Prepares the script that the flags describe.
///
/// # Errors
/// If a flag, a variable, the config file or the script is invalid.
pub fn prepared(
    script: &str,
    runtime: &RuntimeArgs,
    options: &OptionArgs,
    log: &Arc<Log>,
    purpose: Purpose,
) -> Result<Prepared, Refusal> {
    let flags = option_flags::read(options).map_err(Refusal::other)?;
    match runtime.compatibility_mode.as_deref() {
        None | Some("" | "extended" | "base") => {}
        Some("experimental_enhanced") => {
            log.warn("--compatibility-mode experimental_enhanced: types are stripped from .ts files in any mode");
        }
        Some(other) => {
            return Err(Refusal::other(format!(
                "--compatibility-mode {other}: use extended or base"
            )));
        }
    }
    let options = ScriptOptions {
        script: script.to_owned(),
        kind: runtime.kind.clone(),
        config: runtime.config.clone(),
        env: runtime.env.clone(),
        has_system_env: runtime
            .include_system_env_vars
            .unwrap_or(purpose.has_system_env),
        flags,
        rate: options.rate.map(|rate| AtRate {
            rate,
            max_users: options.limit.max_users,
            arrivals: options.limit.arrivals,
        }),
        import_map: runtime.import_map.clone(),
        is_offline: runtime.offline,
        keep_files: purpose.keep_files,
        is_only_read: purpose.is_only_read,
        secret_sources: runtime.secret_source.clone(),
        io: options.connection.io.io,
        tls: options.tls.files(),
    };
    prepare(options.resolve()?, &log.sink())
}
