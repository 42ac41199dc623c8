//! PostgreSQL 15, optionally with PostGIS.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rustix::process::Signal;

use crate::account::{Account, write_private};
use crate::program;
use crate::server::Server;

/// The directory of the programs in Debian's package.
const BIN: &str = "/usr/lib/postgresql/15/bin";

/// The only user of the database; the server trusts every connection.
const USER: &str = "plimsoll";

/// A private PostgreSQL with the default settings for durability.
pub struct Postgres {
    server: Server,
    databases: AtomicU32,
}

impl Postgres {
    /// Starts a server with an empty database.
    pub fn start() -> Postgres {
        Postgres::start_with(&[])
    }

    /// Starts a server with additional settings, such as `max_connections=20`.
    pub fn start_with(settings: &[&str]) -> Postgres {
        Postgres::start_prepared(settings, |_, _| {})
    }

    /// Starts a server that accepts TLS with this certificate and this key, as PEM.
    pub fn start_with_tls(certificate: &str, key: &str) -> Postgres {
        let settings = ["ssl=on", "ssl_cert_file=tls.pem", "ssl_key_file=tls.key"];
        Postgres::start_prepared(&settings, |directory, account| {
            write_private(account, &data(directory).join("tls.pem"), certificate);
            write_private(account, &data(directory).join("tls.key"), key);
        })
    }

    fn start_prepared(settings: &[&str], prepare: impl FnOnce(&Path, Option<Account>)) -> Postgres {
        let account = Account::unprivileged(&["postgres", "nobody"]);
        let settings: Vec<String> = settings.iter().map(|&setting| setting.into()).collect();
        let server = Server::start(
            "postgres",
            |directory| {
                initialize(directory, account);
                prepare(directory, account);
            },
            move |directory, port| {
                let mut command = Command::new(binary("postgres"));
                command
                    .arg("-D")
                    .arg(data(directory))
                    .args(["-p", &port.to_string()])
                    .args(["-c", "listen_addresses=127.0.0.1"])
                    .arg("-c")
                    .arg(sockets(directory));
                if cfg!(target_os = "linux") {
                    // After a crash, sync the whole disk with one call instead of a call for each of a thousand
                    // files. The durability guarantees are the same.
                    command.args(["-c", "recovery_init_sync_method=syncfs"]);
                }
                for setting in &settings {
                    command.arg("-c").arg(setting);
                }
                if let Some(account) = account {
                    account.run(&mut command);
                }
                command
            },
            |address| {
                Command::new(binary("pg_isready"))
                    .args([
                        "-q",
                        "-U",
                        USER,
                        "-d",
                        "postgres",
                        "-h",
                        "127.0.0.1",
                        "-p",
                        &address.port().to_string(),
                    ])
                    .status()
                    .is_ok_and(|status| status.success())
            },
            // The signals for a fast shutdown and for an immediate one.
            [Signal::INT, Signal::QUIT],
        );
        Postgres {
            server,
            databases: AtomicU32::new(0),
        }
    }

    /// The address of a new, empty database: `postgres://plimsoll@127.0.0.1:PORT/name`.
    pub fn database(&self) -> String {
        let name = format!("test{}", self.databases.fetch_add(1, Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// The address of the database with that name.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@{}/{database}", self.address())
    }

    /// Runs SQL with `psql` in a database, which is given by its name or its address. Returns the rows
    /// with values separated by `|`.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let database = match database.contains("://") {
            true => database.to_owned(),
            false => self.url(database),
        };
        let output = Command::new(binary("psql"))
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
            .args(["--set", "ON_ERROR_STOP=1", "--dbname", &database])
            .args(["--command", sql])
            .output()
            .expect("cannot run psql");
        assert!(
            output.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Checks that PostGIS is installed, for tests that need it.
    pub fn require_postgis() {
        program::require(
            "/usr/share/postgresql/15/extension/postgis.control",
            "postgresql-15-postgis-3",
        );
    }
}

impl Deref for Postgres {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for Postgres {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

fn binary(name: &str) -> PathBuf {
    program::find(name, &[BIN], "postgresql-15")
}

fn data(directory: &Path) -> PathBuf {
    directory.join("data")
}

/// The path of a socket has at most 107 bytes (unix(7)). If it is longer, the server uses only TCP.
fn sockets(directory: &Path) -> String {
    match directory.to_str().filter(|path| path.len() < 80) {
        Some(path) => format!("unix_socket_directories={path}"),
        None => "unix_socket_directories=".to_owned(),
    }
}

fn initialize(directory: &Path, account: Option<Account>) {
    let mut command = Command::new(binary("initdb"));
    command
        .arg("-D")
        .arg(data(directory))
        // Only initdb does not sync; the server itself syncs as usual.
        .args(["--no-sync", "--auth=trust", "--encoding=UTF8"])
        .args(["--locale=C.UTF-8", "--username", USER])
        .current_dir(directory);
    if let Some(account) = account {
        account.give(directory);
        account.run(&mut command);
    }
    let output = command.output().expect("cannot run initdb");
    assert!(
        output.status.success(),
        "initdb: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
