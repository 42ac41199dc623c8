//! The results of an attack, one a hit: a request of a target list and what
//! came of it.
//!
//! [`Results`] reads them in vegeta's JSON and CSV and in a compact format of
//! ours ([`batch`] writes it); [`json`] and [`csv`] write vegeta's two,
//! byte for byte. [`Metrics`] adds them up, [`reports`] prints what vegeta's
//! users know, [`Exposition`] tells Prometheus of them, and [`plot`] draws them. Pure: bytes in, bytes out.

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
mod unbatch;

pub use buckets::Buckets;
pub use date::Date;
pub use exposition::Exposition;
pub use hit::{Headers, Hit};
pub use metrics::Metrics;
pub use results::{ReadError, Results};
