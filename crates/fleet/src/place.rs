//! Starts agents on other machines, and stops them when they are no longer needed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::access::state_folder;
use crate::kubernetes::{ClusterAgents, NAME};
use crate::ssh::{Hosts, StartedAgents};

const STOP_HINT: &str = "press Ctrl-C to stop the agents";

/// The machines for the agents of `plimsoll fleet up`.
pub enum Machines {
    /// A file with machines that are reachable with SSH.
    Hosts(PathBuf),
    Cluster(ClusterAgents),
}

/// Settings for starting and stopping agents.
pub struct Placement<'a> {
    /// The agents' file from `plimsoll fleet serve`, if it is not in the user's state directory.
    pub access: Option<&'a Path>,
    /// Receives messages for the user, one sentence each.
    pub notify: &'a dyn Fn(&str),
    /// Returns whether the agents are no longer needed.
    pub is_over: &'a dyn Fn() -> bool,
}

impl Placement<'_> {
    /// Starts the agents, and stops them when they are no longer needed.
    ///
    /// # Errors
    /// If they cannot be started, or if one of them exits early.
    pub fn run(&self, machines: &Machines) -> Result<(), String> {
        match machines {
            Machines::Hosts(hosts) => self.with_ssh(hosts),
            Machines::Cluster(agents) => self.in_kubernetes(agents),
        }
    }

    fn with_ssh(&self, hosts: &Path) -> Result<(), String> {
        let hosts = Hosts::read(hosts)?;
        let mut placed = StartedAgents::start(&hosts, &file(self.access)?, self.notify)?;
        (self.notify)(&format!(
            "{} agents were started; {STOP_HINT}",
            hosts.agents()
        ));
        placed.wait(self.is_over)
    }

    fn in_kubernetes(&self, agents: &ClusterAgents) -> Result<(), String> {
        let access = access_text(agents, self.access)?;
        let [secret, job] = [agents.secret(&access), agents.job()].map(|one| one.to_string());
        // Agents of another command must not be changed now or deleted at the end, so existing ones are an error.
        kubectl(&["create"], &secret).map_err(|error| {
            format!(
                "{error}. If agents of an earlier command remain, delete them: kubectl delete --namespace {} job,secret {NAME}",
                agents.namespace
            )
        })?;
        let delete = |manifest: &str| kubectl(&["delete", "--ignore-not-found"], manifest);
        if let Err(error) = kubectl(&["create"], &job) {
            delete(&secret)?;
            return Err(error);
        }
        (self.notify)(&format!(
            "{} agents were requested; {STOP_HINT}",
            agents.agents
        ));
        while !(self.is_over)() {
            std::thread::sleep(Duration::from_millis(100));
        }
        delete(&job)?;
        delete(&secret)
    }
}

/// The text of the manifests.
///
/// # Errors
/// If the agents' file cannot be read, or if a setting is missing.
pub fn manifests(agents: &ClusterAgents, access: Option<&Path>) -> Result<String, String> {
    let access = access_text(agents, access)?;
    Ok(format!("{:#}\n", agents.manifests(&access)))
}

/// The content of the agents' file. Checks that the other settings are complete.
fn access_text(agents: &ClusterAgents, access: Option<&Path>) -> Result<String, String> {
    let access = file(access)?;
    let text = std::fs::read_to_string(&access).map_err(|error| {
        format!(
            "cannot read {}: {error}; plimsoll fleet serve writes it",
            access.display()
        )
    })?;
    if agents.agents == 0 {
        return Err("set --agents".to_owned());
    }
    if agents.image.is_empty() {
        return Err("set --image: a container image whose entry point is plimsoll".to_owned());
    }
    Ok(text)
}

fn file(access: Option<&Path>) -> Result<PathBuf, String> {
    match access {
        Some(path) => Ok(path.to_owned()),
        None => Ok(state_folder()?.join("agent.json")),
    }
}

/// Runs a `kubectl` command with this manifest.
fn kubectl(command: &[&str], manifest: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| {
        format!("cannot run kubectl: {error}; --print writes the manifests instead")
    };
    let mut child = Command::new("kubectl")
        .args(command)
        .args(["-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(manifest.as_bytes()).map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("kubectl {} ended with {status}", command.join(" "))),
    }
}
