//! The workers of a run that a command asks for.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_frames::Policy;
use plimsoll_run::{Prepared, ScriptLog, Workers};

use crate::bus::Server;
use crate::fleet::{self, Fleet, FleetSettings};
use crate::local::{Local, PASSWORD};

/// How a run is shared by agents.
pub struct FleetRequest {
    /// The number of agents, from 1.
    pub agents: u32,
    /// The NATS server of the agents; without one they are started here.
    pub server: Option<String>,
    /// What happens when an agent is lost.
    pub policy: Policy,
    /// How long to wait for agents.
    pub patience: Duration,
    /// Worker threads of each agent.
    pub threads: Option<usize>,
    /// How requests are sent and received.
    pub io: &'static str,
    /// Whether thresholds are judged.
    pub thresholds: bool,
}

/// Finds the agents, or starts them.
///
/// # Errors
/// If the run cannot be divided, or agents are missing.
pub fn workers(
    request: FleetRequest,
    prepared: &Arc<Prepared>,
    log: ScriptLog,
) -> Result<Workers, String> {
    // Before any process is started.
    fleet::check(prepared, request.agents)?;
    let (server, local, threads) = match request.server {
        Some(address) => {
            let server = Server {
                address,
                user: "coordinator",
                password: std::env::var(PASSWORD).ok(),
            };
            (server, None, request.threads)
        }
        None => {
            let local = Local::start(request.agents)?;
            // The agents share the processors of this machine.
            let own = plimsoll_machine::processors() / request.agents.max(1) as usize;
            let threads = request.threads.unwrap_or_else(|| own.max(1));
            (local.server.clone(), Some(local), Some(threads))
        }
    };
    let fleet = Fleet::gather(FleetSettings {
        server,
        agents: request.agents,
        policy: request.policy,
        patience: request.patience,
        prepared: Arc::clone(prepared),
        threads,
        io: request.io.to_owned(),
        thresholds: request.thresholds,
        log,
        local,
    })?;
    Ok(Workers::Remote(Box::new(fleet)))
}
