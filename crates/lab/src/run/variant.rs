//! A running variant: its processes, its data and its relays.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::host::Connection;
use super::names::Names;
use super::network::Network;
use super::process::run;
use super::rate::Sink;
use super::relay::Relay;
use super::server::{Server, program_path, with_program};
use crate::problem::Problem;
use crate::resolve::{Implementation, Link, Seed, Setup};

/// The environment for the runs of a variant.
#[derive(Debug)]
pub struct Variant {
    /// The variant's index.
    pub number: usize,
    /// The restart of the lab for which it was started, counted from 1.
    pub restart: u32,
    /// Its processes, in the order in which they were started.
    pub servers: Vec<Server>,
    /// The variables of its processes.
    pub names: Names,
    relays: Vec<Relay>,
    /// Relays to our own sinks, used to measure links.
    sinks: Vec<(Relay, Sink)>,
    networks: Vec<(Link, Arc<Network>)>,
    private: PathBuf,
}

impl Drop for Variant {
    fn drop(&mut self) {
        self.relays.clear();
        self.sinks.clear();
        // Stop the processes in reverse order.
        while self.servers.pop().is_some() {}
        let _ = fs::remove_dir_all(&self.private);
    }
}

impl Variant {
    /// Starts all processes and runs the seeds.
    ///
    /// # Errors
    /// A description of the problem, with the location in the lab file and a fix.
    pub fn start(
        number: usize,
        setup: &Setup,
        private: &Path,
        logs: &Path,
    ) -> Result<Variant, Problem> {
        let private = private.join(format!("variant-{}", number + 1));
        let _ = fs::remove_dir_all(&private);
        let made = fs::create_dir(&private).and_then(|()| fs::create_dir_all(logs));
        made.map_err(|error| {
            Problem::nowhere(format!("cannot create {}: {error}", private.display()))
        })?;
        // A service that runs as another user needs access to its own directory.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        let _ = fs::set_permissions(&private, open);
        let mut variant = Variant {
            number,
            restart: 1,
            servers: Vec::new(),
            names: Names::default(),
            relays: Vec::new(),
            sinks: Vec::new(),
            networks: Vec::new(),
            private: private.clone(),
        };
        if let Some(names) = &setup.certificates {
            certificates(names, &private, &mut variant.names)?;
        }
        for process in &setup.processes {
            let server = Server::start(process, &private, logs, &mut variant.names)?;
            variant.servers.push(server);
        }
        for seed in &setup.seeds {
            run_seed(seed, logs, &mut variant.names)?;
        }
        Ok(variant)
    }

    /// Finds a process that has exited unexpectedly.
    pub fn ended(&mut self) -> Option<String> {
        self.servers.iter_mut().find_map(|server| {
            let how = server.ended()?;
            Some(format!(
                "{} has exited: {how}; its output is in {}",
                server.name,
                server.log.display()
            ))
        })
    }

    /// The variables as seen by the load, through the link.
    ///
    /// # Errors
    /// If a relay cannot be started.
    pub fn names_from(&mut self, link: Option<&Link>) -> Result<Names, Problem> {
        let Some(link) = link.filter(|link| link.by == Implementation::Relay) else {
            return Ok(self.names.clone());
        };
        let mut through = Vec::new();
        let measured: Vec<String> = self
            .servers
            .iter()
            .filter(|server| server.measured)
            .map(|server| server.name.clone())
            .collect();
        for to in measured.iter().flat_map(|name| self.names.ports_of(name)) {
            let known = self
                .relays
                .iter()
                .find(|relay| relay.to == to && relay.link == *link);
            let at = match known {
                Some(relay) => relay.at,
                None => {
                    let relay = Relay::start(link, to, &self.private).map_err(Problem::nowhere)?;
                    let at = relay.at;
                    self.relays.push(relay);
                    at
                }
            };
            through.push((to, at));
        }
        Ok(self.names.through(&through))
    }

    /// The namespace in which the load of the link runs, if the kernel emulates the link.
    ///
    /// # Errors
    /// If the namespace cannot be created.
    pub fn network_of(&mut self, link: Option<&Link>) -> Result<Option<Arc<Network>>, Problem> {
        let Some(link) = link.filter(|link| link.by == Implementation::Kernel) else {
            return Ok(None);
        };
        if let Some((_, network)) = self.networks.iter().find(|(known, _)| known == link) {
            return Ok(Some(Arc::clone(network)));
        }
        let made = Network::make(link).map_err(|why| link.place.problem(why))?;
        let network = Arc::new(made);
        self.networks.push((link.clone(), Arc::clone(&network)));
        Ok(Some(network))
    }

