//! Judges whether a run's figures can be trusted: evidence in, verdict out.
//!
//! [`Evidence`] collects what the generator saw of itself, its machine, the service and the clock.
//! During a run, [`Evidence::add`] takes the readings of worker threads; at its end,
//! [`Evidence::complete`] takes the run's figures. [`Evidence::judge`] gives the [`Verdict`] at any
//! time. `docs/verdict.md` lists every reason with its threshold, cause and source.

mod clock;
mod complete;
mod evidence;
mod likely_cause;
mod machine;
mod responses;
mod script;
mod service;
mod verdict;

pub use complete::RunFigures;
pub use evidence::Evidence;
pub use likely_cause::{main_failure, with_hint};
pub use responses::MainFailure;
pub use service::ServiceTimes;
pub use verdict::{Cause, Level, Reason, Verdict};
