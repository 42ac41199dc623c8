//! The commands for ssh(1): look up an address, start a program, and copy this program.

use std::fs::{self, File};
use std::net::{IpAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::super::start::start;
use super::super::{server, service};
use crate::resolve::host::Host;

/// ssh without prompts: a password, a passphrase or an unknown key causes an error. The user's
/// configuration determines how host keys are checked.
fn ssh(host: &Host) -> Result<Command, String> {
    let program = service::find("ssh", &[])
        .ok_or("the program ssh is missing: install the package openssh-client")?;
    let mut command = Command::new(program);
    if let Some(config) = &host.ssh_config {
        command.arg("-F").arg(config);
    }
    for option in [
        "BatchMode=yes",
        "ConnectTimeout=15",
        // Detect a host that no longer responds.
        "ServerAliveInterval=5",
        "ServerAliveCountMax=3",
        "ForwardAgent=no",
        "ForwardX11=no",
        "ClearAllForwardings=yes",
        "RequestTTY=no",
    ] {
        command.args(["-o", option]);
    }
    Ok(command)
}

/// An `ssh` command that runs a POSIX shell script on the host, regardless of the user's login
/// shell.
pub fn script(host: &Host, script: &str) -> Result<Command, String> {
    let mut command = ssh(host)?;
    command.args([
        "--",
        &host.destination,
        &format!("exec sh -c {}", quoted(script)),
    ]);
    Ok(command)
}

/// Quotes one word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The address to which the load connects.
///
/// # Errors
/// If the host has no address.
pub fn address(host: &Host) -> Result<IpAddr, String> {
    let name = match &host.address {
        Some(address) => address.clone(),
        None => {
            let mut command = ssh(host)?;
            command.args(["-G", "--", &host.destination]);
            let settings = service::output_of("ssh", &mut command)?;
            let name = settings
                .lines()
                .find_map(|line| line.strip_prefix("hostname "));
            name.unwrap_or(host.name()).to_owned()
        }
    };
    let found = (name.as_str(), 0)
        .to_socket_addrs()
        .map_err(|error| format!("{name} has no address: {error}"))?;
    let mut found: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    found.sort_by_key(IpAddr::is_ipv6);
    let first = found.first().copied();
    first.ok_or_else(|| format!("{name} has no address; set one with address = \"…\""))
}

/// The programs that a process needs on the host, and their directory on the host.
#[derive(Debug)]
pub struct Programs {
    /// A name that no other build has.
    version: String,
    files: Vec<PathBuf>,
    /// The path of this program on the host, if the lab file sets one.
    given: Option<String>,
}

/// The host prints this if a program is missing.
const ABSENT: &str = "plimsoll-is-absent";

impl Programs {
    /// Determines the programs that the other host needs.
    ///
    /// # Errors
    /// If the file of this program cannot be found.
    pub fn of(host: &Host, command: &[String]) -> Result<Programs, String> {
        let us = PathBuf::from(server::program_path()?);
        let mut files = vec![us.clone()];
        let serves = matches!(command.first().map(String::as_str), Some("plimsoll-serve"))
            || matches!(command, [first, second, ..] if first == "plimsoll" && second == "serve");
        let sibling = us.with_file_name("plimsoll-serve");
        if serves && sibling.is_file() {
            files.push(sibling);
        }
        let mut version = String::from(env!("CARGO_PKG_VERSION"));
        for file in &files {
            let metadata = fs::metadata(file)
                .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            let changed = metadata.modified().ok();
            let changed = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            let changed = changed.unwrap_or_default().as_nanos();
            version += &format!("-{:x}-{changed:x}", metadata.len());
        }
        Ok(Programs {
            version,
            files,
            given: host.program.clone(),
        })
    }

    fn directory(&self) -> String {
        format!(
            "${{XDG_CACHE_HOME:-$HOME/.cache}}/plimsoll/programs/{}",
            self.version
        )
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let names = self
            .files
            .iter()
            .filter_map(|file| file.file_name()?.to_str());
        // The file of this program may have another name on this host.
        std::iter::once("plimsoll").chain(names.skip(1))
    }

    /// The script that runs `plimsoll lab keep`, or reports that a program is missing.
    pub fn keep(&self) -> String {
        if let Some(program) = &self.given {
            return format!("exec {} lab keep", quoted(program));
        }
        let names: Vec<&str> = self.names().collect();
        format!(
            "d=\"{}\"; for p in {}; do [ -x \"$d/$p\" ] || {{ echo \"{ABSENT} $(uname -sm)\"; exit 0; }}; done; \
             exec \"$d/plimsoll\" lab keep",
            self.directory(),
            names.join(" ")
        )
    }

    /// The host's operating system, if this line reports a missing program.
    pub fn absent(line: &str) -> Option<&str> {
        line.trim().strip_prefix(ABSENT).map(str::trim)
    }

    /// Copies the programs to the host, and replaces other versions.
    ///
    /// # Errors
    /// If they cannot run on the host, or cannot be written.
    pub fn copy(&self, host: &Host, system: &str) -> Result<(), String> {
        let ours = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
        let theirs = system.to_lowercase().replace("arm64", "aarch64");
        if theirs != ours {
            return Err(format!(
                "this program is built for {ours}, but {} is {system}: install plimsoll there, and set its path with program = \"…\"",
                host.name()
            ));
        }
        for (file, name) in self.files.iter().zip(self.names()) {
            let input = File::open(file)
                .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            let length = input.metadata().map_err(|error| error.to_string())?.len();
            // Write the file under another name first, so a partial file never runs.
            let text = format!(
                "umask 077; d=\"{}\"; b=\"${{d%/*}}\"; mkdir -p \"$d\" || exit 1; \
                 for o in \"$b\"/*; do [ \"$o\" = \"$d\" ] || rm -rf \"$o\"; done; \
                 cat > \"$d/{name}.$$\" && [ \"$(wc -c < \"$d/{name}.$$\")\" -eq {length} ] && \
                 chmod 700 \"$d/{name}.$$\" && mv \"$d/{name}.$$\" \"$d/{name}\"",
                self.directory()
            );
            upload(host, &text, input).map_err(|why| {
                format!("cannot copy {} to {}: {why}", file.display(), host.name())
            })?;
        }
        Ok(())
    }
}

fn upload(host: &Host, text: &str, input: File) -> Result<(), String> {
    let mut command = script(host, text)?;
    command
        .stdin(Stdio::from(input))
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = start(&mut command, &[]).map_err(|error| error.to_string())?;
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(explain(&String::from_utf8_lossy(&output.stderr), host)),
    }
}

