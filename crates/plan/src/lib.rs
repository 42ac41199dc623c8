//! What a run shall do: options, scenarios, thresholds — valid by
//! construction.
//!
//! The way of an option: [`Options::from_json`] reads what a script exports
//! or a config file holds, [`Options::from_env`] the `K6_*` variables, the
//! command line fills the fields itself; [`consolidate`] lays the layers over
//! each other; [`Plan::build`] turns the result into scenarios and thresholds
//! that need no further checking, or into *all* that is wrong with it at once.
//!
//! Names and meanings are k6's. Nothing here reads a clock, a socket or the
//! environment.

mod build;
mod dns;
mod error;
mod executor;
mod hosts;
mod layers;
mod options;
mod requirements;
mod scenario;
mod segment;
mod shortcuts;
mod slots;
mod stage;
mod stripe;
pub mod threshold;
mod tls;

pub use build::{Exports, Plan};
pub use dns::{DnsOptions, DnsPolicy, DnsSelect, DnsTtl};
pub use error::{Errors, Fault, Warning};
pub use executor::{Executor, ExecutorKind, Rate, Stage};
pub use hosts::{HostAddress, HostPattern, Hosts, IpNetwork, IpPool};
pub use layers::{Layers, consolidate};
pub use options::{
    Figure, HttpDebug, Options, Protocol, SystemTag, SystemTags, TimeUnit, TrendStat, parse_tag,
    parse_trend_stats,
};
pub use requirements::Requirements;
pub use scenario::{Scenario, ScenarioOptions};
pub use segment::{Segment, SegmentSequence};
pub use stage::StageOption;
pub use stripe::{Division, Stripe};
pub use threshold::{Threshold, ThresholdOptions};
pub use tls::{CipherSuite, TlsAuth, TlsVersion, TlsVersions};
