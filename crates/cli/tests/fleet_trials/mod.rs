//! Runs of a fleet in which something goes wrong.

pub mod relay;
pub mod trial;
