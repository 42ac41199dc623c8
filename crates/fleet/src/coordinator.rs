//! Coordinates a run: starts all agents at the same time, adds up their results, and detects lost agents.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use log::Level;
use plimsoll_engine::{AbortReason, Event as EngineEvent, Mirror, Notice};
use plimsoll_frames::Policy;
use plimsoll_plan::ExecutorKind;
use plimsoll_run::{Agents, Conclusion, ScriptLog};
use plimsoll_units::Moment;

use crate::agent::COORDINATOR_TIMEOUT;
use crate::bus::{Bus, Delivery};
use crate::conclusion;
use crate::load::FleetLoad;
use crate::local::Ended;
use crate::messages::{
    AbortCause, Aborted, Command, Instructions, PIECE_LENGTH, Report, SetupData, State, encode,
    encode_piece,
};
use crate::peer::Peer;
use crate::regions::Regions;
use crate::takeovers::move_load;
use crate::uplink::MIN_START_LEAD;

/// How often commands are sent.
const COMMAND_INTERVAL: Duration = Duration::from_millis(200);
/// An agent counts as lost if no message has arrived from it for this time.
const AGENT_TIMEOUT: Duration = Duration::from_secs(5);
/// The same limit before the start, when the agents of a machine may all create their users at the same time.
const AGENT_TIMEOUT_BEFORE_START: Duration = Duration::from_secs(20);
/// How often clocks are compared during the run.
const CLOCK_INTERVAL: Duration = Duration::from_secs(2);
/// An agent on this machine counts as lost this long after its process exited, because its last messages may still
/// arrive.
const EXIT_GRACE: Duration = Duration::from_millis(600);
/// How long in advance agents are notified of iterations that they take over.
const TAKEOVER_NOTICE: Duration = Duration::from_secs(1);
/// How many times the last command is sent.
const LAST_COMMAND_REPEATS: usize = 3;

/// The coordinator of one run.
pub struct Coordinator {
    pub bus: Bus,
    pub inputs: Receiver<Delivery>,
    pub mirror: Mirror,
    pub peers: Vec<Peer>,
    pub package: Vec<u8>,
    pub regions: Regions,
    pub run: String,
    pub policy: Policy,
    pub load: FleetLoad,
    pub log: ScriptLog,
    /// Reports which agents on this machine have exited.
    pub ended: Option<Ended>,
    pub progress: Phase,
    /// The workers of all agents, in the order in which they first appeared.
    pub workers: usize,
    /// The processor time of all agents, in nanoseconds.
    pub cpu: Arc<AtomicU64>,
    /// The readings of the agents, for views of the run.
    pub agents: Agents,
}

/// The current phase of the run.
#[derive(Default)]
pub struct Phase {
    /// When the agents received their parts.
    prepared: Option<Moment>,
    users_ready: bool,
    setup: Option<SetupData>,
    /// How long it took until all agents were ready.
    ready_after: Option<Duration>,
    /// The start of the scenarios.
    start: Option<Moment>,
    is_started: bool,
    is_done: bool,
}

impl Coordinator {
    /// Coordinates the run to its end.
    pub fn run_to_end(mut self) -> Conclusion {
        for peer in &self.peers {
            let command = Command::Prepare(Box::new(peer.assignment.clone()));
            self.bus.send(&peer.commands, encode(&command));
        }
        self.progress.prepared = Some(plimsoll_clock::now());
        let mut due = plimsoll_clock::now() + COMMAND_INTERVAL;
        while !self.peers.iter().all(Peer::is_over) {
            let now = plimsoll_clock::now();
            let start = self.progress.start.filter(|_| !self.progress.is_started);
            let next = start.map_or(due, |start| start.min(due));
            match self.inputs.recv_timeout(next.since(now)) {
                Ok(Delivery::Message { subject, bytes }) => self.take(&subject, &bytes),
                Ok(Delivery::Unsent(text)) => self.abort(AbortReason::Failed(text)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.mark_all_lost();
                    break;
                }
            }
            let now = plimsoll_clock::now();
            if start.is_some_and(|start| start <= now) {
                self.started();
            }
            if now >= due {
                let late = now.since(due);
                if late > COMMAND_INTERVAL {
                    // This process was stopped or got no processor time. The messages that arrived meanwhile have not
                    // been read yet, so the silence of agents cannot be judged now.
                    self.ignore_silence(late);
                }
                due = now + COMMAND_INTERVAL;
                self.tick(now);
            }
        }
        self.finish_scenarios();
        self.show_agents();
        for peer in 0..self.peers.len() * LAST_COMMAND_REPEATS {
            self.command(peer % self.peers.len(), true);
        }
        self.mirror.send(EngineEvent::Finished);
        let ready_after = self.progress.ready_after;
        conclusion::of(&self.peers, self.policy, &self.regions, ready_after)
    }

