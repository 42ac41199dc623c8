//! MariaDB, which uses MySQL's protocol.

use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::account::{Account, write_private};
use crate::program;
use crate::server::Server;

/// The only user besides the administrator. It has no password.
const USER: &str = "plimsoll";
const PASSWORD: &str = "p@ss/word:1";

/// A private MariaDB.
pub struct MariaDb(Server);

impl MariaDb {
    /// Starts a server with an empty database named `test`.
    pub fn start() -> MariaDb {
        MariaDb::start_prepared(&[], |_, _| {})
    }

    /// Starts a server that accepts TLS with this certificate and this key, as PEM.
    pub fn start_with_tls(certificate: &str, key: &str) -> MariaDb {
        // The paths are relative to the data directory.
        let settings = ["ssl-cert=tls.pem", "ssl-key=tls.key"];
        MariaDb::start_prepared(&settings, |directory, account| {
            let data = directory.join("data");
            write_private(account, &data.join("tls.pem"), certificate);
            write_private(account, &data.join("tls.key"), key);
        })
    }

    fn start_prepared(settings: &[&str], prepare: impl FnOnce(&Path, Option<Account>)) -> MariaDb {
        let account = Account::unprivileged(&["mysql", "nobody"]);
        let settings: Vec<String> = settings.iter().map(|&setting| setting.into()).collect();
        let server = Server::start(
            "mariadb",
            |directory| {
                initialize(directory, account);
                prepare(directory, account);
            },
            move |directory, port| {
                let mut command = Command::new(binary("mariadbd", "mariadb-server"));
                command
                    .arg("--no-defaults")
                    .arg(option("datadir", &directory.join("data")))
                    .arg(option("socket", &socket(directory)))
                    .arg(option("pid-file", &directory.join("pid")))
                    .arg(option("tmpdir", directory))
                    .arg(format!("--port={port}"))
                    .args(["--bind-address=127.0.0.1", "--skip-name-resolve"])
                    .args(settings.iter().map(|setting| format!("--{setting}")));
                if let Some(account) = account {
                    account.run(&mut command);
                }
                command
            },
            |address: SocketAddr| crate::server::listens(address),
            [Signal::TERM, Signal::KILL],
        );
        let started = MariaDb(server);
        started.sql(&format!(
            "CREATE DATABASE test; CREATE USER '{USER}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'; \
             GRANT ALL ON *.* TO '{USER}'@'127.0.0.1'"
        ));
        started
    }

    /// The address of the database in the format of Go's driver:
    /// `user:password@tcp(127.0.0.1:PORT)/test`.
    pub fn url(&self) -> String {
        format!("{USER}:{PASSWORD}@tcp({})/test", self.address())
    }

    /// Runs SQL as the administrator, and returns the rows with values separated by tabs.
    pub fn sql(&self, sql: &str) -> String {
        let output = Command::new(binary("mariadb", "mariadb-client"))
            .arg("--no-defaults")
            .arg(option("socket", &socket(self.directory())))
            .args(["--user=root", "--batch", "--skip-column-names"])
            .args(["--execute", sql])
            .output()
            .expect("cannot run mariadb");
        assert!(
            output.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Deref for MariaDb {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl DerefMut for MariaDb {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.0
    }
}

fn binary(name: &str, package: &str) -> PathBuf {
    program::find(name, &["/usr/sbin"], package)
}

fn option(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

fn socket(directory: &Path) -> PathBuf {
    directory.join("socket")
}

fn initialize(directory: &Path, account: Option<Account>) {
    let mut command = Command::new(binary("mariadb-install-db", "mariadb-server"));
    command
        .arg("--no-defaults")
        .arg(option("datadir", &directory.join("data")))
        // Two servers that are prepared at the same time would delete each other's files.
        .arg(option("tmpdir", directory))
        .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
        .current_dir(directory);
    if let Some(account) = account {
        account.give(directory);
        account.run(&mut command);
    }
    let output = command.output().expect("cannot run mariadb-install-db");
    assert!(
        output.status.success(),
        "mariadb-install-db: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
