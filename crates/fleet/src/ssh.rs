//! Starts agents on machines with SSH, and stops them afterwards.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

/// How long agents may take to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The machines of a fleet: a TOML file with a table `[[host]]` for each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hosts {
    host: Vec<Host>,
}

/// One machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Host {
    /// The destination for `ssh`: a name from its configuration, or `user@host`.
    address: String,
    /// The number of agents.
    #[serde(default = "one")]
    agents: u32,
    region: Option<String>,
    /// The directory for the program and the credentials, below the user's home unless absolute.
    #[serde(default = "directory")]
    directory: String,
    /// Additional arguments for `ssh`.
    #[serde(default)]
    ssh: Vec<String>,
    /// Additional arguments for `plimsoll fleet agent`.
    #[serde(default)]
    agent: Vec<String>,
}

fn one() -> u32 {
    1
}

fn directory() -> String {
    ".plimsoll".to_owned()
}

impl Hosts {
    /// Reads the file.
    ///
    /// # Errors
    /// If the file is invalid.
    pub fn read(path: &Path) -> Result<Hosts, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let hosts: Hosts = toml::from_str(&text).map_err(|error| wrong(&error))?;
        for host in &hosts.host {
            if host.address.starts_with('-') {
                return Err(wrong(&format!("{} is not an address", host.address)));
            }
            if host.agents == 0 {
                return Err(wrong(&format!("{} has no agents", host.address)));
            }
        }
        Ok(hosts)
    }

    /// The total number of agents.
    pub fn agents(&self) -> u32 {
        self.host.iter().map(|host| host.agents).sum()
    }
}

/// Agents on machines. They stop when this is dropped, or when this process exits.
pub struct StartedAgents {
    agents: Vec<Child>,
}

impl StartedAgents {
    /// Copies this program and the agents' file to each machine, and starts the agents.
    ///
    /// # Errors
    /// If a machine cannot be reached, or the program cannot be copied.
    pub fn start(
        hosts: &Hosts,
        access: &Path,
        notify: &dyn Fn(&str),
    ) -> Result<StartedAgents, String> {
        let path = std::env::current_exe()
            .map_err(|error| format!("cannot find this program: {error}"))?;
        let program = std::fs::read(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let hash = hash_of(&path)?;
        let access = std::fs::read(access)
            .map_err(|error| format!("cannot read {}: {error}", access.display()))?;
        let mut placed = StartedAgents { agents: Vec::new() };
        for host in &hosts.host {
            let remote = Remote::new(host, &hash);
            if remote.has_program()? {
                notify(&format!("{} has this program already", host.address));
            } else {
                notify(&format!("copying this program to {}", host.address));
                remote.copy(&remote.program, &program, "700")?;
                if !remote.has_program()? {
                    return Err(format!(
                        "the program on {} differs after copying",
                        host.address
                    ));
                }
            }
            remote.copy(&remote.access, &access, "600")?;
            for number in 0..host.agents {
                placed.agents.push(remote.agent(number)?);
            }
            notify(&format!(
                "started {} agents on {}",
                host.agents, host.address
            ));
        }
        Ok(placed)
    }

    /// Waits until an agent exits, or until `is_over` returns true.
    ///
    /// # Errors
    /// If an agent exited on its own.
    pub fn wait(&mut self, is_over: &dyn Fn() -> bool) -> Result<(), String> {
        while !is_over() {
            for agent in &mut self.agents {
                if let Ok(Some(status)) = agent.try_wait() {
                    return Err(format!(
                        "an agent exited with {status}; see the lines above for the reason"
                    ));
                }
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

impl Drop for StartedAgents {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            // The agent exits when its stdin is closed.
            drop(agent.stdin.take());
        }
        let started = Instant::now();
        for agent in &mut self.agents {
            while matches!(agent.try_wait(), Ok(None)) && started.elapsed() < EXIT_TIMEOUT {
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = agent.kill();
            let _ = agent.wait();
        }
    }
}

/// The SHA-256 hash of a file, computed by the same program as on the machines.
fn hash_of(path: &Path) -> Result<String, String> {
    let failed = |error: &dyn std::fmt::Display| format!("sha256sum {}: {error}", path.display());
    let output = Command::new("sha256sum").arg("--").arg(path).output();
    let output = output.map_err(|error| failed(&error))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // If a name contains special characters, a backslash precedes the hash.
    let hash = text.trim_start_matches('\\').get(..64).map(str::to_owned);
    hash.ok_or_else(|| failed(&String::from_utf8_lossy(&output.stderr).trim()))
}

/// A machine, and the paths of its files.
struct Remote<'a> {
    host: &'a Host,
    hash: &'a str,
    program: PathBuf,
    access: PathBuf,
}

impl<'a> Remote<'a> {
    fn new(host: &'a Host, hash: &'a str) -> Remote<'a> {
        let directory = Path::new(&host.directory);
        // The path contains the version, so that versions do not replace each other while they run.
        let program = directory.join(format!("plimsoll-{}", hash.get(..16).unwrap_or(hash)));
        Remote {
            host,
            hash,
            program,
            access: directory.join("agent.json"),
        }
    }

    /// Runs a command in the machine's shell.
    fn ssh(&self, command: &str) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.args(["-o", "BatchMode=yes", "-T"])
            .args(&self.host.ssh)
            .args(["--", &self.host.address, command]);
        ssh
    }

    fn has_program(&self) -> Result<bool, String> {
        let command = format!("sha256sum < {} 2>/dev/null; true", quoted(&self.program));
        let output = (self.ssh(&command).stdin(Stdio::null()).output())
            .map_err(|error| self.failed(&error))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(self.failed(&stderr.trim()));
        }
        Ok(output.stdout.starts_with(self.hash.as_bytes()))
    }

