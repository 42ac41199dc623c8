//! Runs users in this process, or on the agents of a fleet.

#[cfg(feature = "fleet")]
mod agents;
#[cfg(feature = "fleet")]
mod command;

#[cfg(feature = "scripts")]
use std::sync::Arc;

#[cfg(feature = "scripts")]
use plimsoll_run::{PreparedScript, Workers};
use plimsoll_run::{Refusal, ResolvedLoad};
use plimsoll_terminal::load_run::PlacedLoad;
#[cfg(feature = "scripts")]
use plimsoll_terminal::log::Log;

use crate::args::FleetArgs;
#[cfg(feature = "scripts")]
use crate::args::RunArgs;

#[cfg(feature = "fleet")]
pub use command::{FleetCommandArgs, fleet};

/// Where to run the users of a script: in this process, or on agents.
///
/// # Errors
/// If the run cannot be divided, or agents are missing.
#[cfg(feature = "scripts")]
pub fn workers(
    args: &RunArgs,
    prepared: &Arc<PreparedScript>,
    log: &Arc<Log>,
) -> Result<Workers, Refusal> {
    match args.fleet.fleet {
        None => Ok(Workers::Local),
        #[cfg(feature = "fleet")]
        Some(_) => agents::script_workers(args, prepared, log.sink()),
        #[cfg(not(feature = "fleet"))]
        Some(_) => {
            let _ = (prepared, log);
            missing()
        }
    }
}

/// Resolves a load without a script, and places its users in this process or on agents.
///
/// # Errors
/// If an option is invalid.
pub fn load<'a>(
    args: &'a FleetArgs,
    options: impl FnOnce() -> Result<ResolvedLoad, String>,
) -> Result<PlacedLoad<'a>, Refusal> {
    match args.fleet {
        None => options().map(PlacedLoad::local).map_err(Refusal::config),
        #[cfg(feature = "fleet")]
        Some(_) => agents::load(args, options),
        #[cfg(not(feature = "fleet"))]
        Some(_) => missing(),
    }
}

/// Rejects `--fleet` in a program that was built without fleets.
#[cfg(not(feature = "fleet"))]
fn missing<T>() -> Result<T, Refusal> {
    let text = "this program was built without fleets; build it with --features fleet";
    Err(Refusal::other(text))
}
