//! `plimsoll agent`, and the agents of a run.

use std::sync::Arc;

use plimsoll_run::{Prepared, Refusal, Workers};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::log::Log;

use crate::args::{AgentArgs, RunArgs};

#[cfg(not(feature = "fleet"))]
const MISSING: &str = "this program was built without fleets; build it with --features fleet";

/// Where the users of a run are: here, or on agents.
///
/// # Errors
/// If the run cannot be divided, or agents are missing.
pub fn workers(
    args: &RunArgs,
    prepared: &Arc<Prepared>,
    log: &Arc<Log>,
) -> Result<Workers, Refusal> {
    let Some(agents) = args.fleet.fleet else {
        return Ok(Workers::Local);
    };
    refuse(args, prepared).map_err(Refusal::config)?;
    start(args, agents, prepared, log).map_err(Refusal::other)
}

/// Refuses what a fleet cannot do, rather than leave it out silently.
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
        (
            !args.runtime.secret_source.is_empty(),
            "--secret-source",
            "agents do not get secrets",
        ),
        (
            args.options.tls.files().is_given(),
            "TLS flags",
            "agents do not get these files; use the script's tlsAuth or insecureSkipTLSVerify",
        ),
    ];
    match refused.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, flag, why)) => Err(format!("--fleet does not work with {flag}: {why}")),
        None => Ok(()),
    }
}

#[cfg(feature = "fleet")]
fn start(
    args: &RunArgs,
    agents: u32,
    prepared: &Arc<Prepared>,
    log: &Arc<Log>,
) -> Result<Workers, String> {
    use plimsoll_fleet::{FleetRequest, Policy};

    use crate::args::FleetLoss;

    let request = FleetRequest {
        agents,
        server: args.fleet.fleet_server.clone(),
        policy: match args.fleet.fleet_loss {
            FleetLoss::Fail => Policy::Fail,
            FleetLoss::Degrade => Policy::Degrade,
        },
        patience: args.fleet.fleet_wait,
        threads: args.runtime.threads.threads,
        io: args.options.connection.io.io.name(),
        thresholds: !args.runtime.no_thresholds,
    };
    plimsoll_fleet::workers(request, prepared, log.sink())
}

#[cfg(not(feature = "fleet"))]
fn start(_: &RunArgs, _: u32, _: &Arc<Prepared>, _: &Arc<Log>) -> Result<Workers, String> {
    Err(MISSING.to_owned())
}

/// Serves runs until it is interrupted.
#[cfg(feature = "fleet")]
pub fn agent(args: &AgentArgs) -> Exit {
    use plimsoll_fleet::{AgentSettings, Server, serve};
    use plimsoll_terminal::messages::{complain, say};

    if args.local {
        // The process that started this agent has ended when stdin is closed.
        std::thread::spawn(|| {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            std::process::exit(i32::from(Exit::GENERIC.code()));
        });
    }
    let served = serve(AgentSettings {
        server: Server {
            address: args.server.clone(),
            user: "agent",
            password: std::env::var(plimsoll_fleet::PASSWORD).ok(),
        },
        name: args.name.clone().unwrap_or_else(plimsoll_fleet::host_name),
        is_for_one_run: args.local,
        say: Box::new(say),
    });
    match served {
        Ok(()) => Exit::SUCCESS,
        Err(error) => {
            complain(&format!(
                "could not connect to the NATS server: {error}. Is it running, and is the password in {} right?",
                plimsoll_fleet::PASSWORD
            ));
            Exit::GENERIC
        }
    }
}

#[cfg(not(feature = "fleet"))]
pub fn agent(_: &AgentArgs) -> Exit {
    plimsoll_terminal::messages::complain(MISSING);
    Exit::GENERIC
}
