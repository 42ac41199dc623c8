//! Converts the flags of a script's run to its options.

use plimsoll_plan::{Errors, Options};
use plimsoll_run::{RateOverride, Refusal, ScriptOptions};
use plimsoll_terminal::log::Log;

use crate::args::{OptionArgs, RuntimeArgs};

/// Converts the flags. The caller sets the options that depend on its purpose, such as `keep_files`.
///
/// # Errors
/// If a flag is invalid.
pub fn read(
    script: &str,
    runtime: &RuntimeArgs,
    options: &OptionArgs,
    log: &Log,
) -> Result<ScriptOptions, Refusal> {
    let flags = flags(options).map_err(Refusal::other)?;
    match runtime.compatibility_mode.as_deref() {
        None | Some("" | "extended" | "base") => {}
        Some("experimental_enhanced") => {
            log.warn("--compatibility-mode experimental_enhanced: types are stripped from .ts files in any mode");
        }
        Some(other) => {
            return Err(Refusal::other(format!(
                "--compatibility-mode (K6_COMPATIBILITY_MODE) {other}: use extended or base"
            )));
        }
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
        kind: runtime.kind.clone(),
        config: runtime.config.clone(),
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

/// The flags that override the script's own options.
fn flags(args: &OptionArgs) -> Result<Options, Errors> {
    let mut options = Options::from_flags(&given(args))?;
    options.dns.clone_from(&args.connection.dns);
    options.local_ips.clone_from(&args.connection.local_ips);
    options.protocol = args.version.protocol();
    Ok(options)
}

/// The given flags, with their values.
fn given(args: &OptionArgs) -> Vec<(&'static str, String)> {
    let list = |values: &[String]| (!values.is_empty()).then(|| values.join(","));
    let flag = |set: bool| set.then(|| "true".to_owned());
    let connection = &args.connection;
    let all = [
        ("--vus", args.vus.clone()),
        ("--duration", args.duration.clone()),
        ("--iterations", args.iterations.clone()),
        ("--stage", list(&args.stage)),
        ("--paused", flag(args.paused)),
        ("--no-setup", flag(args.no_setup)),
        ("--no-teardown", flag(args.no_teardown)),
        ("--max-redirects", args.max_redirects.clone()),
        ("--batch", args.batch.clone()),
        ("--batch-per-host", args.batch_per_host.clone()),
        ("--rps", args.rps.clone()),
        ("--user-agent", args.user_agent.clone()),
        ("--http-debug", args.http_debug.clone()),
        ("--insecure-skip-tls-verify", flag(args.tls.insecure)),
        ("--no-connection-reuse", flag(connection.no_keepalive)),
        (
            "--no-vu-connection-reuse",
            flag(args.no_vu_connection_reuse),
        ),
        (
            "--min-iteration-duration",
            args.min_iteration_duration.clone(),
        ),
        ("--throw", flag(args.throw)),
        ("--blacklist-ip", list(&args.blacklist_ip)),
        ("--block-hostnames", list(&args.block_hostnames)),
        ("--summary-trend-stats", args.summary_trend_stats.clone()),
        ("--summary-time-unit", args.summary_time_unit.clone()),
        ("--system-tags", args.system_tags.clone()),
        ("--console-output", args.console_output.clone()),
        (
            "--discard-response-bodies",
            flag(args.discard_response_bodies),
        ),
        ("--connections-per-user", args.connections_per_user.clone()),
        (
            "--streams-per-connection",
            args.streams_per_connection.clone(),
        ),
        ("--unix-socket", connection.unix_socket.clone()),
        ("--execution-segment", args.execution_segment.clone()),
        (
            "--execution-segment-sequence",
            args.execution_segment_sequence.clone(),
        ),
    ];
    let tags = args.tags.iter().map(|tag| ("--tag", Some(tag.clone())));
    let given = all.into_iter().chain(tags);
    given
        .filter_map(|(flag, value)| Some((flag, value?)))
        .collect()
}
