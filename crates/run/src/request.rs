//! A run, with everything decided.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_output::output::OutputSpec;
use plimsoll_output::output_csv::TimeFormat;
use plimsoll_plan::{Plan, Scenario};
use serde_json::Value;

use crate::attack::Attack;
use crate::grpc::Grpc;
use crate::place::Place;
use crate::prepare::Prepared;

/// What is run, on how many threads, and what is written down of it.
pub struct Request {
    pub load: Load,
    /// Worker threads.
    pub threads: usize,
    /// The record of the run, if it is to have one.
    pub record: Option<RecordRequest>,
}

/// A record that a run leaves.
pub struct RecordRequest {
    pub place: Place,
    /// How much of the start the verdict leaves out.
    pub warm_up: Duration,
    /// What was asked for, for the header. Of a script, what is neither an option of its own nor a
    /// file.
    pub configuration: Value,
    /// The command line that asked for it.
    pub command: Vec<String>,
}

/// Who sends what.
pub enum Load {
    Script(Box<Script>),
    Http(Box<Http>),
    Grpc(Box<Grpc>),
    Attack(Box<Attack>),
}

impl Load {
    /// The one scenario of a load without a script.
    pub fn scenario(&self) -> Option<&Scenario> {
        match self {
            Load::Script(_) => None,
            Load::Http(http) => Some(&http.scenario),
            Load::Grpc(grpc) => Some(&grpc.scenario),
            Load::Attack(attack) => Some(&attack.scenario),
        }
    }
}

/// A k6 script, loaded and planned.
pub struct Script {
    pub prepared: Arc<Prepared>,
    /// Judge thresholds.
    pub thresholds: bool,
    /// Break figures down by group and scenario.
    pub breakdown: bool,
    /// Where every sample goes.
    pub outputs: Vec<OutputSpec>,
    pub csv_time: TimeFormat,
    /// Opens stdout for outputs that want it.
    pub stdout: fn() -> Box<dyn Write + Send>,
}

/// One HTTP request, over and over.
pub struct Http {
    pub request: plimsoll_scriptless::RequestSpec,
    pub settings: plimsoll_http::Settings,
    pub scenario: Scenario,
    /// Users that share a connection.
    pub users_per_connection: u32,
    /// Connections are opened before the first request.
    pub opens_ahead: bool,
}

/// Who decides when requests start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A schedule.
    Open,
    /// The responses.
    Closed,
    /// The responses, until an amount of work is done.
    Work,
}

impl Model {
    /// The model of a plan; a single open scenario makes its times those of an open model.
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

    /// As records name it.
    pub fn name(self) -> &'static str {
        match self {
            Model::Open => "open",
            Model::Closed => "closed",
            Model::Work => "work",
        }
    }
}
