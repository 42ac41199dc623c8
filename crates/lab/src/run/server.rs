//! A running process: starting it, waiting until it is ready, stopping it and removing its folder.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::keeper::{signal, signal_group};
use super::names::Names;
use super::{http_get, service, start};
use crate::problem::{Place, Problem};
use crate::resolve::process::{Process, ProcessKind, Ready};

/// How long a process may take to end after it was asked to.
const END: Duration = Duration::from_secs(10);

/// A running system or service.
#[derive(Debug)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Whether it is measured.
    pub measured: bool,
    /// The command as it was run.
    pub command: Vec<String>,
    /// Its processors.
    pub cpus: Vec<u32>,
    /// Whether its processor time counts.
    pub counts: bool,
    /// The file with its output.
    pub log: PathBuf,
    /// Metrics for Prometheus, as a URL.
    pub metrics: Option<String>,
    child: Option<Child>,
    kind: ProcessKind,
}

impl Server {
    /// Its process id, unless it is an existing one that the lab did not start.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Starts a process and waits until it is ready; adds its values to `names`.
    /// Its directory is below `private`, its log below `logs`.
    ///
    /// # Errors
    /// The problem, with the location in the lab file and a fix.
    pub fn start(
        process: &Process,
        private: &Path,
        logs: &Path,
        names: &mut Names,
    ) -> Result<Server, Problem> {
        if let Some(url) = &process.url {
            return Server::there_already(process, url, names);
        }
        let directory = private.join(&process.name);
        let failed = |what: String| process.place_of_command.problem(what);
        fs::create_dir(&directory)
            .map_err(|error| failed(format!("cannot create {}: {error}", directory.display())))?;
        let port = port_of(process)?;
        let ports: Vec<(String, u16)> = process
            .ports
            .iter()
            .map(|name| Ok((name.clone(), free_port(&process.place_of_port)?)))
            .collect::<Result<_, Problem>>()?;
        let log = logs.join(format!("{}.log", process.name));
        // Rename the log of an earlier start, so that it is not mistaken for the log of this one.
        if let Some(aside) = (1..)
            .map(|number| logs.join(format!("{}.log.{number}", process.name)))
            .find(|aside| !aside.exists())
            && log.exists()
        {
            fs::rename(&log, aside)
                .map_err(|error| failed(format!("cannot set {} aside: {error}", log.display())))?;
        }
        let own = tell_names(process, port, &ports, &directory, &log, names);

        let mut filled = process.clone();
        if let Some(config) = &process.config {
            filled.config = Some(own.fill(config, &process.place_of_command)?);
        }
        for (name, text) in &process.files {
            let text = own.fill(text, &process.place)?;
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
            _ => service::prepare(&filled, &directory, port).map_err(failed)?,
        };
        let mut server = Server {
            name: process.name.clone(),
            measured: process.measured,
            command: launch.words.clone(),
            cpus: process.cpus.clone(),
            counts: process.counts,
            log: log.clone(),
            metrics: process
                .metrics
                .as_ref()
                .map(|path| http_get::url_of(port, path)),
            child: None,
            kind: process.kind,
        };
        let environment = own.fill_pairs(&process.environment, &process.place)?;
        let runs_in = match &process.directory {
            Some(directory) => PathBuf::from(own.fill(directory, &process.place)?),
            None => directory.clone(),
        };
        server.child = Some(spawn(process, &launch, &environment, &runs_in, &log)?);
        server.await_ready(process, port, &ports, names)?;
        if process.kind == ProcessKind::Postgres {
            service::make_database(process, port)
                .map_err(|why| failed(format!("the database refuses: {why}")))?;
        }
        server.capture(process, port, names)?;
        Ok(server)
    }

    fn there_already(process: &Process, url: &str, names: &mut Names) -> Result<Server, Problem> {
        let url = names.fill(url, &process.place_of_command)?;
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let host = rest.split(['/', '?']).next().unwrap_or(rest);
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let address = match (host.contains(':'), process.kind) {
            (true, _) => host.to_owned(),
            (false, ProcessKind::Postgres) => format!("{host}:5432"),
            (false, ProcessKind::Redis) => format!("{host}:6379"),
            (false, _) => format!("{host}:80"),
        };
        let reached = address
            .to_socket_addrs()
            .ok()
            .and_then(|mut all| all.next())
            .ok_or_else(|| format!("{address} has no address"))
            .and_then(|address| {
                TcpStream::connect_timeout(&address, Duration::from_secs(5))
                    .map(|_| address)
                    .map_err(|error| error.to_string())
            });
        let address = reached.map_err(|why| {
            process.place_of_command.problem(format!(
                "{} does not accept connections: {address}: {why}; start it, or remove url to use a private one",
                process.name
            ))
        })?;
        names.set(format!("{}.url", process.name), url);
        names.set(format!("{}.address", process.name), address.to_string());
        names.set(format!("{}.host", process.name), address.ip().to_string());
        names.set(format!("{}.port", process.name), address.port().to_string());
        Ok(Server {
            name: process.name.clone(),
            measured: process.measured,
            command: vec!["(there already)".to_owned()],
            cpus: Vec::new(),
            counts: process.counts,
            log: PathBuf::new(),
            metrics: None,
            child: None,
            kind: process.kind,
        })
    }

