//! The way between two places, imitated: a relay that delays and paces what it passes on.
//!
//! A [`Link`] says what the way is like. [`line`] turns that into the moment at which each piece arrives, without a
//! clock or a socket, so that it is tested in no time. [`tcp`] and [`udp`] pass real traffic on by it, and [`account`]
//! keeps how late pieces left in truth, since a relay that is itself late imitates another distance than it says.
//!
//! What a relay above the kernel cannot imitate: it accepts a TCP connection at once, so the client sees a connect
//! without a round trip. The relay adds the handshake's round trip before the first byte enters the line, so the time
//! from connecting to the first response is right, but not its parts. [`netem`] has the kernel do it, where it can.
//!
//! Bytes are dated by the kernel when they arrive (see [`arrival`]). What the relay itself takes to read them, as in a
//! burst of new connections, is part of the delay it adds, as long as that delay is the longer of the two.

pub mod account;
mod arrival;
mod deliveries;
pub mod line;
pub mod netem;
mod queue;
mod schedule;
pub mod tcp;
pub mod udp;

use std::time::Duration;

use plimsoll_units::BitRate;

/// What the way between two places is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// There and back, without what the rate adds. Half of it is added to each direction.
    pub round_trip: Duration,
    /// How far the round trip strays, evenly to both sides; at most the round trip itself.
    pub jitter: Duration,
    /// What each direction carries; all connections share it. None is no limit.
    pub rate: Option<BitRate>,
    /// The share of packets that are lost, 0 to 1.
    pub loss: f64,
}

impl Link {
    /// # Errors
    /// One sentence about what cannot be.
    pub fn check(&self) -> Result<(), String> {
        if self.jitter > self.round_trip {
            return Err(
                "the jitter is longer than the round trip, which would be negative at times"
                    .to_owned(),
            );
        }
        if !(0.0..1.0).contains(&self.loss) {
            return Err(
                "the loss must be 0 or more and below 1 (100 %), or nothing would ever arrive"
                    .to_owned(),
            );
        }
        if self.round_trip > LONGEST {
            return Err("the round trip is longer than ten minutes".to_owned());
        }
        Ok(())
    }
}

/// No way on Earth is longer, and what is under way is kept in memory.
const LONGEST: Duration = Duration::from_secs(600);
