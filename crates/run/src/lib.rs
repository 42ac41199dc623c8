//! A run as a library call: a typed request in, events during the run, an outcome at the end.
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
//! * The caller makes all decisions and fills in a [`Request`]. It loads a script first with [`prepare`], which also
//!   merges the layers of options.
//! * [`Run::start`] opens outputs and the record, and starts the engine. [`Run::finish`] follows the run on the calling
//!   thread and sends events to each [`Listener`].
//! * Listeners cannot delay a request, because they run on the supervisor's thread. [`QueuedListener`] gives a listener that
//!   may block its own thread and a bounded queue.
//! * The [`Outcome`] contains the summary, the verdict, why the run ended, which thresholds were crossed, and which
//!   outputs failed. This crate prints nothing.

mod agents;
#[cfg(feature = "scripts")]
mod archives;
mod attack;
mod attack_options;
pub mod child;
#[cfg(feature = "scripts")]
mod config_file;
mod connection_options;
mod control;
#[cfg(feature = "scripts")]
mod end_summary;
mod event;
#[cfg(feature = "scripts")]
mod features;
mod grpc;
mod grpc_options;
mod http_options;
mod load_options;
#[cfg(feature = "scripts")]
mod mask_json;
pub mod memory_limit;
mod metrics_page;
#[cfg(feature = "scripts")]
mod modules;
mod no_response;
mod outcome;
#[cfg(feature = "scripts")]
mod output_choice;
mod output_request;
#[cfg(feature = "scripts")]
mod outputs;
mod part_files;
mod place;
mod precision_goal;
#[cfg(feature = "scripts")]
mod prepare;
mod progress;
mod progress_view;
mod queued;
#[cfg(feature = "scripts")]
mod rate_override;
mod record_figures;
#[cfg(feature = "scripts")]
mod record_of_script;
mod record_options;
mod record_seconds;
mod recording;
mod remote;
mod request;
mod resolved;
mod results_file;
#[cfg(feature = "scripts")]
pub mod script_files;
#[cfg(feature = "scripts")]
mod script_input;
#[cfg(feature = "scripts")]
mod script_options;
mod sent_arrivals;
pub mod settings;
mod start;
mod summary_files;
mod supervisor;
mod tls_files;

pub use agents::{AgentLoss, AgentReading, Agents, agent_marks};
pub use attack::{Attack, TargetList};
pub use attack_options::AttackOptions;
#[cfg(feature = "scripts")]
pub use config_file::ConfigFile;
pub use connection_options::ConnectionOptions;
pub use control::{Control, ControlReading};
#[cfg(feature = "scripts")]
pub use end_summary::{EndSummary, Screen, SummaryMode, parse_bool};
pub use event::{Event, Judgment, Listener, ListenerReport, WorkerWindow};
#[cfg(feature = "scripts")]
pub use features::Features;
pub use grpc::{Grpc, SchemaSource};
pub use grpc_options::{GrpcOptions, SchemaOptions};
pub use http_options::HttpOptions;
pub use load_options::{Connections, LoadOptions};
pub use no_response::NoResponse;
pub use outcome::{Ending, Explanation, Outcome, Refusal, RefusalKind};
#[cfg(feature = "scripts")]
pub use output_choice::{OutputChoice, OutputChoices};
pub use output_request::OutputRequest;
#[cfg(feature = "scripts")]
pub use outputs::Outputs;
#[cfg(feature = "scripts")]
pub use part_files::files_of_flags;
pub use part_files::{FileSet, collect_files, with_files};
pub use place::Place;
#[cfg(feature = "scripts")]
pub use plimsoll_k6::user::Interrupted;
#[cfg(feature = "scripts")]
pub use plimsoll_script::{HandledSummary, ScriptError, SummaryOutput};
pub use precision_goal::{PreciseFigure, PrecisionGoal};
#[cfg(feature = "scripts")]
pub use prepare::{PreparedScript, ScriptLog, ScriptRequest, prepare};
pub use progress::{Phase, Progress};
pub use progress_view::Extent;
pub use queued::QueuedListener;
#[cfg(feature = "scripts")]
pub use rate_override::RateOverride;
pub use record_options::RecordOptions;
pub use remote::{Conclusion, RemoteStart, RemoteWorkers, Workers};
#[cfg(feature = "scripts")]
pub use request::Script;
pub use request::{Http, Load, Model, RecordRequest, Request};
pub use resolved::ResolvedLoad;
pub use results_file::Destination;
#[cfg(feature = "scripts")]
pub use script_input::SourceKind;
#[cfg(feature = "scripts")]
pub use script_options::{ScriptOptions, compatibility_mode, needed_json, options_of_flags};
pub use settings::allow_only_hosts;
pub use start::Run;
pub use summary_files::ExportFile;
#[cfg(feature = "scripts")]
pub use summary_files::write_outputs;
pub use tls_files::TlsFiles;

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
