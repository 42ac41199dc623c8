//! The results of a run that several agents share: what an agent sends, how the results are added
//! up, and the proof that nothing is missing.
//!
//! ```text
//! agent:       windows ─► Sender ─► frames, each with the hash of the one before
//!                                      │  any network: frames may be lost, repeated, reordered
//! coordinator: Account ◄───────────────┘
//!                │ the agent's windows in order, each once ─► totals of the run
//!                ▼
//!              judge ─► Proof: complete, degraded or invalid
//! ```
//!
//! * A [`Frame`] contains the samples and counts of one agent since its previous frame, or
//!   individual samples for outputs.
//! * An [`Account`] accepts the frames of one agent in order, each of them once, and keeps the totals.
//! * [`judge`] checks three properties. Conservation: scheduled iterations = started + dropped +
//!   cut. Exactness: the agent's own totals equal the totals of its frames, bucket by bucket. Chain:
//!   no frame is missing, and no two frames have the same number.
//!
//! This crate uses no network, no clock and no threads.

mod account;
mod counts;
mod frame;
mod ledger;
mod proof;
mod sender;

pub use account::{Account, MorePlanned, Moved, Planned, Received, ScheduledBy};
pub use counts::{Counts, ScenarioCounts};
pub use frame::{
    Content, Digest, End, Frame, Grade, RunId, ThreadHealth, WindowFrame, WorkerWindow, seal,
};
pub use ledger::{Fault, Ledger, Receipt};
pub use proof::{Completeness, Lost, Missing, Policy, Proof, judge};
pub use sender::Sender;
