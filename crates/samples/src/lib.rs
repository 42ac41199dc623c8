//! Samples: from a worker's exchange to a run's results.
//!
//! A [`Registry`] names the metrics, and a [`Watch`] lists the tags and sub-metrics that a run needs. Each worker
//! thread adds facts to its [`Recorder`]: an HTTP exchange, a check, a value of a script's own metric. Once per second,
//! the recorder returns a [`Window`]. The main thread adds it to the [`Totals`], which evaluate thresholds and create
//! the [`Summary`].
//!
//! Only this crate defines metrics such as `http_req_duration`. Nothing here prints, blocks or reads a clock.

mod base_tags;
mod bins;
pub mod builtin;
mod call;
mod checks;
mod condition_set;
mod cumulative;
mod exchange;
mod exchange_log;
mod kind;
mod mask;
mod metric_id;
mod names;
mod outgoing;
mod record;
mod record_wire;
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
mod window_wire;
pub mod wire;
mod work;

pub use base_tags::BaseTags;
pub use call::CallFacts;
pub use cumulative::{Cumulative, Figure};
pub use exchange::{GRPC_STATUS, HttpFacts, Phases, mask_userinfo};
pub use kind::{Contains, Kind};
pub use mask::{Mask, REDACTED};
pub use metric_id::MetricId;
pub use record::{SampleRecord, SampleTags};
pub use record_wire::encode_records;
pub use recorder::{AddError, Recorder};
pub use registry::{Metric, RegisterError, Registry};
pub use second::{RunClock, RunSecond, counted_at};
pub use stretch::Stretch;
pub use summary::{
    Check, CheckTotal, ErrorCount, Group, GroupPart, HttpOverview, LeftOut, MetricSummary,
    NamePart, NameParts, ScenarioPart, Summary, ThresholdOutcome, Values, WEBSOCKET,
};
pub use system_tags::{SystemTag, SystemTags};
pub use tags::{Metadata, TagMap};
pub use thresholds::{JudgedThreshold, Stage, ThresholdReport};
pub use totals::Totals;
pub use watch::{Watch, WatchSettings};
pub use window::{SecondPart, Window};
pub use window_wire::{WindowDecoder, WindowEncoder};
pub use work::{Loops, ScenarioWork, Share, Work, WorkDone};
