//! `plimsoll fleet`, and the agents of a run.

#[cfg(feature = "scripts")]
use std::sync::Arc;

#[cfg(feature = "scripts")]
use plimsoll_run::{Prepared, Workers};
use plimsoll_run::{Refusal, Resolved, collect_files};
use plimsoll_terminal::load_run::PlacedLoad;
#[cfg(feature = "scripts")]
use plimsoll_terminal::log::Log;

use crate::args::FleetArgs;
#[cfg(feature = "scripts")]
use crate::args::RunArgs;

#[cfg(not(feature = "fleet"))]
mod missing;
#[cfg(feature = "fleet")]
mod present;

#[cfg(not(feature = "fleet"))]
use missing as implementation;
#[cfg(not(feature = "fleet"))]
pub use missing::fleet;
#[cfg(feature = "fleet")]
use present as implementation;
#[cfg(feature = "fleet")]
pub use present::fleet;

/// Where the users of a script's run are: here, or on agents.
///
/// # Errors
/// If the run cannot be divided, or agents are missing.
#[cfg(feature = "scripts")]
pub fn workers(
    args: &RunArgs,
    prepared: &Arc<Prepared>,
    log: &Arc<Log>,
) -> Result<Workers, Refusal> {
    if args.fleet.fleet.is_none() {
        return Ok(Workers::Local);
    }
    refuse(args, prepared).map_err(Refusal::config)?;
    implementation::script_workers(args, prepared, log.sink()).map_err(Refusal::other)
}

/// Refuses what a fleet cannot do, rather than leave it out silently.
#[cfg(feature = "scripts")]
fn refuse(args: &RunArgs, prepared: &Prepared) -> Result<(), String> {
    let has_output = args
        .out
        .iter()
        .any(|text| !text.is_empty() && !text.starts_with("web-dashboard"));
    let refused = [
        (has_output, "--out", "agents send sums, not single samples"),
        (
            args.address.as_deref().is_some_and(|text| !text.is_empty()),
            "--address",
            "a fleet cannot be paused or scaled",
        ),
        (
            prepared.plan.options.paused == Some(true),
            "--paused",
            "a fleet starts when all agents are ready",
        ),
    ];
    match refused.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, flag, why)) => Err(format!("--fleet does not work with {flag}: {why}")),
        None => Ok(()),
    }
}

/// A load without a script, with the files that agents need, and where its users are: here, or on agents.
///
/// # Errors
/// If an option is invalid.
pub fn load(
    args: &FleetArgs,
    options: impl FnOnce() -> Result<Resolved, String>,
) -> Result<PlacedLoad<'_>, Refusal> {
    if args.fleet.is_none() {
        let resolved = options().map_err(Refusal::config)?;
        return Ok(PlacedLoad::local(resolved));
    }
    let (resolved, files) = collect_files(|| {
        let resolved = options()?;
        resolved.load.read_files()?;
        Ok::<_, String>(resolved)
    });
    Ok(PlacedLoad {
        resolved: resolved.map_err(Refusal::config)?,
        workers: Box::new(|resolved| {
            implementation::command_workers(args, resolved, files).map_err(Refusal::other)
        }),
    })
}
