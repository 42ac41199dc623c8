//! One run of a fleet with an injected fault, judged from the outside.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::{Ended, Program, Running, Signal};
use serde_json::Value;

use super::relay::{Network, Relay};
use crate::plimsoll::plimsoll;

/// The injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// An agent is killed (SIGKILL).
    Kill,
    /// An agent is stopped and continued.
    Stop,
    /// The coordinator is stopped and continued, so the server treats it as a slow consumer.
    StopCoordinator,
    CutAgent,
    FreezeAgent,
    CutCoordinator,
    /// The coordinator's network forwards only a few kilobytes per second.
    SlowCoordinator,
    RestartServer,
    /// An agent cannot write its spool.
    DiskFull,
}

pub const FAULTS: [Fault; 10] = [
    Fault::None,
    Fault::Kill,
    Fault::Stop,
    Fault::StopCoordinator,
    Fault::CutAgent,
    Fault::FreezeAgent,
    Fault::CutCoordinator,
    Fault::SlowCoordinator,
    Fault::RestartServer,
    Fault::DiskFull,
];

/// A run with a fault.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    pub fault: Fault,
    /// The delay of the fault after the first request.
    pub at: Duration,
    pub length: Duration,
    /// The agent that the fault affects.
    pub victim: usize,
    /// `--fleet-loss`.
    pub policy: &'static str,
}

pub const POLICIES: [&str; 3] = ["fail", "degrade", "redistribute"];

/// The observations of a trial.
#[derive(Debug)]
pub struct Seen {
    pub ended: Ended,
    pub took: Duration,
    /// The actual duration of the fault. On a busy machine, and with a server that has to start, it exceeds the planned
    /// duration.
    pub lasted: Duration,
    /// The number of requests that the service received.
    pub served: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Complete,
    Degraded,
    Invalid,
    /// The run did not start, or printed no result.
    Nothing,
}

const AGENTS: usize = 3;
const RATE: u64 = 60;
/// Time limit for a run without a fault, on a busy machine.
const USUAL: Duration = Duration::from_secs(40);
/// An agent counts as lost after 5 s, and stops 10 s after it lost its coordinator.
const STATED: Duration = Duration::from_secs(15);
/// A fault of at most this duration must not lose anything, because both sides wait 5 s for each other.
const HARMLESS: Duration = Duration::from_millis(3_500);

impl Trial {
    /// Whether everything must have arrived despite a fault of this duration.
    pub fn is_harmless(&self, lasted: Duration) -> bool {
        match self.fault {
            Fault::None | Fault::DiskFull => true,
            Fault::Kill => false,
            _ => lasted <= HARMLESS,
        }
    }

    /// The duration of the load. It is long enough for the other agents to take over the load of a lost agent.
    fn seconds(&self) -> u64 {
        match self.policy {
            "redistribute" => 20,
            _ => 3,
        }
    }

    pub fn run(&self) -> Seen {
        let folder = tempfile::tempdir().unwrap();
        let address = server_address();
        let config = folder.path().join("nats.conf");
        // A small buffer, so that the server soon treats a client as slow.
        let text = format!(
            r#"listen: "{address}"
            max_payload: 8MB
            max_pending: 8MB
            write_deadline: "2s"
            authorization {{ users: [
                {{ user: coordinator, password: secret, permissions: {{ publish: "plimsoll.command.>", subscribe: "plimsoll.agent.*" }} }}
                {{ user: agent, password: secret, permissions: {{ publish: "plimsoll.agent.*", subscribe: "plimsoll.command.>" }} }}
            ] }}"#
        );
        fs::write(&config, text).unwrap();
        let start_server = || {
            let server = Program::at("nats-server").arg("-c").arg(&config);
            let server = server.limit(USUAL * 3).start();
            let started = Instant::now();
            while std::net::TcpStream::connect(address).is_err() {
                assert!(started.elapsed() < USUAL, "nats-server does not start");
                std::thread::sleep(Duration::from_millis(10));
            }
            server
        };
        let mut server = Some(start_server());
        let relays: Vec<Relay> = (0..=AGENTS).map(|_| Relay::start(address)).collect();
        let agents: Vec<Running> = (0..AGENTS)
            .map(|number| self.agent(number, &relays[number], folder.path()))
            .collect();
        let service = Peer::start(Play::ok("hello"));
        let began = Instant::now();
        let run = plimsoll(&[
            "run",
            "--quiet",
            "--json",
            "-",
            "--fleet",
            &AGENTS.to_string(),
        ])
        .args(["--fleet-loss", self.policy])
        .args([
            "--fleet-server",
            &format!("nats://{}", relays[AGENTS].address()),
        ])
        .args(["-e", &format!("URL={}", service.url())])
        .env("PLIMSOLL_FLEET_PASSWORD", "secret")
        .input(script(self.seconds()))
        .limit(USUAL * 2)
        .start();
        while service.requests() == 0 && began.elapsed() < USUAL {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(self.at);
        let (relay, victim) = (&relays[self.victim], &agents[self.victim]);
        let fault_began = Instant::now();
        match self.fault {
            Fault::None | Fault::DiskFull => {}
            Fault::Kill => victim.signal(Signal::KILL),
            Fault::Stop => self.between(
                || victim.signal(Signal::STOP),
                || victim.signal(Signal::CONT),
            ),
            Fault::StopCoordinator => {
                self.between(|| run.signal(Signal::STOP), || run.signal(Signal::CONT));
            }
            Fault::CutAgent => self.during(relay, Network::Cut),
            Fault::FreezeAgent => self.during(relay, Network::Frozen),
            Fault::CutCoordinator => self.during(&relays[AGENTS], Network::Cut),
            Fault::SlowCoordinator => self.during(&relays[AGENTS], Network::Slow),
            Fault::RestartServer => {
                drop(server.take());
                std::thread::sleep(self.length);
                server = Some(start_server());
            }
        }
        let lasted = fault_began.elapsed();
        let ended = run.wait();
        let took = began.elapsed();
        drop((agents, server));
        Seen {
            ended,
            took,
            lasted,
            served: service.requests() as u64,
        }
    }

    fn between(&self, start: impl Fn(), end: impl Fn()) {
        start();
        std::thread::sleep(self.length);
        end();
    }

    fn during(&self, relay: &Relay, network: Network) {
        self.between(|| relay.set(network), || relay.set(Network::Open));
    }

    fn agent(&self, number: usize, relay: &Relay, folder: &std::path::Path) -> Running {
        let program = env!("CARGO_BIN_EXE_plimsoll");
        let spool = folder.join(format!("spool-{number}"));
        // Files are limited to 4 KB, so writing more fails as on a full disk.
        let limit = match self.fault == Fault::DiskFull && number == self.victim {
            true => "ulimit -f 8; trap '' XFSZ; ",
            false => "",
        };
        Program::at("/bin/sh")
            .arg("-c")
            .arg(format!(
                r#"{limit}exec "{program}" fleet agent nats://{} --name agent-{number} --spool "{}""#,
                relay.address(),
                spool.display()
            ))
            .env("PLIMSOLL_FLEET_PASSWORD", "secret")
            .env("HOME", "/nonexistent")
            .limit(USUAL * 3)
            .start()
    }
}

/// The address of a trial's server. Each trial has its own loopback address, because the server starts twice in some
/// trials and nothing else may take its port in between.
fn server_address() -> SocketAddr {
    static TRIALS: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id() % (1 << 14);
    let trial = TRIALS.fetch_add(1, Ordering::Relaxed) % (1 << 9);
    let host = u32::from(Ipv4Addr::new(127, 1, 0, 0)) + (process << 9) + trial;
    SocketAddr::from((Ipv4Addr::from(host), 4222))
}

/// An open model with one user per iteration, so that a busy machine drops only a few iterations.
fn script(seconds: u64) -> String {
    format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{ open: {{
            executor: 'constant-arrival-rate', rate: {RATE}, timeUnit: '1s', duration: '{seconds}s', preAllocatedVUs: 60,
        }} }} }};
        export default function () {{ http.get(__ENV.URL); }}"
    )
}

