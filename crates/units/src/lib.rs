//! Types for quantities that functions exchange: moments, durations, byte counts.
//!
//! A bare `f64` shows neither its unit nor its origin, so values that cross crates have types: a
//! [`Moment`] on the process's monotonic timeline, a `std::time::Duration` read and written as in
//! k6 ([`duration`]), a number of [`Bytes`], a date of the calendar ([`date_time`]). [`nearest`]
//! finds the name that was probably meant, and [`named_values!`] gives the variants of an enum
//! their names.
//!
//! Nothing here reads a clock, a socket or the environment.

mod bit_rate;
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