    /// Bits per second of one stream through a relay of the link. This relay is not the one to the
    /// system. `None` if too little data arrives.
    ///
    /// # Errors
    /// The system's error.
    pub fn rate_of(&mut self, link: &Link) -> Result<Option<f64>, String> {
        let (relay, sink) = self.sink_of(link)?;
        sink.measure(relay.at, RATE_DURATION)
            .map_err(|error| error.to_string())
    }

    /// The round trip of a byte through the same relay.
    ///
    /// # Errors
    /// The system's error.
    pub fn round_trip_of(&mut self, link: &Link) -> Result<Option<Duration>, String> {
        let (relay, sink) = self.sink_of(link)?;
        sink.round_trip(relay.at, ROUND_TRIPS)
            .map_err(|error| error.to_string())
    }

    fn sink_of(&mut self, link: &Link) -> Result<&(Relay, Sink), String> {
        if !self.sinks.iter().any(|(relay, _)| relay.link == *link) {
            let sink = Sink::open().map_err(|error| error.to_string())?;
            let relay = Relay::start(link, sink.port, &self.private)?;
            self.sinks.push((relay, sink));
        }
        let known = self.sinks.iter().find(|(relay, _)| relay.link == *link);
        known.ok_or_else(|| "the link has no relay".to_owned())
    }

    /// A port of the first measured system on this host.
    pub fn port_of_system(&self) -> Option<u16> {
        self.servers
            .iter()
            .filter(|server| server.measured)
            .find_map(|server| {
                // Prefer its main port to its additional ports.
                let own = self.names.get(&format!("{}.port", server.name));
                let of_all = self.names.ports_of(&server.name);
                own.and_then(|port| port.parse().ok())
                    .filter(|port| self.listens(*port))
                    .or_else(|| of_all.into_iter().find(|port| self.listens(*port)))
            })
    }

    /// The first measured system on another host.
    fn system_there(&self) -> Option<(&Server, &Arc<Connection>)> {
        self.servers
            .iter()
            .filter(|server| server.measured)
            .find_map(|server| Some((server, server.connection.as_ref()?)))
    }

    /// An address at which the first measured system on another host accepts connections.
    pub fn address_of_remote_system(&self) -> Option<String> {
        let (server, _) = self.system_there()?;
        let all = self.names.addresses_of(&server.name);
        all.into_iter().find(|address| {
            address.parse().is_ok_and(|address| {
                TcpStream::connect_timeout(&address, Duration::from_secs(2)).is_ok()
            })
        })
    }

    /// Bits per second of one stream to the host of that system.
    pub fn rate_to_host(&self) -> Option<f64> {
        self.system_there()?.1.rate()
    }

    fn listens(&self, port: u16) -> bool {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
        TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok()
    }

    /// The lateness of the relays of the link since the last call, in milliseconds: the 99th percentile
    /// of the later direction. `None` if nothing was relayed.
    pub fn relays_late(&mut self, link: Option<&Link>) -> Option<f64> {
        let link = link?;
        let of_link = self.relays.iter_mut().filter(|relay| relay.link == *link);
        of_link.filter_map(Relay::late_p99).reduce(f64::max)
    }

    /// The port of a relay of the link to a measured system.
    pub fn relay_of(&self, link: &Link) -> Option<u16> {
        self.relays
            .iter()
            .find(|relay| relay.link == *link)
            .map(|relay| relay.at)
    }
}

/// Duration of the measurement of a link's throughput.
const RATE_DURATION: Duration = Duration::from_millis(250);
/// Number of round trips of a byte.
const ROUND_TRIPS: usize = 5;

