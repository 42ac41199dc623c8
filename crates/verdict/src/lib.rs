//! Judges whether a run's figures can be trusted: evidence in, verdict out.
//!
//! [`Evidence`] collects what the generator observed about itself, its machine, the service and the
//! clock. During a run, [`Evidence::add`] adds the measurements of worker threads; at its end,
//! [`Evidence::complete`] adds the run's figures. [`Evidence::judge`] returns the [`Verdict`] at
//! any time. `docs/verdict.md` lists every reason with its threshold, cause and source.

mod arrivals;
mod clock;
mod complete;
mod evidence;
mod likely_cause;
mod machine;
mod main_failure;
mod responses;
mod script;
mod sent_arrivals;
mod service;
mod service_times;
mod verdict;

pub use complete::RunFigures;
pub use evidence::{BUSY_WORKER, Evidence};
pub use likely_cause::{main_failure, with_hint};
pub use main_failure::MainFailure;
pub use sent_arrivals::{ArrivalGap, Arrivals, Requested};
pub use service::{IN_TRANSIT, SATURATED};
pub use service_times::ServiceTimes;
pub use verdict::{Cause, Level, Reason, Verdict};
