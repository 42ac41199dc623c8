//! Prepares services from the machine's packages to run in a private directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::resolve::process::{Process, ProcessKind};

/// The only user of a private PostgreSQL.
pub const USER: &str = "plimsoll";

/// The command that runs a service, and its account.
#[derive(Debug)]
pub struct Launch {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The account that runs it, if it is not the lab's own account.
    pub account: Option<(u32, u32)>,
}

/// The program of a kind of service, its usual directories, and its Debian package.
fn program_of(kind: ProcessKind) -> (&'static str, &'static [&'static str], &'static str) {
    const POSTGRES: &[&str] = &[
        "/usr/lib/postgresql/17/bin",
        "/usr/lib/postgresql/16/bin",
        "/usr/lib/postgresql/15/bin",
        "/usr/lib/postgresql/14/bin",
    ];
    const ADMINISTRATOR: &[&str] = &["/usr/sbin", "/usr/local/sbin", "/sbin"];
    match kind {
        ProcessKind::Postgres => ("postgres", POSTGRES, "postgresql"),
        ProcessKind::Redis => ("redis-server", &[], "redis-server"),
        ProcessKind::Nginx => ("nginx", ADMINISTRATOR, "nginx"),
        ProcessKind::Haproxy => ("haproxy", ADMINISTRATOR, "haproxy"),
        ProcessKind::Caddy => ("caddy", &[], "caddy"),
        ProcessKind::Command => ("", &[], ""),
    }
}

/// The path of a program: as given, or found in `places` or PATH.
pub fn find(name: &str, places: &[&str]) -> Option<PathBuf> {
    if name.contains('/') {
        let path = PathBuf::from(name);
        return path.is_file().then_some(path);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    places
        .iter()
        .map(PathBuf::from)
        .chain(std::env::split_paths(&path))
        .map(|directory| directory.join(name))
        .find(|program| {
            fs::metadata(program).is_ok_and(|output_of| {
                output_of.is_file() && output_of.permissions().mode() & 0o111 != 0
            })
        })
}

/// The path of a service's program.
///
/// # Errors
/// If the program is not installed. The error names the package to install.
pub fn program(process: &Process) -> Result<PathBuf, String> {
    let (name, places, package) = program_of(process.kind);
    let name = process.program.as_deref().unwrap_or(name);
    find(name, places).ok_or_else(|| {
        format!(
            "the program {name} is missing: install the package {package}, or set its path with program = \"…\""
        )
    })
}

/// Writes the files into the directory, and returns the command to run.
///
/// # Errors
/// If a file is missing, or the service's own tools fail.
pub fn prepare(process: &Process, directory: &Path, port: u16) -> Result<Launch, String> {
    let program = program(process)?;
    let account = account(process)?;
    if let Some((user, group)) = account {
        std::os::unix::fs::chown(directory, Some(user), Some(group)).map_err(|error| {
            format!(
                "cannot change the owner of {}: {error}",
                directory.display()
            )
        })?;
    }
    let path = |name: &str| directory.join(name).display().to_string();
    let mut words = vec![program.display().to_string()];
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    match process.kind {
        ProcessKind::Postgres => {
            initialize(&program, directory, account)?;
            add(&["-D", &path("data"), "-p", &port.to_string()]);
            add(&["-c", "listen_addresses=127.0.0.1"]);
            // The path of a socket has at most 107 bytes (unix(7)).
            let sockets = if directory.as_os_str().len() < 80 {
                path("")
            } else {
                String::new()
            };
            add(&[
                "-c",
                &format!("unix_socket_directories={}", sockets.trim_end_matches('/')),
            ]);
            for (name, value) in &process.settings {
                add(&["-c", &format!("{name}={value}")]);
            }
        }
        ProcessKind::Redis => {
            add(&[
                "--bind",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--dir",
                &path(""),
            ]);
            add(&[
                "--appendonly",
                "yes",
                "--appendfsync",
                &process.fsync,
                "--save",
                "",
            ]);
            add(&["--daemonize", "no"]);
            for (name, value) in &process.settings {
                add(&[&format!("--{name}"), value]);
            }
        }
        ProcessKind::Nginx => {
            write(directory, "nginx.conf", process)?;
            add(&[
                "-p",
                &path(""),
                "-c",
                &path("nginx.conf"),
                "-e",
                &path("error.log"),
            ]);
            add(&["-g", &format!("daemon off; pid {};", path("nginx.pid"))]);
        }
        ProcessKind::Haproxy => {
            write(directory, "haproxy.cfg", process)?;
            add(&["-db", "-f", &path("haproxy.cfg")]);
        }
        ProcessKind::Caddy => {
            write(directory, "Caddyfile", process)?;
            add(&[
                "run",
                "--config",
                &path("Caddyfile"),
                "--adapter",
                "caddyfile",
            ]);
        }
        ProcessKind::Command => {}
    }
    Ok(Launch { words, account })
}

fn write(directory: &Path, name: &str, process: &Process) -> Result<(), String> {
    let path = directory.join(name);
    fs::write(&path, process.config.as_deref().unwrap_or_default())
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The requested account, or an ordinary account if the program refuses to run as root.
pub fn account(process: &Process) -> Result<Option<(u32, u32)>, String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let names: Vec<&str> = match (&process.user, process.kind) {
        (Some(user), _) => vec![user.as_str()],
        (None, ProcessKind::Postgres) => vec!["postgres", "nobody"],
        (None, _) => return Ok(None),
    };
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let found = names.iter().find_map(|name| {
        let line = users
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    });
    found.map(Some).ok_or_else(|| {
        format!(
            "the user {} that should run it does not exist: choose another with user = \"…\"",
            names.join(" or ")
        )
    })
}

fn initialize(
    postgres: &Path,
    directory: &Path,
    account: Option<(u32, u32)>,
) -> Result<(), String> {
    let mut command = Command::new(postgres.with_file_name("initdb"));
    command
        .arg("-D")
        .arg(directory.join("data"))
        .args(["--no-sync", "--auth=trust", "--encoding=UTF8"])
        .args(["--locale=C.UTF-8", "--username", USER])
        .current_dir(directory);
    if let Some((user, group)) = account {
        std::os::unix::process::CommandExt::uid(&mut command, user);
        std::os::unix::process::CommandExt::gid(&mut command, group);
    }
    output_of("initdb", &mut command).map(drop)
}

/// Runs a command until it exits, and returns its output.
///
/// # Errors
/// The command's output, if it failed.
pub fn output_of(name: &str, command: &mut Command) -> Result<String, String> {
    use std::process::Stdio;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = super::start::start(command, &[])
        .and_then(std::process::Child::wait_with_output)
        .map_err(|error| format!("cannot run {name}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{name}: {}", text(&output.stderr))),
    }
}

/// Creates the database and its extensions.
///
/// # Errors
/// PostgreSQL's error.
pub fn make_database(process: &Process, port: u16) -> Result<(), String> {
    let psql = program(process)?.with_file_name("psql");
    let run = |database: &str, sql: &str| {
        output_of(
            "psql",
            Command::new(&psql)
                .args([
                    "--no-psqlrc",
                    "--quiet",
                    "--set",
                    "ON_ERROR_STOP=1",
                    "-h",
                    "127.0.0.1",
                ])
                .args([
                    "-p",
                    &port.to_string(),
                    "-U",
                    USER,
                    "-d",
                    database,
                    "-c",
                    sql,
                ]),
        )
    };
    if process.database != "postgres" {
        run(
            "postgres",
            &format!("CREATE DATABASE \"{}\"", process.database),
        )?;
    }
    for extension in &process.extensions {
        run(
            &process.database,
            &format!("CREATE EXTENSION IF NOT EXISTS \"{extension}\""),
        )?;
    }
    Ok(())
}