fn certificates(names: &[String], private: &Path, known: &mut Names) -> Result<(), Problem> {
    let directory = private.join("certificates");
    let mut command = Command::new(program_path().map_err(Problem::nowhere)?);
    command.arg("certs");
    for name in names {
        command.args(["--name", name]);
    }
    command.arg(&directory);
    let finished = run(&mut command, &[], Duration::from_secs(60)).map_err(Problem::nowhere)?;
    if finished.code != Some(0) {
        return Err(Problem::nowhere(format!(
            "cannot create certificates: {}",
            finished.last_lines()
        )));
    }
    // HAProxy expects the certificate chain and the key in one file.
    let [chain, key] = ["server.pem", "server.key"].map(|file| fs::read(directory.join(file)));
    if let (Ok(chain), Ok(key)) = (chain, key) {
        let both = directory.join("both.pem");
        fs::write(&both, [chain, key].concat()).map_err(|error| {
            Problem::nowhere(format!("cannot write {}: {error}", both.display()))
        })?;
        let owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        let _ = fs::set_permissions(&both, owner);
    }
    known.set("certificates.directory", directory.display().to_string());
    for (name, file) in [
        ("ca", "ca.pem"),
        ("server", "server.pem"),
        ("server-key", "server.key"),
        ("client", "client.pem"),
        ("client-key", "client.key"),
    ] {
        known.set(
            format!("certificates.{name}"),
            directory.join(file).display().to_string(),
        );
    }
    Ok(())
}

/// Runs a seed and checks its results.
fn run_seed(seed: &Seed, logs: &Path, names: &mut Names) -> Result<(), Problem> {
    let wrong = |what: String| seed.place.problem(format!("the seed {} {what}", seed.name));
    let environment = names.fill_pairs(&seed.environment, &seed.place)?;
    let record = logs.join(format!("{}.jsonl", seed.name));
    let console = logs.join(format!("{}.console", seed.name));
    let _ = fs::remove_file(&console);
    let words = match &seed.script {
        Some(script) => {
            let mut words = vec![program_path().map_err(wrong)?];
            words
                .extend(["run", "--quiet", "--no-color", "--log-format", "raw"].map(str::to_owned));
            words.extend([format!("--log-output=file={}", console.display())]);
            words.extend(["--record".to_owned(), record.display().to_string()]);
            for (name, value) in &environment {
                words.extend(["-e".to_owned(), format!("{name}={value}")]);
            }
            words.push(script.display().to_string());
            words
        }
        None => with_program(names.fill_all(&seed.command, &seed.place)?).map_err(wrong)?,
    };
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command
        .args(words.get(1..).unwrap_or_default())
        .envs(environment.iter().map(|(name, value)| (name, value)));
    let finished = run(&mut command, &[], seed.within).map_err(wrong)?;
    let _ = fs::write(logs.join(format!("{}.out", seed.name)), &finished.output);
    let _ = fs::write(logs.join(format!("{}.err", seed.name)), &finished.talk);
    let logged = fs::read_to_string(&console).unwrap_or_default();
    let end = fs::File::open(&record)
        .ok()
        .filter(|_| seed.script.is_some())
        .and_then(|file| plimsoll_results::record::read(std::io::BufReader::new(file)).ok())
        .and_then(|record| record.end)
        .unwrap_or_default();
    // An exception ends only its iteration, not the run.
    if finished.code != Some(0) || end.iterations_threw > 0 {
        let output = match logged.trim().is_empty() {
            true => finished.last_lines(),
            false => logged
                .lines()
                .rev()
                .take(4)
                .collect::<Vec<_>>()
                .join("\n    "),
        };
        return Err(wrong(format!(
            "failed ({}): {output}; run it by hand: {}",
            match end.iterations_threw {
                0 => finished.status,
                1 => "an exception in 1 iteration".to_owned(),
                threw => format!("exceptions in {threw} iterations"),
            },
            words.join(" ")
        )));
    }
    let mut printed: Map<String, Value> = Map::new();
    for line in finished.output.lines().chain(logged.lines()) {
        if let Ok(fields) = serde_json::from_str::<Map<String, Value>>(line.trim()) {
            printed.extend(fields);
        }
    }
    let counters = end.counters;
    let text_of = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    for (name, wanted) in &seed.expect {
        let found = match (counters.get(name), printed.get(name)) {
            (Some(count), _) => Some(count.to_string()),
            (None, Some(value)) => Some(text_of(value)),
            (None, None) => None,
        };
        let same = |found: &str| {
            found == wanted
                || matches!((found.parse::<f64>(), wanted.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
        };
        if !found.as_deref().is_some_and(same) {
            let falls_short = format!(
                "the seed {} is incomplete: {name} should be {wanted}, but is {}; see {}",
                seed.name,
                found.unwrap_or_else(|| {
                    "missing: no counter has that name, and no JSON line contains it".to_owned()
                }),
                logs.display()
            );
            return Err(seed.place_of_expect.problem(falls_short));
        }
    }
    for (name, value) in &printed {
        names.set(format!("{}.{name}", seed.name), text_of(value));
    }
    Ok(())
}
