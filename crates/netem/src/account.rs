//! The statistics of a relay, including how late it was.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use plimsoll_stats::Histogram;
use plimsoll_units::Bytes;
use serde_json::{Value, json};

/// The statistics of a running relay. Memory does not grow with traffic.
#[derive(Debug, Default)]
pub struct Account {
    /// TCP connections accepted.
    pub connections: Cell<u64>,
    /// TCP connections whose target could not be reached.
    pub unreachable: Cell<u64>,
    /// Failures to accept a TCP connection, for example without a free file descriptor; such connections waited
    /// longer.
    pub accept_failures: Cell<u64>,
    /// Pairs of addresses that have sent UDP packets.
    pub sessions: Cell<u64>,
    pub forward: Direction,
    pub backward: Direction,
}

/// The statistics of one direction.
#[derive(Debug, Default)]
pub struct Direction {
    pieces: Cell<u64>,
    bytes: Cell<u64>,
    lost: Cell<u64>,
    crowded_out: Cell<u64>,
    late: RefCell<Histogram>,
}

impl Direction {
    /// Records that the kernel accepted `size` bytes of a piece.
    pub fn wrote(&self, size: Bytes) {
        self.bytes.set(self.bytes.get() + size.get());
    }

    /// Records that the kernel accepted a whole piece, `late` after it was due.
    pub fn passed(&self, late: Duration) {
        self.pieces.set(self.pieces.get() + 1);
        self.late.borrow_mut().record(late.as_secs_f64() * 1e6);
    }

    /// Records a packet that was lost on purpose.
    pub fn lost(&self) {
        self.lost.set(self.lost.get() + 1);
    }

    /// Records a packet that was dropped because the line's buffer was full, as in a router.
    pub fn crowded_out(&self) {
        self.crowded_out.set(self.crowded_out.get() + 1);
    }

    fn report(&self) -> Value {
        let late = self.late.borrow();
        let at = |q: f64| {
            if late.is_empty() {
                Value::Null
            } else {
                json!((late.quantile(q) * 10.0).round() / 10.0)
            }
        };
        json!({
            "pieces": self.pieces.get(),
            "bytes": self.bytes.get(),
            "lost": self.lost.get(),
            "crowded_out": self.crowded_out.get(),
            "late_us": { "p50": at(0.5), "p99": at(0.99), "max": at(1.0) },
        })
    }
}

impl Account {
    /// All statistics as one JSON object. `late_us` is in microseconds, from when a piece was due to when it was
    /// written to the kernel.
    pub fn report(&self) -> Value {
        json!({
            "connections": self.connections.get(),
            "unreachable": self.unreachable.get(),
            "accept_failures": self.accept_failures.get(),
            "udp_sessions": self.sessions.get(),
            "forward": self.forward.report(),
            "backward": self.backward.report(),
        })
    }
}
