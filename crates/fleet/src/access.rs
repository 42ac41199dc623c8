//! The address and credentials of the NATS server, for a coordinator or an agent.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The environment variable with the password of an agent or a coordinator.
pub const PASSWORD: &str = "PLIMSOLL_FLEET_PASSWORD";
/// The file of a coordinator that runs on the server's machine.
const COORDINATOR_FILE: &str = "coordinator.json";

/// A NATS server and the credentials for it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Access {
    /// The address: `nats://host:4222`, or `tls://host:4222`.
    pub address: String,
    /// The user name, if the address has none.
    pub user: String,
    /// The user's password, if the server requires one.
    pub password: Option<String>,
    /// The certificate authority that signed the server's certificate (PEM), if the system does not trust it.
    #[serde(default)]
    pub ca: Option<String>,
}

/// The two roles that users of the server have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Coordinator,
    Agent,
}

impl Role {
    /// The user name on the server.
    pub fn user(self) -> &'static str {
        match self {
            Role::Coordinator => "coordinator",
            Role::Agent => "agent",
        }
    }
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("user", &self.user).finish()
    }
}

impl Access {
    /// The access that a user specifies: an address, with the password in a variable, or a file that `plimsoll fleet
    /// serve` has written. On the server's machine, a coordinator may omit it.
    ///
    /// # Errors
    /// If the file does not exist.
    pub fn named(name: Option<&str>, role: Role) -> Result<Access, String> {
        match name {
            Some(address) if address.contains("://") => Ok(Access {
                address: address.to_owned(),
                user: role.user().to_owned(),
                password: std::env::var(PASSWORD).ok(),
                ca: None,
            }),
            Some(path) => Access::read(path.as_ref()),
            None => {
                let path = state_folder()?.join(COORDINATOR_FILE);
                if !path.exists() {
                    return Err("no NATS server for agents is known: start one with plimsoll fleet serve, or set --fleet-server. For agents on this machine only, use --fleet local:4".to_owned());
                }
                Access::read(&path)
            }
        }
    }

    fn read(path: &Path) -> Result<Access, String> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            format!(
                "cannot read {}: {error}. Give an address (nats://HOST:4222), or a file that plimsoll fleet serve has written",
                path.display()
            )
        })?;
        serde_json::from_str(&text).map_err(|error| {
            format!(
                "{} is not a file of plimsoll fleet serve: {error}",
                path.display()
            )
        })
    }

    /// Writes a file that only this user can read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        // Serialization fails only for maps whose keys are not strings.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write_private(path, &format!("{text}\n"))
    }

    /// Whether messages are encrypted or stay on this machine.
    pub fn is_private(&self) -> bool {
        let host = self.address.split_once("://");
        let host = host.map_or("", |(_, rest)| rest.rsplit('@').next().unwrap_or(rest));
        let is_here = ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
            let rest = host.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        });
        is_here || self.ca.is_some() || self.address.starts_with("tls://")
    }
}

/// Writes a file that only this user can read. Replaces an existing file.
///
/// # Errors
/// If it cannot be written.
pub fn write_private(path: &Path, text: &str) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    // An existing file would keep its permissions.
    if path.exists() {
        std::fs::remove_file(path).map_err(cannot)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path).map_err(cannot)?;
    file.write_all(text.as_bytes()).map_err(cannot)
}

/// The directory for the server's files and for results that have not been collected (XDG Base Directory
/// Specification).
///
/// # Errors
/// If the user has no such directory.
pub fn state_folder() -> Result<PathBuf, String> {
    let absolute = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    absolute("XDG_STATE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/state")))
        .map(|state| state.join("plimsoll/fleet"))
        .ok_or_else(|| "neither XDG_STATE_HOME nor HOME is set: set one of them".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: &str) -> Access {
        Access {
            address: address.to_owned(),
            user: "agent".to_owned(),
            password: None,
            ca: None,
        }
    }

    #[test]
    fn secrets_need_encryption_on_the_network() {
        for address in [
            "nats://127.0.0.1:4222",
            "nats://localhost",
            "tls://far:4222",
        ] {
            assert!(access(address).is_private(), "{address}");
        }
        for address in [
            "nats://10.0.0.1:4222",
            "nats://localhost.example",
            "nats://127.0.0.1@far",
        ] {
            assert!(!access(address).is_private(), "{address}");
        }
    }

    #[test]
    fn a_written_file_is_read_back_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.json");
        let written = Access {
            password: Some("secret".to_owned()),
            ..access("tls://far:4222")
        };
        written.write(&path).unwrap();
        written.write(&path).unwrap();
        let name = path.to_str();
        let read = Access::named(name, Role::Agent).unwrap();
        assert_eq!(read.password, written.password);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        std::fs::write(&path, "{}").unwrap();
        assert!(Access::named(name, Role::Agent).is_err());
    }
}
