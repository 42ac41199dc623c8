//! Finds or starts the agents that a command requests as its workers.

use std::time::Duration;

use plimsoll_frames::Policy;
use plimsoll_run::{ScriptLog, Workers};

use crate::access::{Access, Role};
use crate::agent_count::AgentCount;
use crate::fleet::{self, Fleet, FleetSettings};
use crate::load::FleetLoad;
use crate::local::Local;
use crate::takeovers;

/// How agents share a run.
pub struct FleetRequest {
    pub agents: AgentCount,
    /// The NATS server of the agents: an address, or a file from `plimsoll fleet serve`.
    pub server: Option<String>,
    /// The policy for lost agents.
    pub policy: Policy,
    /// Maximum time to wait for agents.
    pub patience: Duration,
    /// Worker threads per agent.
    pub threads: Option<usize>,
    /// The kernel interface for sending and receiving.
    pub io: &'static str,
    pub load: FleetLoad,
}

/// Finds the agents, or starts them.
///
/// # Errors
/// If the run cannot be divided, or agents are missing.
pub fn workers(request: FleetRequest, log: ScriptLog) -> Result<Workers, String> {
    // Check this before starting any process.
    fleet::check(&request.load, request.agents.total())?;
    if request.policy == Policy::Redistribute {
        takeovers::check(&request.load.plan())?;
    }
    let (server, local, threads) = match (&request.agents, &request.server) {
        (AgentCount::Local(_), Some(_)) => {
            return Err("--fleet local:N starts its own NATS server; remove --fleet-server, or use --fleet N".to_owned());
        }
        (AgentCount::Groups(_), name) => {
            let server = Access::named(name.as_deref(), Role::Coordinator)?;
            (server, None, request.threads)
        }
        (AgentCount::Local(agents), None) => {
            let local = Local::start(*agents)?;
            // The agents share the processors of this machine.
            let own = plimsoll_machine::processors() / *agents as usize;
            let threads = request.threads.unwrap_or_else(|| own.max(1));
            (local.server.clone(), Some(local), Some(threads))
        }
    };
    if request.load.is_secret() && !server.is_private() {
        return Err("the agents would receive secrets without encryption: use a tls:// address, or the server of plimsoll fleet serve".to_owned());
    }
    let fleet = Fleet::find(FleetSettings {
        server,
        agents: request.agents,
        policy: request.policy,
        patience: request.patience,
        load: request.load,
        threads,
        io: request.io.to_owned(),
        log,
        local,
    })?;
    Ok(Workers::Remote(Box::new(fleet)))
}