    fn said(&self) -> String {
        fs::read(&self.log)
            .map(|said| String::from_utf8_lossy(&said).into_owned())
            .unwrap_or_default()
    }

    /// The last lines of its output, for a message.
    fn last_words(&self) -> String {
        const LINES: usize = 8;
        let said = self.said();
        let lines: Vec<&str> = said.lines().rev().take(LINES).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        match lines.is_empty() {
            true => "it said nothing".to_owned(),
            false => format!("it said:\n    {}", lines.join("\n    ")),
        }
    }

    fn await_ready(
        &mut self,
        process: &Process,
        port: u16,
        ports: &[(String, u16)],
        names: &mut Names,
    ) -> Result<(), Problem> {
        let end = Instant::now() + process.within;
        loop {
            let why = match self.is_ready(process, port, ports, names) {
                Ok(()) => return Ok(()),
                Err(why) => why,
            };
            let ended = self
                .child
                .as_mut()
                .and_then(|child| child.try_wait().ok().flatten());
            if let Some(status) = ended {
                self.child = None;
                return Err(self.ended(process, port, &status.to_string()));
            }
            if Instant::now() > end {
                return Err(process.place.problem(format!(
                    "{} is not ready after {}: {why}; {}; check ready, or raise the limit with within",
                    process.name,
                    plimsoll_units::duration::format(process.within),
                    self.last_words()
                )));
            }
            std::thread::sleep(Duration::from_millis(15));
        }
    }

    fn ended(&self, process: &Process, port: u16, status: &str) -> Problem {
        let said = self.said().to_lowercase();
        let in_use = said.contains("address already in use")
            || said.contains("port is already")
            || said.contains("port in use")
            || said.contains("in use");
        if in_use {
            return process.place_of_port.problem(format!(
                "{} could not bind its port{}: it is in use; remove port to use any free one; {}",
                process.name,
                if process.port == 0 {
                    String::new()
                } else {
                    format!(" {port}")
                },
                self.last_words()
            ));
        }
        process.place_of_command.problem(format!(
            "{} ended before it was ready ({status}); {}",
            process.name,
            self.last_words()
        ))
    }

    fn is_ready(
        &self,
        process: &Process,
        port: u16,
        ports: &[(String, u16)],
        names: &mut Names,
    ) -> Result<(), String> {
        let own = Ipv4Addr::LOCALHOST;
        let connects = |address: &str| {
            let found = address
                .to_socket_addrs()
                .map_err(|error| error.to_string())?
                .next();
            let address = found.ok_or("no such address")?;
            TcpStream::connect_timeout(&address, Duration::from_secs(1))
                .map(drop)
                .map_err(|error| format!("{address}: {error}"))
        };
        match &process.ready {
            Ready::Http(path) => {
                let path = names
                    .fill(path, &process.place)
                    .map_err(|problem| problem.message)?;
                let url = http_get::url_of(port, &path);
                match http_get::get(&url, Duration::from_secs(2))? {
                    (200..=299, _) => Ok(()),
                    (status, _) => Err(format!("{url} responded with status {status}")),
                }
            }
            Ready::Tcp(which) => {
                let named = ports.iter().find(|(name, _)| name == which);
                let address = match (which.as_str(), named) {
                    (_, Some((_, port))) => format!("{own}:{port}"),
                    ("", None) => match ports.first() {
                        Some((_, port)) if process.port == 0 && !uses_port(process) => {
                            format!("{own}:{port}")
                        }
                        _ => format!("{own}:{port}"),
                    },
                    (which, None) if which.contains(':') => which.to_owned(),
                    (which, None) => format!("{own}:{which}"),
                };
                connects(&address)
            }
            Ready::Log(text) => match self.said().contains(text) {
                true => Ok(()),
                false => Err(format!("{text:?} is not in its output")),
            },
            Ready::Json => {
                let said = self.said();
                // Log lines may be JSON too, and are in the same file.
                let fields = said
                    .lines()
                    .filter_map(|line| serde_json::from_str::<serde_json::Map<_, _>>(line).ok())
                    .find(|fields| !fields.contains_key("level"));
                let fields = fields.ok_or("it has not printed a line of JSON")?;
                for (name, value) in fields {
                    let text = match value {
                        serde_json::Value::String(text) => text,
                        other => other.to_string(),
                    };
                    names.set(format!("{}.{name}", process.name), text);
                }
                Ok(())
            }
            Ready::ByKind if process.kind == ProcessKind::Postgres => {
                let program = service::program(process)?.with_file_name("pg_isready");
                let port = port.to_string();
                let mut command = Command::new(program);
                command.args([
                    "-q",
                    "-h",
                    "127.0.0.1",
                    "-d",
                    "postgres",
                    "-p",
                    &port,
                    "-U",
                    service::USER,
                ]);
                service::told("pg_isready", &mut command).map(drop)
            }
            Ready::ByKind => connects(&format!("{own}:{port}")),
        }
    }

