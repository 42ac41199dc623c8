//! A running process: starts it, waits until it is ready, stops it, and removes its directory.

mod ready;

use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_results::secrets::url_for_display;
use rustix::process::Signal;

use super::host::{Connection, Start, sent_certificates};
use super::keeper::{signal, signal_group};
use super::names::Names;
use super::observe::{ObservedEntry, ObservedProcess};
use super::{http_get, identity, service, start};
use crate::problem::{Location, Problem};
use crate::resolve::address::address_of;
use crate::resolve::host::Host;
use crate::resolve::process::{Process, ProcessKind, Ready};

/// Time limit for a process to exit after it was asked to.
pub(super) const END: Duration = Duration::from_secs(10);

/// A running system or service.
#[derive(Debug)]
pub struct Server {
    pub name: String,
    /// Whether it is measured.
    pub measured: bool,
    /// The command that was run.
    pub command: Vec<String>,
    /// Name and version of its program, if known.
    pub version: Option<String>,
    /// Settings that were read from the process.
    pub settings: Vec<(String, String)>,
    /// Its processors.
    pub cpus: Vec<u32>,
    /// Whether its processor time counts.
    pub counts: bool,
    /// The file with its output.
    pub log: PathBuf,
    /// The URL of its Prometheus metrics.
    pub metrics: Option<String>,
    /// The host on which it runs, if it is another host.
    pub connection: Option<Arc<Connection>>,
    /// The address at which it is reachable.
    address: IpAddr,
    child: Option<Child>,
    kind: ProcessKind,
}

impl Server {
    /// The process to observe. `None` for an existing process that the lab did not start.
    pub fn observed_entry(&self) -> Option<ObservedEntry> {
        let of = match (&self.connection, &self.child) {
            (Some(connection), _) => ObservedProcess::There(Arc::clone(connection)),
            (None, Some(child)) => ObservedProcess::Here(child.id()),
            (None, None) => return None,
        };
        Some(ObservedEntry {
            name: self.name.clone(),
            of,
            counts: self.counts,
        })
    }

    /// Starts a process, waits until it is ready, and adds its values to `names`. Its directory is
    /// inside `private`, and its log inside `logs`.
    ///
    /// # Errors
    /// A description of the problem, with the location in the lab file and a fix.
    pub fn start(
        process: &Process,
        private: &Path,
        logs: &Path,
        names: &mut Names,
    ) -> Result<Server, Problem> {
        if let Some(url) = &process.url {
            return Server::use_existing(process, url, names);
        }
        let directory = private.join(&process.name);
        let failed = |what: String| process.place_of_command.problem(what);
        fs::create_dir(&directory)
            .map_err(|error| failed(format!("cannot create {}: {error}", directory.display())))?;
        let log = logs.join(format!("{}.log", process.name));
        set_aside(&log).map_err(failed)?;
        let mut server = Server {
            name: process.name.clone(),
            measured: process.measured,
            command: Vec::new(),
            version: None,
            settings: Vec::new(),
            cpus: process.cpus.clone(),
            counts: process.counts,
            log,
            metrics: None,
            connection: None,
            address: Ipv4Addr::LOCALHOST.into(),
            child: None,
            kind: process.kind,
        };
        let (port, ports) = match &process.host {
            Some(host) => server.start_there(process, host, names)?,
            None => server.start_here(process, &directory, names)?,
        };
        let metrics = process.metrics.as_ref();
        server.metrics = metrics.map(|path| http_get::url_of(server.address, port, path));
        server.await_ready(process, port, &ports, names)?;
        if process.kind == ProcessKind::Postgres {
            service::make_database(process, port)
                .map_err(|why| failed(format!("the database refused: {why}")))?;
        }
        // The program on this host may have a different version than the one on the other host.
        if process.host.is_none() {
            server.version = identity::version(process.version.as_deref(), &server.command);
            server.settings = identity::settings(process, port);
        }
        server.capture(process, port, names)?;
        Ok(server)
    }

    /// Starts the process on this host. Returns its port and its additional ports.
    fn start_here(
        &mut self,
        process: &Process,
        directory: &Path,
        names: &mut Names,
    ) -> Result<(u16, NamedPorts), Problem> {
        let failed = |what: String| process.place_of_command.problem(what);
        let port = port_of(process)?;
        let ports: NamedPorts = process
            .ports
            .iter()
            .map(|name| Ok((name.clone(), free_port(&process.place_of_port)?)))
            .collect::<Result<_, Problem>>()?;
        let at = directory.display().to_string();
        let own = self.set_variables(process, port, &ports, &at, names);
        let mut filled = process.clone();
        if let Some(config) = &process.config {
            filled.config = Some(own.fill(config, &process.place_of_command)?);
        }
        for (name, text) in &own.fill_pairs(&process.files, &process.place)? {
            fs::write(directory.join(name), text)
                .map_err(|error| failed(format!("cannot write {name}: {error}")))?;
        }
        filled.settings = own.fill_pairs(&process.settings, &process.place)?;
        let launch = match process.kind {
            ProcessKind::Command => {
                let words = own.fill_all(&process.command, &process.place_of_command)?;
                service::Launch {
                    words: with_program(words).map_err(failed)?,
                    account: service::account(process).map_err(failed)?,
                }
            }
            _ => service::prepare(&filled, directory, port).map_err(failed)?,
        };
        self.command.clone_from(&launch.words);
        let environment = own.fill_pairs(&process.environment, &process.place)?;
        let runs_in = match &process.directory {
            Some(directory) => PathBuf::from(own.fill(directory, &process.place)?),
            None => directory.to_owned(),
        };
        self.child = Some(spawn(process, &launch, &environment, &runs_in, &self.log)?);
        Ok((port, ports))
    }

