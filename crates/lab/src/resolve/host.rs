//! Runs the systems and services of a place on another host.

use std::path::PathBuf;

use serde::Serialize;

use super::fields::Fields;
use super::process::{Process, ProcessKind};
use super::text_of_optional_path;
use crate::problem::{Location, Problem};

/// A host that the lab reaches over SSH.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Host {
    /// The destination for ssh, for example `me@machine`.
    pub destination: String,
    /// The configuration file for ssh; by default the user's own.
    #[serde(serialize_with = "text_of_optional_path")]
    pub ssh_config: Option<PathBuf>,
    /// The address to which the load connects; by default that of ssh.
    pub address: Option<String>,
    /// The path of this program on the host. By default the lab copies it there.
    pub program: Option<String>,
    /// Its location in the lab file.
    #[serde(skip)]
    pub place: Location,
}

impl Host {
    /// The host of a place, if any.
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Host> {
        let text = fields.text("host");
        for key in ["address", "program", "ssh-config"] {
            if text.is_none() && fields.has(key) {
                fields.problem_at(
                    key,
                    format!("{key} is only for a host: add host = \"ssh:…\""),
                );
            }
        }
        let text = text?;
        let Some(destination) = text.strip_prefix("ssh:") else {
            fields.problem_at(
                "host",
                format!("{text:?} is not a host: write ssh: and a destination for ssh, such as ssh:me@machine"),
            );
            return None;
        };
        // ssh would parse a leading dash as an option, and a shell would interpret the other characters.
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-@:[]%".contains(c);
        if destination.is_empty() || destination.starts_with('-') || !destination.chars().all(fits)
        {
            fields.problem_at(
                "host",
                format!("{destination:?} is not a host name or address, optionally preceded by USER@; to set a port, use a file for ssh-config"),
            );
            return None;
        }
        for key in ["by", "round-trip", "jitter", "rate", "loss", "cpus"] {
            if fields.has(key) {
                fields.problem_at(key, format!("the network to another host is real, and the lab does not change it: remove {key}"));
            }
        }
        Some(Host {
            destination: destination.to_owned(),
            ssh_config: fields.path("ssh-config"),
            address: fields.text("address"),
            program: fields.text("program"),
            place: fields.place_of("host"),
        })
    }

    /// The host's name without the user.
    pub fn name(&self) -> &str {
        let name = self.destination.rsplit_once('@');
        name.map_or(self.destination.as_str(), |(_, name)| name)
    }
}

/// Makes these processes run on the host.
pub(super) fn place(processes: &mut [Process], host: &Host, problems: &mut Vec<Problem>) {
    for process in processes.iter_mut().filter(|one| one.url.is_none()) {
        let mut refuse = |place: &Location, why: String| problems.push(place.problem(why));
        if process.kind != ProcessKind::Command {
            refuse(
                &process.place_of_command,
                format!(
                    "{} cannot be started on {}: only processes with a command can be. Start it there yourself, and set url",
                    process.name,
                    host.name()
                ),
            );
        }
        if process.user.is_some() {
            refuse(
                &process.place,
                format!(
                    "{} runs on {} as the user of the ssh connection: remove user",
                    process.name,
                    host.name()
                ),
            );
        }
        let loopback = process.command.iter().find(|word| {
            ["127.0.0.1:{", "localhost:{", "[::1]:{"]
                .iter()
                .any(|here| word.contains(here))
        });
        if let Some(word) = loopback {
            refuse(
                &process.place_of_command,
                format!(
                    "{word:?} can only be reached from {} itself: write {{address}}, which is the host's address and the port",
                    host.name()
                ),
            );
        }
        process.host = Some(host.clone());
    }
}
