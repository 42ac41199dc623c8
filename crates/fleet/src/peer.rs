//! The coordinator's view of an agent.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_engine::{Event as EngineEvent, InFlightReading, Mirror, Part};
use plimsoll_frames::{Account, Received, WorkerWindow};
use plimsoll_machine::ThreadReading;
use plimsoll_pace::Takeover;
use plimsoll_plan::Plan;
use plimsoll_run::{AgentLoss, AgentReading};
use plimsoll_samples::Window;
use plimsoll_units::Moment;

use crate::assignment::Assignment;
use crate::clocks::ClockComparison;
use crate::messages::{Report, State, TakeoverPart, command_subject, report_subject};
use crate::regions::Regions;

/// If an agent has more workers than this, the others count as one.
const MAX_WORKERS: u32 = 1_024;

/// An agent that was found.
#[derive(Clone, Debug)]
pub struct Found {
    pub id: String,
    pub epoch: u64,
    pub name: String,
    pub version: String,
    pub region: Option<String>,
    /// The run in which it takes part.
    pub run: Option<String>,
    /// The maximum number of users that it accepts.
    pub max_users: Option<u32>,
}

impl Found {
    /// The agent that sent this report, if the report identifies it.
    pub fn of(subject: &str, bytes: &[u8]) -> Option<Found> {
        let Ok(Report::Here(here)) = serde_json::from_slice(bytes) else {
            return None;
        };
        let id = subject.rsplit('.').next().unwrap_or_default();
        let epoch = u64::from_str_radix(id, 16).ok()?;
        (report_subject(id) == subject).then(|| Found {
            id: id.to_owned(),
            epoch,
            name: here.name,
            version: here.version,
            region: here.region,
            run: here.run,
            max_users: here.max_users,
        })
    }
}

/// An agent to which a part of the run was assigned.
pub struct Peer {
    pub found: Found,
    pub assignment: Assignment,
    pub commands: String,
    pub reports: String,
    pub account: Account,
    pub clocks: ClockComparison,
    /// Its latest state. `None` before the first report.
    pub state: Option<State>,
    pub heard: Moment,
    /// When the latest request to compare clocks was sent.
    pub pinged: Moment,
    /// The processor time of its workers.
    pub cpu: Duration,
    /// Why it was lost.
    pub lost: Option<String>,
    /// The end of its latest results when it was lost, if scenarios had started.
    pub lost_at: Option<Duration>,
    /// When its part ended, if known.
    pub ended: Option<Moment>,
    /// Its part of the plan.
    pub plan: Plan,
    /// The iterations of each of its scenarios, including those that it takes over.
    pub parts: Vec<Vec<Takeover>>,
    /// The iterations that it takes over, in the form that messages contain.
    pub takeovers: Vec<TakeoverPart>,
    /// The indices of its scenarios in the whole plan.
    scenarios: Vec<usize>,
    /// The indices of its workers in the whole run.
    workers: BTreeMap<u32, usize>,
}

impl Peer {
    /// Sets its part of the plan. `places` contains the indices of its scenarios in the whole plan.
    pub fn new(
        found: Found,
        assignment: Assignment,
        account: Account,
        plan: Plan,
        scenarios: Vec<usize>,
    ) -> Peer {
        let own = plan.scenarios.iter();
        let own = own.map(|scenario| vec![Takeover::all(scenario.stripe.clone())]);
        Peer {
            parts: own.collect(),
            plan,
            takeovers: Vec::new(),
            ended: None,
            commands: command_subject(&found.id),
            reports: report_subject(&found.id),
            found,
            assignment,
            account,
            clocks: ClockComparison::default(),
            state: None,
            heard: plimsoll_clock::now(),
            pinged: plimsoll_clock::now(),
            cpu: Duration::ZERO,
            lost: None,
            lost_at: None,
            scenarios,
            workers: BTreeMap::new(),
        }
    }

    /// The peer's number and name.
    pub fn title(&self) -> String {
        format!("agent {} ({})", self.assignment.agent, self.found.name)
    }

    /// The reading of the agent, for views of the run.
    pub fn reading(&self) -> AgentReading {
        let state = self.state.as_ref().filter(|_| !self.is_lost());
        AgentReading {
            name: self.found.name.clone(),
            region: self.found.region.clone(),
            workers: self.workers.values().copied().collect(),
            users: state.map_or(0, |state| state.users),
            lost: self.lost.as_ref().map(|why| AgentLoss {
                why: why.clone(),
                at: self.lost_at,
                moved_at: self.account.moved().map(|moved| moved.at),
            }),
        }
    }

    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Whether no more messages are expected from it.
    pub fn is_over(&self) -> bool {
        self.is_lost() || self.account.end().is_some()
    }

    /// Whether its state has this property. A lost agent has every property, because nobody waits for it.
    pub fn has(&self, property: impl Fn(&State) -> bool) -> bool {
        self.is_lost() || self.state.as_ref().is_some_and(property)
    }

    /// Adds a frame to the account, and passes on the results that became complete. `workers` is the number of workers
    /// of all agents so far.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        start: Moment,
        mirror: &Mirror,
        workers: &mut usize,
        regions: &mut Regions,
    ) {
        for received in self.account.receive(bytes, start) {
            let (frame, samples) = match received {
                Received::Windows(frame, samples) => (frame, samples),
                Received::Records(records) => {
                    mirror.send(EngineEvent::Records(records));
                    continue;
                }
            };
            let counts = &frame.counts;
            mirror.add_iterations(counts.completed, counts.interrupted, counts.threw);
            for (place, counted) in self.scenarios.iter().zip(&counts.scenarios) {
                mirror.add_to_scenario(*place, counted.started, counted.completed, counted.dropped);
            }
            for (about, window) in frame.windows.into_iter().zip(samples) {
                regions.add(self.found.region.as_deref(), &window);
                let cpu = about.thread.as_ref().map(|thread| thread.cpu);
                self.cpu = self.cpu.saturating_add(cpu.unwrap_or_default());
                // If this fails, nothing follows the run.
                let worker = self.worker(about.worker, workers);
                mirror.send(event(worker, about, window, start));
            }
        }
    }

    /// The index of one of its workers in the whole run. Workers get their index when they first appear, because an
    /// agent with few users has fewer workers than processors.
    fn worker(&mut self, own: u32, workers: &mut usize) -> usize {
        let own = own.min(MAX_WORKERS);
        *self.workers.entry(own).or_insert_with(|| {
            *workers += 1;
            *workers - 1
        })
    }
}

fn event(worker: usize, about: WorkerWindow, window: Window, start: Moment) -> EngineEvent {
    EngineEvent::Window {
        worker,
        window,
        part: match about.part {
            0 => Part::SetUp,
            1 => Part::Scenarios,
            _ => Part::TearDown,
        },
        taken: at(start, about.taken),
        in_flight: InFlightReading {
            from: at(start, about.span.0),
            until: at(start, about.span.1),
            total: about.in_flight,
            interrupted: about.interrupted,
        },
        thread: about.thread.map(|thread| ThreadReading {
            span: thread.span,
            cpu: thread.cpu,
            run_queue_wait: thread.waited,
            lateness: thread.lateness,
        }),
    }
}

/// The moment this many nanoseconds after the start.
fn at(start: Moment, nanos: i64) -> Moment {
    let sum = i128::from(start.as_nanos()) + i128::from(nanos);
    Moment::from_nanos(u64::try_from(sum.max(0)).unwrap_or(u64::MAX))
}
