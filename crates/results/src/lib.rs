//! Reads and writes the versioned files that runs and labs produce.
//!
//! A [`record`] describes one run: its configuration and environment, one line per second, and its
//! result. A [`lab`] result describes a whole matrix of cells, each with the results of its
//! repeats. Within a schema version, keys are only added. They are never removed and never change
//! their meaning. Times are in milliseconds unless a key states otherwise.

pub mod change_text;
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
