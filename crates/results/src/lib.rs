//! The files that runs and labs write: versioned documents, written and read here.
//!
//! A [`record`] is one run: its configuration and environment, one line for each second, and its
//! result. A [`lab`] result is a whole matrix of cells, each with the results of its repeats.
//! Within a version, keys are only added, never removed or given another meaning; times are in
//! milliseconds unless a key says otherwise.

pub mod compare;
pub mod differences;
pub mod distribution;
pub mod environment;
pub mod fail_on;
pub mod figures;
pub mod hash;
pub mod lab;
pub mod noise;
pub mod objective;
pub mod objectives;
pub mod record;
pub mod run_seed;
pub mod secrets;
pub mod store;
pub mod store_location;
pub mod warm_up;