/// ssh's message, with the usual fix.
pub fn explain(message: &str, host: &Host) -> String {
    let message = message.trim();
    let config = match &host.ssh_config {
        Some(config) => format!("-F {} ", config.display()),
        None => String::new(),
    };
    let by_hand = format!("ssh {config}{}", host.destination);
    let fix = if message.contains("Host key verification failed") {
        format!(
            "; the lab connects to known hosts only: run {by_hand} once, compare the key, and accept it"
        )
    } else if message.contains("Permission denied") {
        format!(
            "; the lab cannot enter a password: set up a key so that {by_hand} works without a prompt"
        )
    } else {
        format!("; try {by_hand}")
    };
    match message.is_empty() {
        true => format!("ssh failed without a message{fix}"),
        false => format!("{message}{fix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_quoted_text_as_one_word() {
        for text in ["", "a b", "it's", "$(id)", "`id`; \"x\" \\ *", "'\n''"] {
            let command = format!("printf %s {}", quoted(text));
            let output = Command::new("sh").args(["-c", &command]).output();
            let output = output.expect("sh").stdout;
            assert_eq!(String::from_utf8_lossy(&output), text);
        }
    }

    #[test]
    fn common_connection_errors_have_a_fix() {
        let host = Host {
            destination: "me@machine".to_owned(),
            ssh_config: Some("my config".into()),
            address: None,
            program: None,
            place: crate::problem::Location::default(),
        };
        let text = explain("Host key verification failed.\n", &host);
        assert!(
            text.contains("known hosts only: run ssh -F my config me@machine once"),
            "{text}"
        );
        let text = explain("me@machine: Permission denied (publickey).", &host);
        assert!(text.contains("cannot enter a password"), "{text}");
        let text = explain("", &host);
        assert!(text.contains("without a message; try ssh"), "{text}");
    }
}
