//! A run with all its settings.

#[cfg(feature = "scripts")]
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{Division, Plan, Scenario};
use plimsoll_results::objective::Objective;
use plimsoll_scriptless::Connections;
use serde_json::Value;

use crate::attack::Attack;
use crate::grpc::Grpc;
use crate::output_request::OutputRequest;
use crate::place::Place;
use crate::precision_goal::PrecisionGoal;
#[cfg(feature = "scripts")]
use crate::prepare::PreparedScript;

/// The load, the number of threads, and the results to write.
pub struct Request {
    pub load: Load,
    /// The number of worker threads.
    pub threads: usize,
    /// The outputs that receive all samples.
    pub outputs: OutputRequest,
    /// The record of the run, if requested.
    pub record: Option<RecordRequest>,
    /// How much of the start the verdict leaves out, in whole seconds.
    pub warm_up: Duration,
    /// The precision at which the run ends early, if requested.
    pub until: Option<PrecisionGoal>,
}

pub struct RecordRequest {
    pub place: Place,
    /// Whether to read the record at the end, for the outcome.
    pub is_read: bool,
    /// See [`Request::warm_up`].
    pub warm_up: Duration,
    /// Objectives, which the record contains as thresholds.
    pub objectives: Vec<Objective>,
    /// A short description of the run for readers.
    pub title: String,
    /// The settings for the header. For a script, only those that are neither options nor files.
    pub configuration: Value,
    /// The command line.
    pub command: Vec<String>,
}

/// The load of a run.
pub enum Load {
    #[cfg(feature = "scripts")]
    Script(Box<Script>),
    Http(Box<Http>),
    Grpc(Box<Grpc>),
    Attack(Box<Attack>),
}

impl Load {
    /// Reads files now that would otherwise be read at the start of the run.
    ///
    /// # Errors
    /// If one of them is invalid.
    pub fn read_files(&self) -> Result<(), String> {
        match self {
            Load::Grpc(grpc) => grpc.read_files(),
            _ => Ok(()),
        }
    }

    /// Reduces a load without a script to a part of it: users, requests and connections. Returns the number of worker
    /// threads to use, given the available number.
    ///
    /// # Errors
    /// If the load cannot be divided in this way.
    pub fn take_part(&mut self, division: &Division, threads: usize) -> Result<usize, String> {
        let scenario = match self {
            #[cfg(feature = "scripts")]
            Load::Script(_) => return Err("a script is divided by its options".to_owned()),
            Load::Http(http) => &mut http.scenario,
            Load::Grpc(grpc) => &mut grpc.scenario,
            Load::Attack(attack) => &mut attack.scenario,
        };
        let whole = scenario.planned_users();
        *scenario = scenario.part(division);
        let users = scenario.planned_users();
        match self {
            Load::Http(http) => {
                let each = http.users_per_connection;
                if !users.is_multiple_of(each) {
                    return Err(format!(
                        "{whole} users with {each} on each connection cannot be divided evenly: an agent would get {users} of them; change --users"
                    ));
                }
            }
            Load::Grpc(grpc) => {
                if let Connections::Shared {
                    connections,
                    workers,
                } = &mut grpc.call.connections
                {
                    let most = u64::from(*connections);
                    let share = most * u64::from(users);
                    if share % u64::from(whole.max(1)) != 0 || share == 0 && users > 0 {
                        return Err(format!(
                            "{most} connections cannot be divided evenly among the agents: use a multiple of their number"
                        ));
                    }
                    // A share is never larger than the whole, so the conversion cannot fail.
                    *connections = (share / u64::from(whole.max(1))) as u32;
                    // A connection belongs to one thread.
                    let threads = threads.min((*connections).max(1) as usize);
                    *workers = u32::try_from(threads).unwrap_or(u32::MAX);
                    return Ok(threads);
                }
            }
            Load::Attack(attack) if attack.http.connections_per_host.is_some() => {
                return Err(
                    "-max-connections does not work with a fleet: each agent would have as many"
                        .to_owned(),
                );
            }
            _ => {}
        }
        Ok(threads)
    }

    /// The only scenario of a load without a script.
    pub fn scenario(&self) -> Option<&Scenario> {
        match self {
            #[cfg(feature = "scripts")]
            Load::Script(_) => None,
            Load::Http(http) => Some(&http.scenario),
            Load::Grpc(grpc) => Some(&grpc.scenario),
            Load::Attack(attack) => Some(&attack.scenario),
        }
    }
}

/// A k6 script, loaded and planned.
#[cfg(feature = "scripts")]
pub struct Script {
    pub prepared: Arc<PreparedScript>,
    /// Whether to judge thresholds.
    pub thresholds: bool,
    /// Whether to show results by group and scenario.
    pub breakdown: bool,
}

/// One HTTP request that is repeated.
pub struct Http {
    pub request: plimsoll_scriptless::RequestSpec,
    pub settings: plimsoll_http::Settings,
    pub scenario: Scenario,
    pub users_per_connection: u32,
    /// Whether connections are opened before the first request.
    pub connects_before_start: bool,
}

/// What determines when a request starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A schedule.
    Open,
    /// The end of the previous response.
    Closed,
    /// The end of the previous response, until an amount of work is done.
    Work,
}

impl Model {
    /// The model of a plan. It is open if any scenario is, because the times of that scenario follow a schedule.
    pub fn of(plan: &Plan) -> Model {
        use plimsoll_plan::Executor as E;
        let any = |wanted: fn(&E) -> bool| {
            let mut scenarios = plan.scenarios.iter();
            scenarios.any(|scenario| wanted(&scenario.executor))
        };
        if any(E::is_open) {
            Model::Open
        } else if any(|executor| {
            matches!(
                executor,
                E::ConstantUsers { .. } | E::RampingUsers { .. } | E::ExternallyControlled { .. }
            )
        }) {
            Model::Closed
        } else {
            Model::Work
        }
    }

    /// The model's name in records.
    pub fn name(self) -> &'static str {
        match self {
            Model::Open => "open",
            Model::Closed => "closed",
            Model::Work => "work",
        }
    }
}
