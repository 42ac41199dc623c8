//! Fleets in a program that was built without them.

#[cfg(feature = "scripts")]
use std::sync::Arc;

use plimsoll_run::{FileSet, Resolved, Workers};
#[cfg(feature = "scripts")]
use plimsoll_run::{Prepared, ScriptLog};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::complain;

#[cfg(feature = "scripts")]
use crate::args::RunArgs;
use crate::args::{FleetArgs, FleetCommandArgs};

const MISSING: &str = "this program was built without fleets; build it with --features fleet";

pub fn fleet(_: &FleetCommandArgs) -> Exit {
    complain(MISSING);
    Exit::GENERIC
}

#[cfg(feature = "scripts")]
pub fn script_workers(_: &RunArgs, _: &Arc<Prepared>, _: ScriptLog) -> Result<Workers, String> {
    Err(MISSING.to_owned())
}

pub fn command_workers(_: &FleetArgs, _: &Resolved, _: FileSet) -> Result<Workers, String> {
    Err(MISSING.to_owned())
}
