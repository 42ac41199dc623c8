//! The results of an attack. A *hit* is one request of a target list and its outcome.
//!
//! [`Results`] reads hits in vegeta's JSON and CSV and in our own compact format, which [`batch`] writes. [`json`] and
//! [`csv`] write vegeta's formats, byte for byte. [`Metrics`] aggregates hits, [`reports`] prints vegeta's reports,
//! [`Exposition`] exposes metrics to Prometheus, and [`plot`] draws plots. None of them does I/O. [`tasks`] reads files
//! and uses all of them.

pub mod batch;
pub mod buckets;
pub mod csv;
mod date;
mod digest;
mod exposition;
mod hit;
pub mod json;
mod metrics;
pub mod plot;
pub mod reports;
mod results;
mod table;
pub mod tasks;
mod unbatch;

pub use buckets::Buckets;
pub use date::Date;
pub use exposition::Exposition;
pub use hit::{Headers, Hit};
pub use metrics::Metrics;
pub use results::{ReadError, Results};
