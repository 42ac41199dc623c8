//! Waits until a process is ready, and reads values from it.

use std::fs;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::process::Command;
use std::time::{Duration, Instant};

use super::super::names::Names;
use super::super::{http_get, service};
use super::Server;
use crate::problem::Problem;
use crate::resolve::process::{Process, ProcessKind, Ready};

impl Server {
    fn output(&self) -> String {
        fs::read(&self.log)
            .map(|output| String::from_utf8_lossy(&output).into_owned())
            .unwrap_or_default()
    }

    /// The last lines of its output, for a message.
    fn last_lines(&self) -> String {
        const LINES: usize = 8;
        let output = self.output();
        let lines: Vec<&str> = output.lines().rev().take(LINES).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        match lines.is_empty() {
            true => "it printed nothing".to_owned(),
            false => format!("its output:\n    {}", lines.join("\n    ")),
        }
    }

    pub(super) fn await_ready(
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
            if let Some(status) = self.ended() {
                return Err(self.ended_early(process, port, &status));
            }
            if Instant::now() > end {
                return Err(process.place.problem(format!(
                    "{} is not ready after {}: {why}; {}; check ready, or raise the limit with within",
                    process.name,
                    plimsoll_units::duration::format(process.within),
                    self.last_lines()
                )));
            }
            std::thread::sleep(Duration::from_millis(15));
        }
    }

    fn ended_early(&self, process: &Process, port: u16, status: &str) -> Problem {
        let output = self.output().to_lowercase();
        let in_use = output.contains("address already in use")
            || output.contains("port is already")
            || output.contains("port in use")
            || output.contains("in use");
        if in_use {
            return process.place_of_port.problem(format!(
                "{} could not bind its port{}, which is in use: remove port to use any free one; {}",
                process.name,
                if process.port == 0 {
                    String::new()
                } else {
                    format!(" {port}")
                },
                self.last_lines()
            ));
        }
        process.place_of_command.problem(format!(
            "{} exited before it was ready ({status}); {}",
            process.name,
            self.last_lines()
        ))
    }

    fn is_ready(
        &self,
        process: &Process,
        port: u16,
        ports: &[(String, u16)],
        names: &mut Names,
    ) -> Result<(), String> {
        let own = self.address;
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
                let url = http_get::url_of(self.address, port, &path);
                match http_get::get(&url, Duration::from_secs(2))? {
                    (200..=299, _) => Ok(()),
                    (status, _) => Err(format!("{url} responded with status {status}")),
                }
            }
            Ready::Tcp(which) => {
                let named = ports.iter().find(|(name, _)| name == which);
                let address = match (which.as_str(), named) {
                    (_, Some((_, port))) => SocketAddr::new(own, *port).to_string(),
                    ("", None) => match ports.first() {
                        Some((_, port)) if process.port == 0 && !uses_port(process) => {
                            SocketAddr::new(own, *port).to_string()
                        }
                        _ => SocketAddr::new(own, port).to_string(),
                    },
                    (which, None) if which.contains(':') => which.to_owned(),
                    (which, None) if own.is_ipv6() => format!("[{own}]:{which}"),
                    (which, None) => format!("{own}:{which}"),
                };
                connects(&address)
            }
            Ready::Log(text) => match self.output().contains(text) {
                true => Ok(()),
                false => Err(format!("its output does not contain {text:?}")),
            },
            Ready::Json => {
                let output = self.output();
                // Log lines may also be JSON, and are in the same file.
                let fields = output
                    .lines()
                    .filter_map(|line| serde_json::from_str::<serde_json::Map<_, _>>(line).ok())
                    .find(|fields| !fields.contains_key("level"));
                let fields = fields.ok_or("it has not printed a JSON line")?;
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
                service::output_of("pg_isready", &mut command).map(drop)
            }
            Ready::ByKind => connects(&SocketAddr::new(own, port).to_string()),
        }
    }

    pub(super) fn capture(
        &self,
        process: &Process,
        port: u16,
        names: &mut Names,
    ) -> Result<(), Problem> {
        for capture in &process.capture {
            let path = names.fill(&capture.http, &process.place)?;
            let url = http_get::url_of(self.address, port, &path);
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
}

fn uses_port(process: &Process) -> bool {
    process
        .command
        .iter()
        .any(|word| crate::template::names(word).any(|name| name == "port"))
}