    fn capture(&self, process: &Process, port: u16, names: &mut Names) -> Result<(), Problem> {
        for capture in &process.capture {
            let path = names.fill(&capture.http, &process.place)?;
            let url = http_get::url_of(port, &path);
            let wrong = |why: String| {
                process.place.problem(format!(
                    "cannot capture {}.{}: {why}",
                    process.name, capture.name
                ))
            };
            let (status, body) = http_get::get(&url, Duration::from_secs(10)).map_err(wrong)?;
            if !(200..=299).contains(&status) {
                return Err(wrong(format!("{url} responded with status {status}")));
            }
            let text = if capture.json.is_empty() {
                body.trim().to_owned()
            } else {
                let value: serde_json::Value = serde_json::from_str(&body)
                    .map_err(|error| wrong(format!("{url}: {error}")))?;
                match value.pointer(&capture.json) {
                    Some(serde_json::Value::String(text)) => text.clone(),
                    Some(value) => value.to_string(),
                    None => return Err(wrong(format!("{url} has nothing at {}", capture.json))),
                }
            };
            names.set(format!("{}.{}", process.name, capture.name), text);
        }
        Ok(())
    }

    /// Whether it is still running.
    pub fn runs(&mut self) -> bool {
        match &mut self.child {
            Some(child) => matches!(child.try_wait(), Ok(None)),
            None => true,
        }
    }

    fn stop(&mut self) {
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

fn uses_port(process: &Process) -> bool {
    process
        .command
        .iter()
        .any(|word| crate::template::names(word).any(|name| name == "port"))
}

/// Its port: the configured one, if it is free, or any.
fn port_of(process: &Process) -> Result<u16, Problem> {
    if process.port == 0 {
        return free_port(&process.place_of_port);
    }
    match TcpListener::bind((Ipv4Addr::LOCALHOST, process.port)) {
        Ok(_) => Ok(process.port),
        Err(error) => Err(process.place_of_port.problem(format!(
            "{} cannot have port {}: {error}; stop the program that uses it, or remove port to use any free one",
            process.name, process.port
        ))),
    }
}

/// A port that is currently free.
pub fn free_port(place: &Place) -> Result<u16, Problem> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address: SocketAddr| address.port())
        .map_err(|error| place.problem(format!("there is no free port: {error}")))
}

/// Sets the process's variables; returns those that only its own table may use.
fn tell_names(
    process: &Process,
    port: u16,
    ports: &[(String, u16)],
    directory: &Path,
    log: &Path,
    names: &mut Names,
) -> Names {
    let own = Ipv4Addr::LOCALHOST;
    let url = match process.kind {
        ProcessKind::Postgres => {
            format!(
                "postgres://{}@{own}:{port}/{}",
                service::USER,
                process.database
            )
        }
        ProcessKind::Redis => format!("redis://{own}:{port}/0"),
        _ => format!("http://{own}:{port}"),
    };
    let mut told = vec![
        ("port".to_owned(), port.to_string()),
        ("host".to_owned(), own.to_string()),
        ("address".to_owned(), format!("{own}:{port}")),
        ("url".to_owned(), url),
        ("directory".to_owned(), directory.display().to_string()),
        ("log".to_owned(), log.display().to_string()),
    ];
    for (name, port) in ports {
        told.push((format!("port.{name}"), port.to_string()));
        told.push((format!("address.{name}"), format!("{own}:{port}")));
    }
    for (name, text) in &told {
        names.set(format!("{}.{name}", process.name), text);
    }
    let mut mine = names.clone();
    for (name, text) in told {
        mine.set(name, text);
    }
    mine
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
        *first = ourselves()?;
    } else if let Some(found) = service::find(first, &["/usr/sbin"]) {
        let found = std::path::absolute(&found).unwrap_or(found);
        *first = found.display().to_string();
    } else {
        return Err(format!(
            "the program {first} is missing: install it, or write its path; paths are relative to where the lab is run"
        ));
    }
    Ok(words)
}

/// The path of this program.
pub fn ourselves() -> Result<String, String> {
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
    let open = |path: &Path| {
        File::options()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|error| failed(format!("cannot write {}: {error}", path.display())))
    };
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
        .stdout(open(log)?)
        .stderr(open(log)?);
    if let Some((user, group)) = launch.account {
        std::os::unix::process::CommandExt::uid(&mut command, user);
        std::os::unix::process::CommandExt::gid(&mut command, group);
    }
    start::start(&mut command, &process.cpus)
        .map_err(|error| failed(format!("cannot start {}: {program}: {error}", process.name)))
}