    /// Ignores silence of the agents for this time, because they did not cause it.
    fn ignore_silence(&mut self, time: Duration) {
        for peer in &mut self.peers {
            peer.heard = peer.heard + time;
        }
    }

    fn abort(&self, reason: AbortReason) {
        self.mirror.state().abort(reason);
    }

    fn take(&mut self, subject: &str, bytes: &[u8]) {
        let found = self.peers.iter().position(|peer| peer.reports == subject);
        let Some(index) = found else { return };
        let now = plimsoll_clock::now();
        let peer = &mut self.peers[index];
        if bytes.first() == Some(&b'P') {
            peer.heard = now;
            let before = peer.account.ledger().next();
            let start = self.progress.start.unwrap_or(now);
            peer.receive(
                bytes,
                start,
                &self.mirror,
                &mut self.workers,
                &mut self.regions,
            );
            self.agents.set(index, peer.reading());
            if let Some(fault) = peer.account.ledger().fault() {
                let why = format!("its results are invalid: {fault}");
                self.mark_lost(index, why);
            } else if peer.account.ledger().next() != before {
                self.command(index, false);
            }
            return;
        }
        // A newer agent may send reports that this coordinator does not know.
        let Ok(report) = serde_json::from_slice(bytes) else {
            return;
        };
        match report {
            Report::State(state) if state.run == self.run => {
                peer.heard = now;
                self.state(index, *state);
            }
            Report::Fetch { run, offset } if run == self.run => {
                peer.heard = now;
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                let rest = self.package.get(from..).unwrap_or_default();
                let piece = rest.get(..PIECE_LENGTH).unwrap_or(rest);
                let piece = encode_piece(offset, piece);
                self.bus.send(&peer.commands, piece);
            }
            Report::Pong {
                run,
                sent,
                received,
                replied,
            } if run == self.run => {
                peer.clocks.add(sent, received, replied, now.as_nanos());
                self.ping(index);
            }
            Report::Line {
                run,
                level,
                text,
                fields,
            } if run == self.run => {
                let level = level.parse().unwrap_or(Level::Info);
                let mut fields: Vec<_> = fields
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect();
                let number = peer.assignment.agent.to_string();
                fields.push(("agent", &number));
                (self.log)(level, &text, &fields);
            }
            Report::InsufficientUsers {
                run,
                scenario,
                users,
            } if run == self.run => {
                let plan = self.load.plan();
                let mut scenarios = plan.scenarios.iter();
                let found = scenarios.find(|one| one.name == scenario);
                let executor = found.map_or(ExecutorKind::ConstantArrivalRate, |scenario| {
                    scenario.executor.kind()
                });
                self.mirror
                    .send(EngineEvent::Notice(Notice::InsufficientUsers {
                        scenario,
                        executor: executor.name(),
                        users,
                    }));
            }
            _ => {}
        }
    }

    /// Handles the state that an agent has reported.
    fn state(&mut self, index: usize, state: State) {
        let peer = &mut self.peers[index];
        if peer.is_lost() {
            return;
        }
        if peer.state.is_none() {
            self.ping(index);
        }
        if let Some(aborted) = &state.aborted {
            self.abort(reason(aborted));
        }
        let has_failed = state.failed.clone();
        let is_silent = state.ended && state.frames == 0;
        self.peers[index].state = Some(state);
        if let Some(text) = has_failed {
            self.abort(AbortReason::Failed(format!(
                "{}: {text}",
                self.peers[index].title()
            )));
            self.mark_lost(index, text);
        } else if is_silent {
            self.peers[index].ended = Some(plimsoll_clock::now());
            self.mark_lost(index, "it ended without results".to_owned());
        }
        self.advance();
    }

