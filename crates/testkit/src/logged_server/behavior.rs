//! How a logged server responds to its requests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::log::Ledger;

/// The behavior of a server. It is the same for all its requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Behavior {
    /// Responds immediately.
    Prompt,
    /// Delays each response by this duration.
    Delay(Duration),
    /// Responds immediately, except during the last `length` of each period `every`.
    Stall { every: Duration, length: Duration },
    /// Responds to this many requests per second, one after another, no matter how many arrive.
    RateCap(u32),
    /// Responds to every n-th request with an error: 503, or UNAVAILABLE.
    Fail(u64),
    /// Closes the connection instead of responding to every n-th request.
    Drop(u64),
    /// Resets the connection (TCP RST; gRPC: the stream) instead of responding to every n-th request.
    Reset(u64),
    /// Resets the HTTP/2 stream of every n-th call with REFUSED_STREAM, which states that the server
    /// has not processed the call. Only on the port for gRPC. HTTP/1.1 has no streams, so there the
    /// connection is reset.
    RefuseStream(u64),
    /// Sends this many bytes. HTTP: with each response. Streaming gRPC calls: in messages before the
    /// first response; unary gRPC calls: none. WebSocket: in messages as soon as the connection is
    /// open.
    Flood(usize),
    /// Reads requests but never responds.
    Silent,
    /// Refuses connections.
    Refuse,
}

/// The response to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Respond,
    Fail,
    Drop,
    Reset,
    RefuseStream,
    Ignore,
}

/// A behavior and the state that all connections share.
pub(super) struct SharedBehavior {
    pub behavior: Behavior,
    pub ledger: Arc<Ledger>,
    /// When a server with a limited rate will be idle again.
    free: Mutex<Duration>,
}

impl SharedBehavior {
    pub fn new(behavior: Behavior, ledger: Arc<Ledger>) -> SharedBehavior {
        SharedBehavior {
            behavior,
            ledger,
            free: Mutex::default(),
        }
    }

    /// How long to wait before responding to request `number` (counted from 0), which has just arrived,
    /// and how to respond.
    pub fn decide(&self, number: usize) -> (Duration, Act) {
        let nth = |every: u64, act| {
            let is_nth = (number as u64 + 1).is_multiple_of(every.max(1));
            (Duration::ZERO, if is_nth { act } else { Act::Respond })
        };
        match self.behavior {
            Behavior::Prompt | Behavior::Flood(_) => (Duration::ZERO, Act::Respond),
            Behavior::Delay(delay) => (delay, Act::Respond),
            Behavior::Stall { every, length } => (self.stall(every, length), Act::Respond),
            Behavior::RateCap(rate) => (self.queue(rate), Act::Respond),
            Behavior::Fail(every) => nth(every, Act::Fail),
            Behavior::Drop(every) => nth(every, Act::Drop),
            Behavior::Reset(every) => nth(every, Act::Reset),
            Behavior::RefuseStream(every) => nth(every, Act::RefuseStream),
            Behavior::Silent | Behavior::Refuse => (Duration::ZERO, Act::Ignore),
        }
    }

    /// Number of bytes of each response's body.
    pub fn body_length(&self) -> usize {
        match self.behavior {
            Behavior::Flood(length) => length,
            _ => 2,
        }
    }

    fn stall(&self, every: Duration, length: Duration) -> Duration {
        let phase = self.ledger.now().as_nanos() % every.as_nanos().max(1);
        let open = every.saturating_sub(length).as_nanos();
        if phase < open {
            return Duration::ZERO;
        }
        Duration::from_nanos(u64::try_from(every.as_nanos() - phase).unwrap_or(0))
    }

    fn queue(&self, rate: u32) -> Duration {
        let now = self.ledger.now();
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = (*free).max(now) + Duration::from_secs(1) / rate.max(1);
        free.saturating_sub(now)
    }
}
