//! Finds agents, and assigns a part of a run to each.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_engine::{AbortReason, Mirror, Running};
use plimsoll_frames::{Account, Planned, Policy, RunId};
use plimsoll_plan::{Executor, Plan, Segment, SegmentSequence};
use plimsoll_run::{Agents, Conclusion, RemoteStart, RemoteWorkers, ScriptLog};
use plimsoll_samples::{Totals, WindowDecoder};
use sha2::{Digest as _, Sha256};

use crate::access::Access;
use crate::agent_count::{AgentCount, Group};
use crate::assignment::{Assignment, equal_parts, plan_hash};
use crate::bus::{Bus, Delivery};
use crate::coordinator::{Coordinator, Phase};
use crate::load::{FleetLoad, pack};
use crate::local::{Ended, Local};
use crate::messages::{COMMANDS_TO_ALL, Command, REPORTS_OF_ALL, encode};
use crate::peer::{Found, Peer};
use crate::regions::Regions;
use crate::{random, schedule};

/// How often agents are asked to report.
const REPORT_REQUEST_INTERVAL: Duration = Duration::from_millis(250);

pub struct FleetSettings {
    pub server: Access,
    pub agents: AgentCount,
    /// The policy for lost agents.
    pub policy: Policy,
    /// Maximum time to wait for agents.
    pub patience: Duration,
    pub load: FleetLoad,
    /// Worker threads per agent. The default is one per processor.
    pub threads: Option<usize>,
    /// The kernel interface for sending and receiving.
    pub io: String,
    /// Receives warnings and the lines of scripts.
    pub log: ScriptLog,
    /// The server and agents on this machine, which exit with the run.
    pub local: Option<Local>,
}

/// Agents that share a run. They are the workers of that run.
pub struct Fleet {
    gathered: Option<FoundAgents>,
    leading: Option<JoinHandle<Conclusion>>,
    /// Why the coordinator could not start.
    failure: Option<String>,
    local: Option<Local>,
    /// The processor time of all agents, in nanoseconds.
    cpu: Arc<AtomicU64>,
    agents: Agents,
}

struct FoundAgents {
    bus: Bus,
    inputs: Receiver<Delivery>,
    found: Vec<Found>,
    parts: Vec<Part>,
    package: Vec<u8>,
    assignment: Assignment,
    run: RunId,
    policy: Policy,
    load: FleetLoad,
    log: ScriptLog,
    ended: Option<Ended>,
}

/// The plan of one part.
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
    pub fn find(settings: FleetSettings) -> Result<Fleet, String> {
        let FleetSettings {
            server,
            agents,
            policy,
            patience,
            load,
            threads,
            io,
            log,
            local,
        } = settings;
        let total = agents.total();
        let (sequence, parts) = divide(&load, total)?;
        let (about_load, files) = load.describe()?;
        let package = pack(&files)?;
        let run = random::bytes()?;
        let (send, inputs) = channel();
        let bus = Bus::connect(&server, vec![REPORTS_OF_ALL.to_owned()], move |delivery| {
            // If this fails, the run has ended.
            let _ = send.send(delivery);
        })
        .map_err(|error| {
            format!("could not connect to the NATS server: {error}. Is it running, and are the user and password correct?")
        })?;
        let found = find(&bus, &inputs, &agents, patience)?;
        check_limits(&found, &parts)?;
        let assignment = Assignment {
            run: random::hex(&run),
            sequence,
            agents: total,
            package_length: package.len() as u64,
            package_hash: random::hex(&Sha256::digest(&package)),
            threads,
            io,
            shares_machine: local.is_some(),
            redistributes: policy == Policy::Redistribute,
            ..about_load
        };
        let gathered = FoundAgents {
            bus,
            inputs,
            found,
            parts,
            package,
            assignment,
            run: RunId(run),
            policy,
            load,
            log,
            ended: local.as_ref().map(Local::ended),
        };
        Ok(Fleet {
            gathered: Some(gathered),
            leading: None,
            failure: None,
            local,
            cpu: Arc::default(),
            agents: Agents::default(),
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
        let coordinator = gathered.coordinator(&start, mirror, &self.cpu, &self.agents);
        let leading = std::thread::Builder::new()
            .name("fleet".to_owned())
            .spawn(move || coordinator.run_to_end());
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

    fn agents(&self) -> Agents {
        self.agents.clone()
    }

    fn conclude(&mut self) -> Conclusion {
        let concluded = self.leading.take().and_then(|leading| leading.join().ok());
        if let Some(local) = self.local.as_ref().filter(|_| concluded.is_some()) {
            local.wait_for_agents();
        }
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
            cpu: Duration::ZERO,
        })
    }
}