    /// Sends requests to compare clocks: until there are enough results, and then from time to time.
    fn ping(&mut self, index: usize) {
        let (now, peer) = (plimsoll_clock::now(), &mut self.peers[index]);
        if !peer.clocks.is_complete() || now.since(peer.pinged) >= CLOCK_INTERVAL {
            peer.pinged = now;
            let ping = Command::Ping {
                run: self.run.clone(),
                sent: now.as_nanos(),
            };
            self.bus.send(&peer.commands, encode(&ping));
        }
    }

    /// Starts each next phase of the run whose conditions are met.
    fn advance(&mut self) {
        let phase = &mut self.progress;
        let all = |property: fn(&State) -> bool| self.peers.iter().all(|peer| peer.has(property));
        if !phase.users_ready && all(|state| state.users_ready) {
            phase.users_ready = true;
            self.mirror.send(EngineEvent::UsersReady);
        }
        let first = self.peers.first().and_then(|first| first.state.as_ref());
        if phase.setup.is_none()
            && let Some(setup) = first.and_then(|state| state.setup.clone())
        {
            self.load.set_setup_data(&setup);
            phase.setup = Some(setup);
            self.command_all();
            return;
        }
        let are_compared = |peer: &Peer| peer.is_lost() || peer.clocks.is_complete();
        if phase.start.is_none()
            && all(|state| state.waiting)
            && self.peers.iter().all(are_compared)
            && self.mirror.state().aborted().is_none()
        {
            let now = plimsoll_clock::now();
            phase.ready_after = phase.prepared.map(|prepared| now.since(prepared));
            phase.start = Some(now + MIN_START_LEAD);
            self.command_all();
            return;
        }
        if phase.is_started && !phase.is_done && all(|state| state.done.is_some()) {
            self.finish_scenarios();
            self.command_all();
        }
    }

    fn started(&mut self) {
        if let Some(start) = self.progress.start
            && self.mirror.state().aborted().is_none()
        {
            self.progress.is_started = true;
            // From now on, the shorter limit for silence applies.
            let now = plimsoll_clock::now();
            self.peers.iter_mut().for_each(|peer| peer.heard = now);
            self.mirror.start(start);
            self.mirror.send(EngineEvent::Started);
        }
    }

    /// Records that all scenarios have ended. Their duration is that of the slowest agent.
    fn finish_scenarios(&mut self) {
        let phase = &mut self.progress;
        if phase.is_done || !phase.is_started {
            return;
        }
        phase.is_done = true;
        let longest = self.peers.iter().filter_map(|peer| {
            let done = peer.state.as_ref().and_then(|state| state.done);
            done.map_or_else(
                || peer.is_lost().then(|| peer.account.until()),
                |nanos| Some(Duration::from_nanos(nanos)),
            )
        });
        let longest = longest.max().unwrap_or_default();
        let start = phase.start.unwrap_or_else(plimsoll_clock::now);
        self.mirror.end(start + longest);
        self.mirror.send(EngineEvent::ScenariosDone);
    }

