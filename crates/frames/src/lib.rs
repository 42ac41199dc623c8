//! Results of a run that many agents share: what an agent sends, how it is added up, and the proof
//! that nothing is missing.
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
//! * A [`Frame`] has the samples and counts of one agent since its previous frame, or individual samples for outputs.
//! * An [`Account`] accepts the frames of one agent in order, each once, and keeps their sum.
//! * [`judge`] checks three things. Conservation: scheduled iterations = started + dropped + cut.
//!   Exactness: the agent's own sums equal, bucket by bucket, the sums of its frames. Chain: no
//!   frame is missing, and no two frames have the same place.
//!
//! There is no network, no clock and no thread here.

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
