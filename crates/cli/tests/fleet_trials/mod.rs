//! Runs of a fleet with injected faults.

pub mod relay;
pub mod trial;
