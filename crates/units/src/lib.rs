//! Types for quantities that crates exchange: moments, durations, byte counts.
//!
//! A bare `f64` shows neither its unit nor its origin, so values that cross crates have types: a
//! [`Moment`] on the monotonic timeline of the process, a `std::time::Duration` that is parsed and
//! formatted as in k6 ([`duration`]), a number of [`Bytes`], a calendar date ([`date_time`]).
//! [`nearest`] finds the name that a user probably meant, and [`named_values!`] assigns names to
//! the variants of an enum.
//!
//! This crate uses no clock, no sockets and no environment variables.

mod bit_rate;
pub mod boolean;
mod bytes;
mod calendar;
mod digits;
pub mod duration;
mod grpc_code;
mod moment;
mod names;
mod nearest;
pub mod percent;

pub use bit_rate::BitRate;
pub use bytes::Bytes;
pub use calendar::{UtcOffset, date_time, days_since_1970};
pub use digits::three_digits;
pub use grpc_code::GRPC_CODES;
pub use moment::Moment;
pub use names::{UnknownName, excerpt};
pub use nearest::nearest;
