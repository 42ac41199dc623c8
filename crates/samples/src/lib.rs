//! Samples: from a worker's exchange to a run's figures.
//!
//! A [`Registry`] names the metrics; a [`Watch`] says which tags and
//! sub-metrics a run asks for. Each worker thread has a [`Recorder`] and adds
//! facts to it: an HTTP exchange, a check, a value of a script's own metric.
//! Once a second the recorder hands over a [`Window`], and the main thread adds
//! it to the [`Totals`], which judge thresholds and make the [`Summary`].
//!
//! This is the one place that knows what `http_req_duration` is. Nothing here
//! prints, waits or reads a clock.

mod bins;
pub mod builtin;
mod call;
mod checks;
mod exchange;
mod exchange_log;
mod kind;
mod outgoing;
mod record;
mod recorder;
mod registry;
mod roster;
mod second;
mod series;
mod sink;
mod sinks;
mod stretch;
mod summary;
mod summing;
mod system_tags;
mod tags;
mod tally;
mod thresholds;
mod totals;
mod watch;
mod window;
mod work;

pub use call::CallFacts;
pub use exchange::{GRPC_STATUS, HttpFacts, Phases, mask_userinfo};
pub use kind::{Contains, Kind};
pub use record::{SampleRecord, SampleTags};
pub use recorder::{AddError, Recorder};
pub use registry::{Metric, MetricId, RegisterError, Registry};
pub use second::{RunClock, RunSecond, counted_at};
pub use stretch::Stretch;
pub use summary::{
    Check, CheckTotal, ErrorCount, Group, GroupPart, HttpOverview, LeftOut, MetricSummary,
    ScenarioPart, Summary, ThresholdOutcome, Values, WEBSOCKET,
};
pub use system_tags::{SystemTag, SystemTags};
pub use tags::{BaseTags, Metadata, TagMap};
pub use thresholds::{JudgedThreshold, Stage, ThresholdReport};
pub use totals::Totals;
pub use watch::{Watch, WatchSettings};
pub use window::{SecondPart, Window};
pub use work::{Loops, ScenarioWork, Share, Work, WorkDone};
