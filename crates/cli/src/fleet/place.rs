//! `plimsoll fleet up`: agents on other machines, until they are no longer needed.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_fleet::{ClusterAgents, Hosts, Placed, state_folder};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{put, say};
use plimsoll_terminal::signals;

use crate::args::FleetUpArgs;

const WAITING: &str = "press Ctrl-C to end the agents";

/// Starts the agents, and ends them when this command is interrupted.
pub fn up(args: &FleetUpArgs) -> Result<(), String> {
    let access = match &args.access {
        Some(path) => path.clone(),
        None => state_folder()?.join("agent.json"),
    };
    match &args.ssh {
        Some(hosts) => with_ssh(hosts, &access),
        None => in_kubernetes(args, &access),
    }
}

/// Becomes true at the first signal.
fn interrupted() -> Result<Arc<AtomicBool>, String> {
    let is_over = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_over);
    signals::on_signals(
        move |_| flag.store(true, Ordering::Relaxed),
        |_| (),
        Exit::SIGNAL.code(),
    )?;
    Ok(is_over)
}

fn with_ssh(hosts: &Path, access: &Path) -> Result<(), String> {
    let hosts = Hosts::read(hosts)?;
    let is_over = interrupted()?;
    let mut placed = Placed::start(&hosts, access, &say)?;
    say(&format!(
        "{} agents were started; {WAITING}",
        hosts.agents()
    ));
    placed.wait(&|| is_over.load(Ordering::Relaxed))
}

fn in_kubernetes(args: &FleetUpArgs, access: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(access).map_err(|error| {
        format!(
            "cannot read {}: {error}; plimsoll fleet serve writes it",
            access.display()
        )
    })?;
    let agents = ClusterAgents {
        agents: args
            .agents
            .filter(|agents| *agents > 0)
            .ok_or("set --agents")?,
        image: args
            .image
            .clone()
            .ok_or("set --image: a container image whose entry point is plimsoll")?,
        namespace: args.namespace.clone(),
        region: args.region.clone(),
        cpu: args.cpu.clone(),
        memory: args.memory.clone(),
        access: text,
    };
    let manifests = format!("{:#}\n", agents.manifests());
    if args.print {
        put(manifests.as_bytes());
        return Ok(());
    }
    let is_over = interrupted()?;
    kubectl("apply", &manifests)?;
    say(&format!(
        "{} agents were requested; {WAITING}",
        agents.agents
    ));
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
    kubectl("delete", &manifests)
}

/// Runs a command of `kubectl` with these manifests.
fn kubectl(command: &str, manifests: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| {
        format!("cannot run kubectl: {error}; --print writes the manifests instead")
    };
    let mut child = Command::new("kubectl")
        .args([command, "-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(manifests.as_bytes()).map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("kubectl {command} ended with {status}")),
    }
}
