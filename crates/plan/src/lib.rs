//! The plan of a run: options, scenarios, thresholds. A plan is always valid.
//!
//! Options are processed in this order: [`Options::from_json`] reads the options that a script exports or a config file
//! contains, [`Options::from_env`] reads the `K6_*` variables, and the command line sets the fields itself.
//! [`consolidate`] merges these layers. [`Plan::build`] turns the result into scenarios and thresholds that need no
//! further checks, or returns *all* errors.
//!
//! Names and meanings are those of k6. Nothing here reads a clock, a socket or the environment.

mod arrivals;
mod build;
mod dns;
mod error;
mod executor;
mod hosts;
mod layers;
mod option_value;
mod options;
mod rate;
mod requirements;
mod scenario;
mod segment;
mod shortcuts;
mod slots;
mod source_names;
mod stage;
mod stripe;
pub mod threshold;
mod tls;
mod trace;

pub use arrivals::{ARRIVAL_FORMS, ArrivalProcess, Arrivals};
pub use build::{Exports, Plan};
pub use dns::{DnsOptions, DnsTtl};
pub use error::{Errors, Fault, Warning};
pub use executor::{Executor, ExecutorKind, Rate, Stage};
pub use hosts::Hosts;
pub use layers::{Layers, consolidate};
pub use options::{
    Figure, GivenTimeUnit, HttpDebug, Options, Protocol, SystemTag, SystemTags, TimeUnit,
    TrendStat, parse_tag, parse_trend_stats,
};
pub use requirements::Requirements;
pub use scenario::{Scenario, ScenarioOptions};
pub use segment::{Segment, SegmentSequence};
pub use source_names::SourceNames;
pub use stage::StageOption;
pub use stripe::{Division, Stripe};
pub use threshold::{Threshold, ThresholdOptions};
pub use tls::{TlsAuth, TlsVersions};
pub use trace::Trace;
