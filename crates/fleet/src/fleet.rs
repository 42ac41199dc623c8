//! Finds agents, and gives each a part of a run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_engine::{AbortReason, Mirror, Running};
use plimsoll_frames::{Account, Planned, Policy, RunId};
use plimsoll_plan::{Executor, Plan, Segment, SegmentSequence};
use plimsoll_run::{Conclusion, Prepared, RemoteStart, RemoteWorkers, ScriptLog};
use plimsoll_samples::{Totals, WindowDecoder};
use sha2::{Digest as _, Sha256};

use crate::assignment::{ARCHIVE, Assignment, equal_parts, plan_hash};
use crate::bus::{Bus, Delivery, Server};
use crate::coordinator::{Coordinator, Phase};
use crate::local::Local;
use crate::messages::{Command, FROM_ALL, Report, TO_ALL, encode, from_agent};
use crate::peer::{Found, Peer};
use crate::{random, schedule};

/// How often agents are asked for.
const ASK: Duration = Duration::from_millis(250);

/// The settings of a fleet.
pub struct FleetSettings {
    pub server: Server,
    /// The number of agents that share the run, from 1.
    pub agents: u32,
    /// What happens when an agent is lost.
    pub policy: Policy,
    /// How long to wait for agents.
    pub patience: Duration,
    /// The script, with its files kept.
    pub prepared: Arc<Prepared>,
    /// Worker threads of each agent; by default one for each processor.
    pub threads: Option<usize>,
    /// How requests are sent and received.
    pub io: String,
    /// Whether thresholds are judged.
    pub thresholds: bool,
    /// Receives warnings, and the lines of scripts.
    pub log: ScriptLog,
    /// The server and agents of this machine, which end with the run.
    pub local: Option<Local>,
}

/// Agents that will share a run. To the run they are its workers.
pub struct Fleet {
    gathered: Option<Gathered>,
    leading: Option<JoinHandle<Conclusion>>,
    /// Why leading could not start.
    failure: Option<String>,
    local: Option<Local>,
    /// The processor time of all agents, in nanoseconds.
    cpu: Arc<AtomicU64>,
}

struct Gathered {
    bus: Bus,
    inputs: Receiver<Delivery>,
    found: Vec<Found>,
    parts: Vec<Part>,
    archive: Vec<u8>,
    assignment: Assignment,
    run: RunId,
    policy: Policy,
    prepared: Arc<Prepared>,
    log: ScriptLog,
}

/// A part of the plan.
struct Part {
    segment: String,
    plan: Plan,
    share: f64,
}

impl Fleet {
    /// Finds agents for the run.
    ///
    /// # Errors
    /// If the plan cannot be divided, the server cannot be reached, or there are not enough agents.
    pub fn gather(settings: FleetSettings) -> Result<Fleet, String> {
        let FleetSettings {
            server,
            agents,
            policy,
            patience,
            prepared,
            threads,
            io,
            thresholds,
            log,
            local,
        } = settings;
        let (sequence, parts) = divide(&prepared, agents)?;
        let mut archive = Vec::new();
        prepared
            .archive()
            .write(&mut archive)
            .map_err(|error| format!("cannot pack the script: {error}"))?;
        if archive.len() as u64 > ARCHIVE {
            return Err(format!(
                "the script and its files have {} MB; a fleet's agents accept at most {} MB",
                archive.len() >> 20,
                ARCHIVE >> 20
            ));
        }
        let run = random::bytes()?;
        let (send, inputs) = channel();
        let bus = Bus::connect(&server, vec![FROM_ALL.to_owned()], move |delivery| {
            // The run has ended if this fails.
            let _ = send.send(delivery);
        })
        .map_err(|error| {
            format!("could not connect to the NATS server: {error}. Is it running, and are the user and password right?")
        })?;
        let found = find(&bus, &inputs, agents as usize, patience)?;
        let assignment = Assignment {
            run: random::hex(&run),
            sequence,
            archive_length: archive.len() as u64,
            archive_hash: random::hex(&Sha256::digest(&archive)),
            threads,
            io,
            thresholds,
            shares_machine: local.is_some(),
            ..Assignment::default()
        };
        let gathered = Gathered {
            bus,
            inputs,
            found,
            parts,
            archive,
            assignment,
            run: RunId(run),
            policy,
            prepared,
            log,
        };
        Ok(Fleet {
            gathered: Some(gathered),
            leading: None,
            failure: None,
            local,
            cpu: Arc::default(),
        })
    }
}

impl RemoteWorkers for Fleet {
    fn start(&mut self, start: RemoteStart) -> Running {
        let (running, mirror) = Mirror::of(&start.plan);
        let state = Arc::clone(mirror.state());
        let Some(gathered) = self.gathered.take() else {
            return running;
        };
        let coordinator = gathered.coordinator(&start, mirror, &self.cpu);
        let leading = std::thread::Builder::new()
            .name("fleet".to_owned())
            .spawn(move || coordinator.lead());
        match leading {
            Ok(leading) => self.leading = Some(leading),
            Err(error) => {
                let text = format!("could not start a thread: {error}");
                state.abort(AbortReason::Machine(text.clone()));
                self.failure = Some(text);
            }
        }
        running
    }

    fn local_time(&self) -> Duration {
        match &self.local {
            Some(_) => Duration::from_nanos(self.cpu.load(Ordering::Relaxed)),
            None => Duration::ZERO,
        }
    }

    fn conclude(&mut self) -> Conclusion {
        let concluded = self.leading.take().and_then(|leading| leading.join().ok());
        concluded.unwrap_or_else(|| Conclusion {
            messages: vec![format!(
                "fleet: invalid ({})",
                self.failure.as_deref().unwrap_or("its coordinator failed")
            )],
            findings: vec![(
                plimsoll_verdict::Level::Invalid,
                plimsoll_verdict::Reason {
                    cause: plimsoll_verdict::Cause::Client,
                    text: "the coordinator of the fleet failed".to_owned(),
                },
            )],
            marked_failed: false,
        })
    }
}