    /// Writes a file with these permissions, completely or not at all.
    fn copy(&self, path: &Path, content: &[u8], mode: &str) -> Result<(), String> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let (folder, path) = (quoted(folder), quoted(path));
        let command = format!(
            "umask 077 && mkdir -p {folder} && cat > {path}.$$ && chmod {mode} {path}.$$ && mv {path}.$$ {path}"
        );
        let mut child = (self.ssh(&command).stdin(Stdio::piped()).spawn())
            .map_err(|error| self.failed(&error))?;
        let written = child.stdin.take().map(|mut stdin| stdin.write_all(content));
        let status = child.wait().map_err(|error| self.failed(&error))?;
        match (written, status.success()) {
            (Some(Ok(())), true) => Ok(()),
            _ => Err(self.failed(&format!("copying a file failed with {status}"))),
        }
    }

    fn agent(&self, number: u32) -> Result<Child, String> {
        let mut command = format!(
            "exec {} fleet agent {} --attached --name {}-{number}",
            quoted(&self.program),
            quoted(&self.access),
            quoted(Path::new(&self.host.address))
        );
        if let Some(region) = &self.host.region {
            command.push_str(&format!(" --region {}", quoted(Path::new(region))));
        }
        for argument in &self.host.agent {
            command.push_str(&format!(" {}", quoted(Path::new(argument))));
        }
        let mut ssh = self.ssh(&command);
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            // Ctrl-C is only for this process, which stops the agents gracefully.
            ssh.process_group(0);
        }
        ssh.stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> String {
        format!("{}: {error}", self.host.address)
    }
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &Path) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Hosts::read(&path)
        };
        let hosts = read(
            "[[host]]\naddress = 'one'\n[[host]]\naddress = 'me@two'\nagents = 3\nregion = 'eu'\nssh = ['-p', '22']\n",
        )
        .unwrap();
        assert_eq!(hosts.agents(), 4);
        assert_eq!(hosts.host[0].directory, ".plimsoll");
        for wrong in [
            "[[host]]\n",
            "[[host]]\naddress = '-oProxyCommand=x'\n",
            "[[host]]\naddress = 'a'\nagents = 0\n",
            "[[host]]\naddress = 'a'\nagent = 3\n",
            "[[host]]\naddress = 'a'\nagnets = 3\n",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted(Path::new("a b")), "'a b'");
        assert_eq!(quoted(Path::new("it's; rm")), r"'it'\''s; rm'");
    }
}