    /// Starts the process on another host. Returns its port and its additional ports.
    fn start_there(
        &mut self,
        process: &Process,
        host: &Host,
        names: &mut Names,
    ) -> Result<(u16, NamedPorts), Problem> {
        let failed = |why: String| {
            let what = format!("cannot start {} on {}: {why}", process.name, host.name());
            host.place.problem(what)
        };
        let needed = 1 + process.ports.len();
        let connection = Connection::open(host, &process.command, needed, &self.log);
        let connection = connection.map_err(failed)?;
        self.address = connection.address;
        let mut free = connection.prepared.ports.iter().copied();
        let mut port = || {
            free.next()
                .ok_or_else(|| failed("it has no free port".to_owned()))
        };
        let any = port()?;
        let own_port = if process.port == 0 { any } else { process.port };
        let ports: NamedPorts = process
            .ports
            .iter()
            .map(|name| Ok((name.clone(), port()?)))
            .collect::<Result<_, Problem>>()?;
        let directory = connection.prepared.directory.clone();
        let mut own = self.set_variables(process, own_port, &ports, &directory, names);
        let mut files = sent_certificates(process, &directory, &mut own).map_err(failed)?;
        files.extend(own.fill_pairs(&process.files, &process.place)?);
        let runs_in = process.directory.as_ref();
        let start = Start {
            command: own.fill_all(&process.command, &process.place_of_command)?,
            environment: own.fill_pairs(&process.environment, &process.place)?,
            files,
            directory: runs_in
                .map(|directory| own.fill(directory, &process.place))
                .transpose()?,
            cpus: process.cpus.clone(),
        };
        self.command.clone_from(&start.command);
        connection.start(start).map_err(failed)?;
        self.connection = Some(Arc::new(connection));
        Ok((own_port, ports))
    }

    /// Uses a process that is already running.
    fn use_existing(process: &Process, url: &str, names: &mut Names) -> Result<Server, Problem> {
        let url = names.fill(url, &process.place_of_command)?;
        let url = url.trim_end_matches('/').to_owned();
        let address = address_of(process.kind, &url);
        let address = address.map_err(|why| process.place_of_command.problem(why))?;
        let reached = address
            .to_socket_addrs()
            .map_err(|error| format!("{address}: {error}"))
            .and_then(|all| first_reachable(all).map_err(|why| format!("{address}: {why}")));
        let address = reached.map_err(|why| {
            let instead = match process.measured {
                true => "set a command, so the lab starts it",
                false => "remove url to use a private one",
            };
            process.place_of_command.problem(format!(
                "{} does not accept connections: {why}; start it, or {instead}",
                process.name
            ))
        })?;
        names.set(format!("{}.url", process.name), &url);
        names.set(format!("{}.address", process.name), address.to_string());
        names.set(format!("{}.host", process.name), address.ip().to_string());
        names.set(format!("{}.port", process.name), address.port().to_string());
        let metrics = process.metrics.as_ref();
        let mut server = Server {
            name: process.name.clone(),
            measured: process.measured,
            command: vec![format!("already running at {}", url_for_display(&url))],
            version: None,
            settings: Vec::new(),
            cpus: Vec::new(),
            counts: process.counts,
            log: PathBuf::new(),
            metrics: metrics.map(|path| http_get::url_of(address.ip(), address.port(), path)),
            connection: None,
            address: address.ip(),
            child: None,
            kind: process.kind,
        };
        if matches!(process.ready, Ready::Http(_)) {
            server.await_ready(process, address.port(), &[], names)?;
        }
        server.capture(process, address.port(), names)?;
        Ok(server)
    }

    /// Sets the process's variables. Returns those that only its own table may use.
    fn set_variables(
        &self,
        process: &Process,
        port: u16,
        ports: &[(String, u16)],
        directory: &str,
        names: &mut Names,
    ) -> Names {
        let own = self.address;
        let at = |port: u16| SocketAddr::new(own, port).to_string();
        let url = match process.kind {
            ProcessKind::Postgres => {
                format!(
                    "postgres://{}@{}/{}",
                    service::USER,
                    at(port),
                    process.database
                )
            }
            ProcessKind::Redis => format!("redis://{}/0", at(port)),
            _ => format!("http://{}", at(port)),
        };
        let mut variables = vec![
            ("port".to_owned(), port.to_string()),
            ("host".to_owned(), own.to_string()),
            ("address".to_owned(), at(port)),
            ("url".to_owned(), url),
            ("directory".to_owned(), directory.to_owned()),
            ("log".to_owned(), self.log.display().to_string()),
        ];
        for (name, port) in ports {
            variables.push((format!("port.{name}"), port.to_string()));
            variables.push((format!("address.{name}"), at(*port)));
        }
        for (name, text) in &variables {
            names.set(format!("{}.{name}", process.name), text);
        }
        let mut mine = names.clone();
        for (name, text) in variables {
            mine.set(name, text);
        }
        mine
    }