    fn tick(&mut self, now: Moment) {
        let limit = match self.progress.is_started {
            true => AGENT_TIMEOUT,
            false => AGENT_TIMEOUT_BEFORE_START,
        };
        for index in 0..self.peers.len() {
            if self.peers[index].is_over() {
                continue;
            }
            let status =
                (self.ended.as_ref()).and_then(|ended| ended(&self.peers[index].found.name));
            let peer = &mut self.peers[index];
            if let Some(status) = status
                && now.since(*peer.ended.get_or_insert(now)) > EXIT_GRACE
            {
                self.mark_lost(index, format!("its process ended ({status})"));
            } else if now.since(peer.heard) > limit {
                let why = format!("no message for {} s", limit.as_secs());
                self.mark_lost(index, why);
            } else {
                self.ping(index);
            }
        }
        let there = self.peers.iter().filter(|peer| !peer.is_lost());
        let states = there.filter_map(|peer| peer.state.as_ref());
        let (users, initialized) = states.fold((0_u32, 0_u32), |(users, ready), state| {
            (
                users.saturating_add(state.users),
                ready.saturating_add(state.initialized),
            )
        });
        let cpu: Duration = self.peers.iter().map(|peer| peer.cpu).sum();
        let cpu = u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX);
        self.cpu.store(cpu, Ordering::Relaxed);
        self.mirror.set_users(users, initialized);
        self.show_agents();
        self.advance();
        self.command_all();
    }

    fn show_agents(&self) {
        for (number, peer) in self.peers.iter().enumerate() {
            self.agents.set(number, peer.reading());
        }
    }

    fn command_all(&self) {
        for index in 0..self.peers.len() {
            self.command(index, false);
        }
    }

    /// Sends the current command to an agent.
    fn command(&self, index: usize, leave: bool) {
        let (peer, phase) = (&self.peers[index], &self.progress);
        let needs_setup = index > 0 && !peer.has(|state| state.waiting);
        let want = Instructions {
            run: self.run.clone(),
            next: peer.account.ledger().next(),
            setup: phase.setup.clone().filter(|_| needs_setup),
            start: phase.start.map(|start| peer.clocks.of_agent(start)),
            takeovers: match peer.has(|state| state.takeovers >= peer.takeovers.len()) {
                true => Vec::new(),
                false => peer.takeovers.clone(),
            },
            teardown: phase.is_done,
            stop: self.mirror.state().aborted().is_some(),
            leave: leave || peer.is_over(),
        };
        self.bus.send(&peer.commands, encode(&Command::Want(want)));
    }

    /// Marks an agent as lost.
    fn mark_lost(&mut self, index: usize, why: String) {
        let peer = &mut self.peers[index];
        if peer.is_over() {
            return;
        }
        let is_started = self.progress.is_started;
        peer.lost_at = is_started.then(|| peer.account.until());
        let at = peer
            .lost_at
            .map_or_else(String::new, |at| format!(" at {:.0} s", at.as_secs_f64()));
        let text = format!("{} was lost{at}: {why}", peer.title());
        peer.account.give_up();
        peer.lost = Some(why);
        (self.log)(Level::Warn, &text, &[]);
        let is_last = self.peers.iter().all(Peer::is_lost);
        if self.policy == Policy::Fail || !self.progress.is_started || is_last {
            let stopped = match self.policy {
                Policy::Fail if is_started => "; the run was stopped (--fleet-loss fail)",
                _ => "",
            };
            self.abort(AbortReason::Failed(format!("{text}{stopped}")));
        } else if self.policy == Policy::Redistribute {
            self.redistribute(index);
        }
    }

    /// Moves the load of a lost agent to the others, as soon as the lost agent certainly no longer runs it.
    fn redistribute(&mut self, index: usize) {
        let Some(start) = self.progress.start else {
            return;
        };
        let soon = plimsoll_clock::now() + TAKEOVER_NOTICE;
        let peer = &self.peers[index];
        let at = match peer.ended {
            Some(_) => soon,
            // It stops on its own when it has received no message from this coordinator for a while.
            None => soon.max(peer.heard + COORDINATOR_TIMEOUT + TAKEOVER_NOTICE),
        };
        let at = at.since(start);
        let title = peer.title();
        let text = match move_load(&mut self.peers, index, at) {
            Some(_) => format!(
                "the load of {title} moves to the others at {:.0} s",
                at.as_secs_f64()
            ),
            None => format!(
                "the load of {title} is not moved: it ends too soon, or no other agent can take it"
            ),
        };
        (self.log)(Level::Warn, &text, &[]);
        self.command_all();
    }

    fn mark_all_lost(&mut self) {
        for index in 0..self.peers.len() {
            self.mark_lost(index, "lost the connection to the NATS server".to_owned());
        }
    }
}

fn reason(aborted: &Aborted) -> AbortReason {
    let text = aborted.text.clone();
    match aborted.cause {
        AbortCause::ByScript => AbortReason::ByScript(text),
        AbortCause::Exception => AbortReason::ScriptException(text),
        AbortCause::SetupTimeout => AbortReason::SetupTimeout(text),
        AbortCause::TeardownTimeout => AbortReason::TeardownTimeout(text),
        AbortCause::Failed => AbortReason::Failed(text),
        AbortCause::Machine => AbortReason::Machine(text),
    }
}
