//! Runs one test on many machines: agents run parts of it, and the coordinator adds up their results.
//! NATS carries all messages, so agents only dial out.
//!
//! ```text
//! coordinator ─► plimsoll.command.all, plimsoll.command.ID ─► agent ID
//! coordinator ◄─ plimsoll.agent.ID                         ◄─ agent ID
//! ```
//!
//! * [`serve`] is an agent. It waits for runs, and runs its part of each.
//! * [`workers`] finds agents, or starts a server and agents on this machine. To the run they look like
//!   local workers ([`RemoteWorkers`](plimsoll_run::RemoteWorkers)).
//!
//! Both sides repeat their whole state several times a second, so a lost message does no harm.
//! Results are frames ([`plimsoll_frames`]), which an agent keeps until the coordinator has them.

mod agent;
mod assignment;
mod bus;
mod clocks;
mod conclusion;
mod coordinator;
mod fleet;
mod local;
mod messages;
mod part;
mod part_event;
mod peer;
mod random;
mod schedule;
mod uplink;
mod workers;

pub use agent::{AgentSettings, host_name, serve};
pub use bus::Server;
pub use local::PASSWORD;
pub use plimsoll_frames::Policy;
pub use workers::{FleetRequest, workers};
