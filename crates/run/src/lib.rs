//! A run as a library call: a typed request in, events during the run, an outcome at its end.
//!
//! ```text
//! Request ─► Run::start ─► engine ─► workers
//!                │                      │ windows, through a channel
//!                ▼                      ▼
//!            Run::finish: the supervisor's thread ─► Event ─► every Listener
//!                │
//!                ▼ verdict
//!             Outcome
//! ```
//!
//! * A caller makes all decisions and fills in a [`Request`]. Scripts are loaded first, by
//!   [`prepare`], which also layers their options.
//! * [`Run::start`] opens outputs and the record and starts the engine. [`Run::finish`] follows the
//!   run on the calling thread, and sends events to each [`Listener`].
//! * Listeners cannot delay a request: they run on the supervisor's thread, and [`Queued`] gives one
//!   that may block a thread of its own behind a bounded queue.
//! * The [`Outcome`] has the summary, the verdict, why the run ended, which thresholds were crossed,
//!   and what could not be written. Nothing is printed here.

mod amount;
mod at_rate;
mod attack;
pub mod child;
mod event;
mod grpc;
mod live_view;
mod metrics_page;
mod modules;
mod outcome;
mod outputs;
mod place;
mod prepare;
mod progress;
mod progress_view;
mod queued;
mod record_figures;
mod record_of_script;
mod record_seconds;
mod recording;
mod request;
mod results_file;
mod script_input;
pub mod settings;
mod start;
mod supervisor;

pub use amount::{Amount, Flag, parse_duration, rate_in_record};
pub use attack::{Attack, TargetList};
pub use event::{Event, Finished, Judged, Listener, WorkerWindow};
pub use grpc::{Grpc, SchemaSource};
pub use live_view::LiveTitle;
pub use outcome::{Ending, Outcome, Refusal, RefusalKind, THROWN};
pub use outputs::Outputs;
pub use place::Place;
pub use prepare::{AtRate, Prepared, ScriptRequest, prepare};
pub use progress::{Phase, Progress};
pub use progress_view::Extent;
pub use queued::Queued;
pub use request::{Http, Load, Model, RecordRequest, Request, Script};
pub use results_file::Destination;
pub use script_input::SourceKind;
pub use start::{Control, Run};

/// Follows a run to its end.
///
/// # Errors
/// If it cannot start.
pub fn run<'a>(
    request: Request,
    listeners: Vec<Box<dyn Listener + 'a>>,
) -> Result<Outcome, Refusal> {
    Ok(Run::start(request, listeners)?.finish())
}