    /// How the process ended, if it did.
    pub fn ended(&mut self) -> Option<String> {
        match (&self.connection, &mut self.child) {
            (Some(connection), _) => connection.ended(),
            (None, Some(child)) => {
                let status = child.try_wait().ok().flatten()?;
                Some(status.to_string())
            }
            (None, None) => None,
        }
    }

    fn stop(&mut self) {
        if let Some(connection) = &self.connection {
            connection.stop();
        }
        let Some(mut child) = self.child.take() else {
            return;
        };
        let pid = child.id();
        let below = plimsoll_machine::descendants(pid);
        // On SIGTERM, PostgreSQL waits for its clients; on SIGINT it does not.
        let politely = match self.kind {
            ProcessKind::Postgres => Signal::INT,
            _ => Signal::TERM,
        };
        signal(pid, politely);
        let end = Instant::now() + END;
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        signal_group(pid, Signal::KILL);
        let _ = child.kill();
        let _ = child.wait();
        for pid in below {
            signal(pid, Signal::KILL);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The first address that accepts a connection. An error contains the reason of the last address.
fn first_reachable(addresses: impl Iterator<Item = SocketAddr>) -> Result<SocketAddr, String> {
    let mut why = "the name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, Duration::from_secs(5)) {
            Ok(_) => return Ok(address),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

/// Additional ports of a process, by name.
type NamedPorts = Vec<(String, u16)>;

/// Renames the log of an earlier start, so it is not mistaken for the log of this start.
fn set_aside(log: &Path) -> Result<(), String> {
    let aside = (1..)
        .map(|number| log.with_extension(format!("log.{number}")))
        .find(|aside| !aside.exists());
    match aside {
        Some(aside) if log.exists() => fs::rename(log, aside)
            .map_err(|error| format!("cannot rename {}: {error}", log.display())),
        _ => Ok(()),
    }
}

/// Opens a log for appending.
///
/// # Errors
/// The system's error.
pub(super) fn open_log(log: &Path) -> Result<File, String> {
    let opened = File::options().create(true).append(true).open(log);
    opened.map_err(|error| format!("cannot write {}: {error}", log.display()))
}

/// The port of the process: the configured port if it is free, otherwise any free port.
fn port_of(process: &Process) -> Result<u16, Problem> {
    if process.port == 0 {
        return free_port(&process.place_of_port);
    }
    match TcpListener::bind((Ipv4Addr::LOCALHOST, process.port)) {
        Ok(_) => Ok(process.port),
        Err(error) => Err(process.place_of_port.problem(format!(
            "{} cannot use port {}: {error}; stop the program that uses it, or remove port to use any free one",
            process.name, process.port
        ))),
    }
}

/// A port that is currently free.
pub fn free_port(place: &Location) -> Result<u16, Problem> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address: SocketAddr| address.port())
        .map_err(|error| place.problem(format!("no free port: {error}")))
}

/// Replaces the word `plimsoll` with the path of this program.
///
/// # Errors
/// If the program is missing.
pub fn with_program(mut words: Vec<String>) -> Result<Vec<String>, String> {
    let Some(first) = words.first_mut() else {
        return Err("the command is empty".to_owned());
    };
    if first == "plimsoll" {
        *first = program_path()?;
    } else if let Some(found) = service::find(first, &["/usr/sbin"]) {
        let found = std::path::absolute(&found).unwrap_or(found);
        *first = found.display().to_string();
    } else {
        return Err(format!(
            "the program {first} is missing: install it, or use its path; paths are relative to the current directory"
        ));
    }
    Ok(words)
}

pub fn program_path() -> Result<String, String> {
    std::env::current_exe()
        .map(|path| path.display().to_string())
        .map_err(|error| format!("cannot find this program: {error}"))
}

fn spawn(
    process: &Process,
    launch: &service::Launch,
    environment: &[(String, String)],
    directory: &Path,
    log: &Path,
) -> Result<Child, Problem> {
    let failed = |what: String| process.place_of_command.problem(what);
    let open = || open_log(log).map_err(failed);
    let (program, arguments) = launch
        .words
        .split_first()
        .ok_or_else(|| failed("the command is empty".to_owned()))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(open()?)
        .stderr(open()?);
    if let Some((user, group)) = launch.account {
        std::os::unix::process::CommandExt::uid(&mut command, user);
        std::os::unix::process::CommandExt::gid(&mut command, group);
    }
    start::start(&mut command, &process.cpus)
        .map_err(|error| failed(format!("cannot start {}: {program}: {error}", process.name)))
}