impl FoundAgents {
    fn coordinator(
        self,
        start: &RemoteStart,
        mirror: Mirror,
        cpu: &Arc<AtomicU64>,
        agents: &Agents,
    ) -> Coordinator {
        let RemoteStart {
            plan,
            registry,
            watch,
        } = start;
        let peers = self.found.into_iter().zip(self.parts).zip(0..);
        let peers = peers.map(|((found, part), number)| {
            let iterations = schedule::iterations(&part.plan);
            let assignment = Assignment {
                agent: number,
                share: part.share,
                iterations: iterations.clone(),
                segment: part.segment,
                plan_hash: plan_hash(&part.plan),
                breakdown: watch.breakdown(),
                by_name: watch.by_name(),
                by_second: watch.by_second(),
                outputs: watch.outputs(),
                ..self.assignment.clone()
            };
            let planned = Planned {
                share: part.share,
                iterations,
                scheduled_by: Some(schedule::scheduled_by(&part.plan)),
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
            Peer::new(found, assignment, account, part.plan, scenarios)
        });
        let peers: Vec<_> = peers.collect();
        let names = peers.iter().filter_map(|peer| peer.found.region.clone());
        let regions = Regions::of(names, registry, watch);
        Coordinator {
            peers,
            regions,
            bus: self.bus,
            inputs: self.inputs,
            mirror,
            package: self.package,
            run: self.assignment.run.clone(),
            policy: self.policy,
            load: self.load,
            log: self.log,
            ended: self.ended,
            progress: Phase::default(),
            workers: 0,
            cpu: Arc::clone(cpu),
            agents: agents.clone(),
        }
    }
}

/// The indices of the part's scenarios in the whole plan.
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

/// Checks whether the load can be divided among this many agents.
///
/// # Errors
/// If it cannot be divided.
pub fn check(load: &FleetLoad, agents: u32) -> Result<(), String> {
    divide(load, agents).map(|_| ())
}

/// Divides the load among agents. Returns the boundaries and each part.
fn divide(load: &FleetLoad, agents: u32) -> Result<(String, Vec<Part>), String> {
    let plan = load.plan();
    if !plan.segment.is_whole() {
        return Err("--fleet divides the test itself; remove --execution-segment".to_owned());
    }
    let mut scenarios = plan.scenarios.iter();
    if let Some(scenario) =
        scenarios.find(|one| matches!(one.executor, Executor::ExternallyControlled { .. }))
    {
        return Err(format!(
            "scenario {} has the executor externally-controlled, which a fleet cannot run",
            scenario.name
        ));
    }
    let users = plan.requirements().max_users;
    if agents == 0 || agents > users {
        return Err(format!(
            "the test has {users} users, which cannot be divided among {agents} agents; give --fleet a number from 1 to {users}"
        ));
    }
    let (sequence, segments) = equal_parts(agents);
    let borders = SegmentSequence::parse(&sequence).map_err(|fault| fault.to_string())?;
    let parts = segments.into_iter().map(|text| {
        let segment = Segment::parse(&text).map_err(|fault| fault.to_string())?;
        Ok(Part {
            plan: load.part(segment, &borders)?,
            segment: text,
            share: segment.length(),
        })
    });
    Ok((sequence, parts.collect::<Result<_, String>>()?))
}

/// Checks that the agents accept the users of their parts. They also check this themselves, but later.
fn check_limits(found: &[Found], parts: &[Part]) -> Result<(), String> {
    for (agent, part) in found.iter().zip(parts) {
        let users = part.plan.requirements().max_users;
        if let Some(most) = agent.max_users.filter(|most| *most < users) {
            return Err(format!(
                "the agent {} accepts {most} users (--max-users), and its part has {users}; use more agents or fewer users",
                agent.name
            ));
        }
    }
    Ok(())
}

/// Waits until enough free agents were found. Returns them in the order of the groups.
fn find(
    bus: &Bus,
    inputs: &Receiver<Delivery>,
    agents: &AgentCount,
    patience: Duration,
) -> Result<Vec<Found>, String> {
    let started = plimsoll_clock::now();
    let mut due = started;
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    loop {
        let missing = match select(&found, agents) {
            Ok(chosen) => return Ok(chosen),
            Err(missing) => missing,
        };
        let now = plimsoll_clock::now();
        if now >= due {
            due = now + REPORT_REQUEST_INTERVAL;
            bus.send(COMMANDS_TO_ALL, encode(&Command::Find));
        }
        if now.since(started) > patience {
            return Err(format!(
                "{missing} within {} s; start plimsoll fleet agent on every machine, with the address of the same NATS server",
                patience.as_secs()
            ));
        }
        match inputs.recv_timeout(due.since(now)) {
            Ok(Delivery::Message { subject, bytes }) => {
                if let Some(one) = free_agent(&subject, &bytes)? {
                    found.insert(one.id.clone(), one);
                }
            }
            Ok(Delivery::Unsent(error)) => return Err(error),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err("lost the connection to the NATS server".to_owned());
            }
        }
    }
}

/// Selects the agents of each group. If some are missing, describes them.
fn select(found: &BTreeMap<String, Found>, agents: &AgentCount) -> Result<Vec<Found>, String> {
    let groups = match agents {
        AgentCount::Groups(groups) => groups.clone(),
        AgentCount::Local(agents) => vec![Group {
            region: None,
            agents: *agents,
        }],
    };
    let mut chosen = Vec::new();
    for Group { region, agents } in groups {
        let is_there = |one: &&Found| region.is_none() || one.region == region;
        let mut group: Vec<_> = found.values().filter(is_there).cloned().collect();
        let wanted = agents as usize;
        if group.len() < wanted {
            let of_region = region.map_or_else(String::new, |name| format!(" in {name}"));
            let there = group.len();
            return Err(format!("found {there} of {wanted} agents{of_region}"));
        }
        group.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        group.truncate(wanted);
        chosen.append(&mut group);
    }
    Ok(chosen)
}

/// The agent that reports that it is connected and free.
fn free_agent(subject: &str, bytes: &[u8]) -> Result<Option<Found>, String> {
    let Some(found) = Found::of(subject, bytes) else {
        return Ok(None);
    };
    let own = env!("CARGO_PKG_VERSION");
    if found.version != own {
        return Err(format!(
            "the agent {} has version {}, and this program {own}; use the same version everywhere",
            found.name, found.version
        ));
    }
    Ok(found.run.is_none().then_some(found))
}
