//! Runs one test on many machines. Agents run parts of it, and the coordinator adds up their results. NATS carries all
//! messages, so agents only open outgoing connections.
//!
//! ```text
//! coordinator ─► plimsoll.command.all, plimsoll.command.ID ─► agent ID
//! coordinator ◄─ plimsoll.agent.ID                         ◄─ agent ID
//! ```
//!
//! * [`serve`] is an agent. It waits for runs, and executes its part of each.
//! * [`workers`] finds agents, or starts a server and agents on this machine. A run handles them like local workers
//!   ([`RemoteWorkers`](plimsoll_run::RemoteWorkers)).
//!
//! Both sides send their complete state several times per second, so a lost message does no harm. Results are frames
//! ([`plimsoll_frames`]), which an agent stores until the coordinator has them.

mod access;
mod agent;
mod agent_count;
mod assignment;
mod bus;
mod clocks;
mod conclusion;
mod coordinator;
mod fleet;
mod kubernetes;
mod limits;
mod load;
mod local;
mod messages;
mod part;
mod part_event;
mod peer;
mod place;
mod random;
mod recover;
mod regions;
mod schedule;
mod server;
mod spool;
mod ssh;
mod status;
mod takeovers;
mod uplink;
mod workers;

pub use access::{Access, PASSWORD, Role};
pub use agent::{AgentSettings, host_name, serve};
pub use agent_count::AgentCount;
pub use kubernetes::ClusterAgents;
pub use limits::Limits;
pub use load::{CommandLoad, FleetLoad, Resolve, ScriptLoad, words_for_agents};
pub use place::{Machines, Placement, manifests};
pub use plimsoll_frames::Policy;
pub use recover::{Recovered, RecoverySettings, kept_runs, recover};
pub use server::{ServeSettings, run as serve_messages};
pub use spool::folder as spool_folder;
pub use status::status;
pub use workers::{FleetRequest, workers};
