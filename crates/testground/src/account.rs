//! The user account of a server.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A user to run as instead of root.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    user: u32,
    group: u32,
}

impl Account {
    /// The first user of `names` that exists if this process runs as root; otherwise `None`.
    pub fn unprivileged(names: &[&str]) -> Option<Account> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let users = fs::read_to_string("/etc/passwd").expect("cannot read /etc/passwd");
        let found = names.iter().find_map(|name| {
            let line = users
                .lines()
                .find(|line| line.split(':').next() == Some(name))?;
            let mut fields = line.split(':').skip(2);
            Some(Account {
                user: fields.next()?.parse().ok()?,
                group: fields.next()?.parse().ok()?,
            })
        });
        Some(found.unwrap_or_else(|| {
            panic!("the server refuses to run as root, and /etc/passwd contains none of the users {names:?}")
        }))
    }

    pub fn give(self, path: &Path) {
        chown(path, Some(self.user), Some(self.group))
            .expect("cannot change the directory's owner");
    }

    pub fn run(self, command: &mut Command) {
        command.uid(self.user).gid(self.group);
    }
}

/// Writes a file that only the server can read. Servers require this of key files.
pub fn write_private(account: Option<Account>, path: &Path, text: &str) {
    fs::write(path, text).expect("cannot write the file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .expect("cannot set the file's mode");
    if let Some(account) = account {
        account.give(path);
    }
}
