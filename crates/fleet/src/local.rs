//! A NATS server and agents on this machine for one run.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::access::{Access, PASSWORD, Role, write_private};
use crate::random;
use crate::server;

/// Maximum time for the start of the server.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Starts the server, and stops it when stdin is closed, which happens however this process exits.
const SERVER_SCRIPT: &str =
    r#""$0" -c "$1" <&- & server=$!; read -r _; kill "$server"; wait "$server""#;

/// A function that returns how the process of the agent with this name exited. `None` while it runs.
pub type Ended = Box<dyn Fn(&str) -> Option<ExitStatus> + Send>;

/// The processes of the agents, by name.
type Agents = Arc<Mutex<BTreeMap<String, Child>>>;

/// A server and agents. They stop when this is dropped.
pub struct Local {
    pub server: Access,
    agents: Agents,
    keeper: Child,
    folder: TempDir,
}

impl Local {
    /// Starts a server that only this machine can reach, and this many agents. An agent is this program with the
    /// command `agent`.
    ///
    /// # Errors
    /// If the server is missing or does not start.
    pub fn start(agents: u32) -> Result<Local, String> {
        let failed = |error: std::io::Error| {
            format!("cannot create a directory for the NATS server: {error}; set TMPDIR")
        };
        let folder = tempfile::Builder::new()
            .prefix("plimsoll-fleet-")
            .tempdir()
            .map_err(failed)?;
        let program = server::program()?;
        let [coordinator, agent] =
            [random::bytes::<16>()?, random::bytes::<16>()?].map(|bytes| random::hex(&bytes));
        let config = folder.path().join("nats.conf");
        let text = server::configuration("127.0.0.1:-1", &coordinator, &agent);
        let ports = format!("ports_file_dir: {:?}\n", folder.path());
        write_private(&config, &format!("{text}{ports}"))?;
        let log = folder.path().join("nats.log");
        let output = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .map_err(failed)?;
        let keeper = Command::new("/bin/sh")
            .args(["-c", SERVER_SCRIPT])
            .arg(&program)
            .arg(&config)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(output)
            // Ctrl-C is only for this process, which ends the run gracefully.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let mut local = Local {
            server: Access {
                address: String::new(),
                user: Role::Coordinator.user().to_owned(),
                password: Some(coordinator),
                ca: None,
            },
            agents: Arc::default(),
            keeper,
            folder,
        };
        local.server.address = local.address().ok_or_else(|| {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            let last = text.lines().last().unwrap_or("no message").to_owned();
            format!("{} did not start: {last}", program.display())
        })?;
        for number in 0..agents {
            let name = format!("local-{number:03}");
            let child = local.agent(&name, &agent)?;
            lock(&local.agents).insert(name, child);
        }
        Ok(local)
    }

    /// Waits for agents that are about to exit on their own and may have to delete files.
    pub fn wait_for_agents(&self) {
        let started = Instant::now();
        for agent in lock(&self.agents).values_mut() {
            while matches!(agent.try_wait(), Ok(None)) && started.elapsed() < Duration::from_secs(2)
            {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Returns a function that reports which agents have exited.
    pub fn ended(&self) -> Ended {
        let agents = Arc::clone(&self.agents);
        Box::new(move |name| {
            let mut agents = lock(&agents);
            // If this fails, the status is unknown.
            agents.get_mut(name)?.try_wait().ok()?
        })
    }

    /// The address of the server, once it serves.
    fn address(&self) -> Option<String> {
        let started = Instant::now();
        while started.elapsed() < START_TIMEOUT {
            if let Some(address) = self.written_address() {
                return Some(address);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// The address that the server has written to its folder.
    fn written_address(&self) -> Option<String> {
        let entries = std::fs::read_dir(self.folder.path()).ok()?;
        let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let file = files.find(|path| path.extension().is_some_and(|end| end == "ports"))?;
        let text = std::fs::read_to_string(file).ok()?;
        let ports: Value = serde_json::from_str(&text).ok()?;
        Some(ports.get("nats")?.get(0)?.as_str()?.to_owned())
    }

    fn agent(&self, name: &str, password: &str) -> Result<Child, String> {
        let program = std::env::current_exe()
            .map_err(|error| format!("cannot find this program: {error}"))?;
        Command::new(program)
            .args(["fleet", "agent", "--attached", "--one-run", "--name", name])
            .arg(&self.server.address)
            .env(PASSWORD, password)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot start an agent: {error}"))
    }
}

fn lock(agents: &Agents) -> MutexGuard<'_, BTreeMap<String, Child>> {
    agents.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Local {
    fn drop(&mut self) {
        let mut agents = lock(&self.agents);
        for agent in agents.values_mut() {
            // If this fails, it has already exited. It exits when its stdin is closed.
            drop(agent.stdin.take());
        }
        let started = Instant::now();
        for agent in agents.values_mut() {
            while matches!(agent.try_wait(), Ok(None)) && started.elapsed() < Duration::from_secs(2)
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            let _ = agent.kill();
            let _ = agent.wait();
        }
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
