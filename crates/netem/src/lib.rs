//! Emulates a network: a relay that delays and limits what it forwards.
//!
//! A [`Link`] describes the network. [`line`] computes from it when each piece arrives. It uses no
//! clock and no socket, so its tests take no time. [`tcp`] and [`udp`] relay real traffic
//! accordingly, and [`relay`] runs them. [`account`] records how late pieces left, because a late
//! relay emulates a longer delay than configured. [`priority`] keeps other programs from delaying
//! the relay.
//!
//! A relay in user space cannot delay a TCP connect: the kernel accepts the connection immediately,
//! so the client sees a connect without a round trip. The relay adds the handshake's round trip
//! before the first byte enters the line. So the time from connecting to the first response is
//! correct in total, but its parts are not. [`netem`] uses the kernel's own emulation instead, if it
//! is available, which also delays the connect.
//!
//! The kernel timestamps bytes when they arrive (see [`arrival`]), and delays count from then. The
//! time that the relay takes to read them, for example in a burst of new connections, does not add
//! to the delay unless it exceeds the delay.

pub mod account;
mod arrival;
mod deliveries;
mod ends;
pub mod line;
pub mod netem;
pub mod path;
pub mod priority;
mod queue;
pub mod relay;
mod schedule;
mod sockets;
pub mod tcp;
pub mod udp;
mod waiting;

use std::time::Duration;

use plimsoll_units::BitRate;

/// The properties of an emulated network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Round-trip time, without the transmission time that the rate adds. Each direction adds half of
    /// it.
    pub round_trip: Duration,
    /// Jitter (± around the round trip, uniformly distributed); at most the round trip itself.
    pub jitter: Duration,
    /// Bandwidth of each direction, shared by all connections; `None` means unlimited.
    pub rate: Option<BitRate>,
    /// Share of packets that are lost, from 0 to 1.
    pub loss: f64,
}

impl Link {
    /// Checks the settings.
    ///
    /// # Errors
    /// If a setting is invalid. The message is one sentence.
    pub fn check(&self) -> Result<(), String> {
        if self.jitter > self.round_trip {
            return Err(
                "the jitter is longer than the round trip, so a round trip could be negative"
                    .to_owned(),
            );
        }
        if !(0.0..1.0).contains(&self.loss) {
            return Err(
                "the loss must be 0 or more and below 1 (100 %), or nothing would ever arrive"
                    .to_owned(),
            );
        }
        if self.round_trip > MAX_ROUND_TRIP {
            return Err("the round trip is longer than ten minutes".to_owned());
        }
        Ok(())
    }

    /// The properties in one line.
    fn describe(&self) -> String {
        let time = plimsoll_units::duration::format;
        let mut text = format!("round trip {}", time(self.round_trip));
        if !self.jitter.is_zero() {
            text += &format!(" ±{}", time(self.jitter));
        }
        if let Some(rate) = self.rate {
            text += &format!(", {rate} in each direction");
        }
        if self.loss > 0.0 {
            text += &format!(", {}% lost", self.loss * 100.0);
        }
        text
    }
}

/// No network path on Earth has a longer round trip, and the relay keeps data in transit in memory.
const MAX_ROUND_TRIP: Duration = Duration::from_secs(600);
