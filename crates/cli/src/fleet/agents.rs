//! Agents for the users of a run.

use std::sync::Arc;

use plimsoll_fleet::{CommandLoad, FleetLoad, FleetRequest, Policy, ScriptLoad};
use plimsoll_run::{
    FileSet, PreparedScript, Refusal, ResolvedLoad, ScriptLog, Workers, collect_files,
};
use plimsoll_terminal::load_run::PlacedLoad;
use plimsoll_terminal::messages::print_message;

use crate::args::{FleetArgs, FleetLoss, RunArgs};

/// Distributes the users of a script's run over agents.
///
/// # Errors
/// If the run cannot be divided, or agents are missing.
pub fn script_workers(
    args: &RunArgs,
    prepared: &Arc<PreparedScript>,
    log: ScriptLog,
) -> Result<Workers, Refusal> {
    check(args, prepared).map_err(Refusal::config)?;
    let load = FleetLoad::Script(Arc::new(ScriptLoad {
        prepared: Arc::clone(prepared),
        tls: args.options.tls.files(),
        secret_sources: args.runtime.secret_source.clone(),
        thresholds: !args.runtime.no_thresholds,
    }));
    let request = request(&args.fleet, load).map_err(Refusal::other)?;
    let request = FleetRequest {
        threads: args.runtime.threads.threads,
        io: args.options.connection.io.io.name(),
        ..request
    };
    plimsoll_fleet::workers(request, log).map_err(Refusal::other)
}

/// Rejects options that a fleet does not support, instead of silently ignoring them.
fn check(args: &RunArgs, prepared: &PreparedScript) -> Result<(), String> {
    let has_traces = !matches!(args.traces_output.as_str(), "" | "none");
    let has_address = args.address.as_deref().is_some_and(|text| !text.is_empty());
    let is_paused = prepared.plan.options.paused == Some(true);
    let refused = [
        (has_traces, "--traces-output", "agents do not send traces"),
        (
            has_address,
            "--address",
            "a fleet cannot be paused or scaled",
        ),
        (
            is_paused,
            "--paused",
            "a fleet starts when all agents are ready",
        ),
    ];
    match refused.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, flag, why)) => Err(format!("--fleet does not work with {flag}: {why}")),
        None => Ok(()),
    }
}

/// Distributes a load without a script over agents, with the files that they need.
///
/// # Errors
/// If an option is invalid.
pub fn load<'a>(
    args: &'a FleetArgs,
    options: impl FnOnce() -> Result<ResolvedLoad, String>,
) -> Result<PlacedLoad<'a>, Refusal> {
    let (resolved, files) = collect_files(|| {
        let resolved = options()?;
        resolved.load.read_files()?;
        Ok::<_, String>(resolved)
    });
    Ok(PlacedLoad {
        resolved: resolved.map_err(Refusal::config)?,
        workers: Box::new(|resolved| {
            command_workers(args, resolved, files).map_err(Refusal::other)
        }),
    })
}

fn command_workers(
    args: &FleetArgs,
    resolved: &ResolvedLoad,
    files: FileSet,
) -> Result<Workers, String> {
    let log: ScriptLog = Arc::new(|_, text: &str, _: &[(&str, &str)]| print_message(text));
    let mut words = plimsoll_fleet::words_for_agents(std::env::args_os().skip(1))?;
    // Agents do not get the environment, and all need the same random arrivals.
    words.extend(plimsoll_results::run_seed::flag());
    let scenario = resolved.load.scenario().cloned();
    let load = FleetLoad::Command(Arc::new(CommandLoad {
        words,
        files,
        scenario: scenario.ok_or("the command has no scenario")?,
    }));
    plimsoll_fleet::workers(request(args, load)?, log)
}

fn request(args: &FleetArgs, load: FleetLoad) -> Result<FleetRequest, String> {
    let agents = args.fleet.as_deref().unwrap_or_default();
    Ok(FleetRequest {
        agents: agents
            .parse()
            .map_err(|error| format!("--fleet: {error}"))?,
        server: args.fleet_server.clone(),
        policy: match args.fleet_loss {
            FleetLoss::Fail => Policy::Fail,
            FleetLoss::Degrade => Policy::Degrade,
            FleetLoss::Redistribute => Policy::Redistribute,
        },
        patience: args.fleet_wait,
        threads: None,
        io: "auto",
        load,
    })
}
