//! Quantities that cross function borders: moments, durations, rates, bytes.
//!
//! Nothing here reads a clock, a socket or the environment.

mod moment;

pub use moment::Moment;
