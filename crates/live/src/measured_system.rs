//! CPU and memory of the measured system, if it runs on this machine. Its processes are found by the ports of loopback
//! addresses in the URLs of requests.

use plimsoll_machine::{ProcessUse, listening_processes};
use plimsoll_units::Moment;

use crate::collector::Update;
use crate::state::NameRow;
use crate::system_row::SystemRow;

/// Maximum number of systems that are shown.
const MAX_SYSTEMS: usize = 4;
/// How often to search for the processes of a port, because a server may start late or restart.
const MAX_SEARCHES: u32 = 20;

/// Reads the systems of a run, once per point.
#[derive(Debug, Default)]
pub struct MeasuredSystems {
    systems: Vec<MeasuredSystem>,
    /// The latest reading, which stays on the page after the run.
    latest: Vec<SystemRow>,
}

#[derive(Debug)]
struct MeasuredSystem {
    port: u16,
    processes: Vec<u32>,
    /// The number of remaining searches. Each one reads the open files of all processes.
    searches: u32,
    /// The time of the previous reading, and its processor time in seconds.
    before: Option<(Moment, f64)>,
}

impl MeasuredSystems {
    /// Adds the readings to an update. The readings of a point cover the time since the previous point.
    pub fn add_to(&mut self, update: &mut Update) {
        self.find(&update.state.names);
        if let Some(point) = &mut update.point {
            let now = plimsoll_clock::now();
            let systems = self.systems.iter_mut();
            self.latest = systems.filter_map(|system| system.read(now)).collect();
            let used = self.latest.iter().filter_map(|system| system.cpu);
            point.system_cpu = used.reduce(|sum, cpu| sum + cpu);
        }
        update.state.systems.clone_from(&self.latest);
    }

    /// Finds the ports that have not been seen before.
    fn find(&mut self, names: &[NameRow]) {
        for port in names.iter().filter_map(|row| local_port(&row.name)) {
            let is_known = self.systems.iter().any(|system| system.port == port);
            if is_known || self.systems.len() >= MAX_SYSTEMS {
                continue;
            }
            self.systems.push(MeasuredSystem {
                port,
                processes: Vec::new(),
                searches: MAX_SEARCHES,
                before: None,
            });
        }
    }
}

impl MeasuredSystem {
    fn read(&mut self, now: Moment) -> Option<SystemRow> {
        let mut uses = self.uses();
        if uses.is_empty() && self.searches > 0 {
            self.searches -= 1;
            self.before = None;
            self.processes = listening_processes(self.port);
            // A server in this process would be shown with the generator's own use.
            self.processes.retain(|pid| *pid != std::process::id());
            uses = self.uses();
        }
        if uses.is_empty() {
            return None;
        }
        let seconds: f64 = uses.iter().map(|one| one.cpu_seconds).sum();
        let cpu = self.before.and_then(|(then, before)| {
            let span = now.since(then).as_secs_f64();
            // The time of a process that has exited is missing.
            (span > 0.0).then(|| ((seconds - before) / span).max(0.0))
        });
        self.before = Some((now, seconds));
        Some(SystemRow {
            port: self.port,
            processes: uses.len(),
            cpu,
            memory: uses.iter().map(|one| one.memory.get()).sum(),
        })
    }

    fn uses(&self) -> Vec<ProcessUse> {
        let processes = self.processes.iter();
        processes.filter_map(|pid| ProcessUse::of(*pid)).collect()
    }
}

/// The port of a URL whose host is a loopback address. The scheme may be missing, as in the list of gRPC calls.
fn local_port(url: &str) -> Option<u16> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => match scheme {
            "http" | "ws" => (authority, 80),
            "https" | "wss" => (authority, 443),
            _ => return None,
        },
    };
    let is_local = host == "localhost" || host == "[::1]" || host.starts_with("127.");
    is_local.then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_loopback_addresses_are_found() {
        for (url, port) in [
            ("http://127.0.0.1:8080/a?b", Some(8080)),
            ("https://localhost/x", Some(443)),
            ("http://[::1]:81", Some(81)),
            ("ws://[::1]/chat", Some(80)),
            ("http://****:****@127.0.0.2:9/", Some(9)),
            ("127.0.0.1:50051/shop.Cart/Add", Some(50_051)),
            ("http://192.0.2.1:80/", None),
            ("http://127.0.0.1:x/", None),
            ("checkout", None),
            ("grpc.health.v1.Health/Check", None),
        ] {
            assert_eq!(local_port(url), port, "{url}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_listens_is_read() {
        let mut system = MeasuredSystem {
            port: 1,
            processes: vec![std::process::id(), u32::MAX],
            searches: 1,
            before: None,
        };
        let first = system.read(Moment::from_nanos(1_000_000_000)).unwrap();
        assert_eq!((first.processes, first.cpu), (1, None));
        assert!(first.memory > 0);
        let second = system.read(Moment::from_nanos(2_000_000_000)).unwrap();
        assert!(second.cpu.is_some_and(|cpu| cpu >= 0.0), "{second:?}");
        // Nothing listens on that port now, and there are no more searches.
        system.processes = vec![u32::MAX];
        assert_eq!(system.read(Moment::from_nanos(3_000_000_000)), None);
        assert_eq!((system.processes.len(), system.searches), (0, 0));
    }
}