impl Gathered {
    fn coordinator(self, start: &RemoteStart, mirror: Mirror, cpu: &Arc<AtomicU64>) -> Coordinator {
        let RemoteStart {
            plan,
            registry,
            watch,
        } = start;
        let peers = self.found.into_iter().zip(self.parts).zip(0..);
        let peers = peers.map(|((found, part), number)| {
            let assignment = Assignment {
                agent: number,
                segment: part.segment,
                plan_hash: plan_hash(&part.plan),
                breakdown: watch.breakdown(),
                by_name: watch.by_name(),
                by_second: watch.by_second(),
                ..self.assignment.clone()
            };
            let planned = Planned {
                share: part.share,
                iterations: schedule::iterations(&part.plan),
            };
            let account = Account::new(
                self.run,
                number,
                found.epoch,
                planned,
                WindowDecoder::new(Arc::clone(registry), Arc::clone(watch)),
                Totals::new(Arc::clone(registry), Arc::clone(watch)),
            );
            let scenarios = places(&part.plan, plan);
            Peer::new(found, assignment, account, scenarios)
        });
        Coordinator {
            peers: peers.collect(),
            bus: self.bus,
            inputs: self.inputs,
            mirror,
            archive: self.archive,
            run: self.assignment.run.clone(),
            policy: self.policy,
            prepared: self.prepared,
            log: self.log,
            progress: Phase::default(),
            workers: 0,
            cpu: Arc::clone(cpu),
        }
    }
}

/// The place of each of the part's scenarios in the whole plan.
fn places(part: &Plan, whole: &Plan) -> Vec<usize> {
    let place = |name: &str| {
        let mut scenarios = whole.scenarios.iter();
        scenarios.position(|scenario| scenario.name == name)
    };
    let scenarios = part.scenarios.iter();
    scenarios
        .map(|scenario| place(&scenario.name).unwrap_or(usize::MAX))
        .collect()
}

/// Checks whether the plan can be divided among this many agents.
///
/// # Errors
/// If it cannot.
pub fn check(prepared: &Prepared, agents: u32) -> Result<(), String> {
    divide(prepared, agents).map(|_| ())
}

/// Divides the plan among agents: the boundaries, and each part.
fn divide(prepared: &Prepared, agents: u32) -> Result<(String, Vec<Part>), String> {
    if !prepared.plan.segment.is_whole() {
        return Err("--fleet divides the test itself; leave out --execution-segment".to_owned());
    }
    let mut scenarios = prepared.plan.scenarios.iter();
    if let Some(scenario) =
        scenarios.find(|one| matches!(one.executor, Executor::ExternallyControlled { .. }))
    {
        return Err(format!(
            "scenario {} has the executor externally-controlled, which a fleet cannot run",
            scenario.name
        ));
    }
    let users = prepared.plan.requirements().max_users;
    if agents == 0 || agents > users {
        return Err(format!(
            "the test has {users} users, which cannot be divided among {agents} agents; give --fleet a number from 1 to {users}"
        ));
    }
    let (sequence, segments) = equal_parts(agents);
    let borders = SegmentSequence::parse(&sequence).map_err(|fault| fault.to_string())?;
    let parts = segments.into_iter().map(|text| {
        let segment = Segment::parse(&text).map_err(|fault| fault.to_string())?;
        let plan = prepared
            .plan_in(segment, borders.clone())
            .map_err(|refusal| refusal.message)?;
        Ok(Part {
            segment: text,
            plan,
            share: segment.length(),
        })
    });
    Ok((sequence, parts.collect::<Result<_, String>>()?))
}

/// Waits until that many agents without a run were found.
fn find(
    bus: &Bus,
    inputs: &Receiver<Delivery>,
    agents: usize,
    patience: Duration,
) -> Result<Vec<Found>, String> {
    let begun = plimsoll_clock::now();
    let mut due = begun;
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    while found.len() < agents {
        let now = plimsoll_clock::now();
        if now >= due {
            due = now + ASK;
            bus.send(TO_ALL, encode(&Command::Find));
        }
        if now.since(begun) > patience {
            return Err(format!(
                "found {} of {agents} agents within {} s; start plimsoll agent on every machine, with the address of the same NATS server",
                found.len(),
                patience.as_secs()
            ));
        }
        match inputs.recv_timeout(due.since(now)) {
            Ok(Delivery::Message { subject, bytes }) => {
                if let Some(one) = here(&subject, &bytes)? {
                    found.insert(one.id.clone(), one);
                }
            }
            Ok(Delivery::Unsent(error)) => return Err(error),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err("the connection to the NATS server ended".to_owned());
            }
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    Ok(found)
}

/// The agent that reports to be without a run.
fn here(subject: &str, bytes: &[u8]) -> Result<Option<Found>, String> {
    let Ok(Report::Here(here)) = serde_json::from_slice(bytes) else {
        return Ok(None);
    };
    let id = subject.rsplit('.').next().unwrap_or_default();
    let Ok(epoch) = u64::from_str_radix(id, 16) else {
        return Ok(None);
    };
    if from_agent(id) != subject {
        return Ok(None);
    }
    let own = env!("CARGO_PKG_VERSION");
    if here.version != own {
        return Err(format!(
            "the agent {} has version {}, and this program {own}; use the same version everywhere",
            here.name, here.version
        ));
    }
    Ok(Some(Found {
        id: id.to_owned(),
        epoch,
        name: here.name,
    }))
}