impl Seen {
    /// The verdict of the run on its results.
    pub fn verdict(&self) -> Verdict {
        let stderr = &self.ended.stderr;
        match () {
            () if stderr.contains("fleet: complete: ") => Verdict::Complete,
            () if stderr.contains("fleet: degraded (") => Verdict::Degraded,
            () if stderr.contains("fleet: invalid (") => Verdict::Invalid,
            () => Verdict::Nothing,
        }
    }

    fn count(&self, metric: &str) -> u64 {
        let output: Value = serde_json::from_str(&self.ended.stdout).unwrap_or_default();
        let metric = &output["metrics"][metric];
        let count = metric["count"]
            .as_f64()
            .or(metric["values"]["count"].as_f64());
        count.unwrap_or(0.0) as u64
    }

    /// What is wrong with the verdict, if anything. Results that are reported as complete must contain every request
    /// that the service received, and every scheduled iteration.
    pub fn error(&self, trial: &Trial) -> Option<String> {
        let (requests, dropped) = (self.count("http_reqs"), self.count("dropped_iterations"));
        let verdict = self.verdict();
        let scheduled = RATE * trial.seconds();
        if verdict == Verdict::Complete
            && (requests != self.served || requests + dropped != scheduled)
        {
            return Some(format!(
                "false-complete: {requests} requests in the results, {} received, {dropped} dropped of {scheduled}",
                self.served
            ));
        }
        if requests > self.served {
            return Some(format!(
                "counted-twice: {requests} requests in the results, {} received",
                self.served
            ));
        }
        if let Some(missing) = self.missing()
            && self.count("iterations") + dropped + missing != scheduled
        {
            return Some(format!(
                "wrong-missing: {} iterations in the results, {dropped} dropped and {missing} missing of {scheduled}",
                self.count("iterations")
            ));
        }
        if self.took > USUAL + STATED + self.lasted + Duration::from_secs(trial.seconds()) {
            return Some(format!("late: it took {:.1} s", self.took.as_secs_f64()));
        }
        (trial.is_harmless(self.lasted) && verdict != Verdict::Complete)
            .then(|| format!("false-incomplete: {}", self.line()))
    }

    /// The number of missing iterations that the run reports, if the other agents have taken over the whole load of
    /// lost agents.
    fn missing(&self) -> Option<u64> {
        let line = self.line();
        let mut parts: Vec<&str> = line.split(" of its iterations missing").collect();
        parts.pop();
        let numbers = parts
            .iter()
            .map(|before| before.rsplit(' ').next()?.parse::<u64>().ok());
        let is_whole =
            self.verdict() == Verdict::Degraded && parts.len() == line.matches(" lost at ").count();
        is_whole.then(|| numbers.sum()).flatten()
    }

    /// The line with the verdict.
    pub fn line(&self) -> String {
        let mut lines = self.ended.stderr.lines();
        let line = lines.find(|line| line.starts_with("fleet: "));
        line.unwrap_or("no result").to_owned()
    }
}
