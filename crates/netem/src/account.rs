//! The statistics of a relay, including its lateness: in total, and since the last report.

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
    /// Failures to accept a TCP connection, for example when no file descriptor is free. Such
    /// connections waited longer.
    pub accept_failures: Cell<u64>,
    /// Pairs of addresses between which UDP packets were sent.
    pub sessions: Cell<u64>,
    pub forward: Direction,
    pub backward: Direction,
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Forward,
    Backward,
}

/// The statistics of one direction.
#[derive(Debug, Default)]
pub struct Direction {
    pieces: Cell<u64>,
    bytes: Cell<u64>,
    lost: Cell<u64>,
    crowded_out: Cell<u64>,
    held_back: Cell<u64>,
    /// Lateness since the last report, in µs.
    late: RefCell<Histogram>,
    /// Lateness before the last report.
    earlier: RefCell<Histogram>,
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

    /// Records that the kernel accepted a whole piece after the receiver had delayed its connection.
    /// That delay does not count as lateness of the relay.
    pub fn passed_after_receiver(&self) {
        self.pieces.set(self.pieces.get() + 1);
        self.held_back.set(self.held_back.get() + 1);
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
        let mut late = self.earlier.borrow().clone();
        late.merge(&self.late.borrow());
        json!({
            "pieces": self.pieces.get(),
            "bytes": self.bytes.get(),
            "lost": self.lost.get(),
            "crowded_out": self.crowded_out.get(),
            "held_back": self.held_back.get(),
            "late_us": quantiles(&late),
        })
    }

    /// The lateness since the last call.
    fn take(&self) -> Value {
        let recent = self.late.take();
        let report = json!({ "pieces": recent.count(), "late_us": quantiles(&recent) });
        self.earlier.borrow_mut().merge(&recent);
        report
    }
}

fn quantiles(late: &Histogram) -> Value {
    let at = |q: f64| {
        if late.is_empty() {
            Value::Null
        } else {
            json!((late.quantile(q) * 10.0).round() / 10.0)
        }
    };
    json!({ "p50": at(0.5), "p99": at(0.99), "max": at(1.0) })
}

impl Account {
    /// All statistics as one JSON object. `late_us` is the time in microseconds from when a piece was
    /// due until it was written to the kernel.
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

    /// The lateness in both directions since the last call, as one JSON object. Pieces that a receiver
    /// delayed are not included.
    pub fn since_last_report(&self) -> Value {
        json!({ "forward": self.forward.take(), "backward": self.backward.take() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_report_covers_the_time_since_the_last_and_the_final_one_covers_all() {
        let account = Account::default();
        account.forward.passed(Duration::from_millis(3));
        let first = account.since_last_report();
        assert_eq!(first["forward"]["pieces"], 1);
        assert_eq!(first["backward"]["late_us"]["max"], Value::Null);
        account.forward.passed(Duration::from_millis(1));
        account.forward.passed_after_receiver();
        let second = account.since_last_report();
        assert_eq!(second["forward"]["pieces"], 1);
        assert!(second["forward"]["late_us"]["max"].as_f64() < Some(1_100.0));
        let all = account.report();
        assert_eq!(all["forward"]["pieces"], 3);
        assert_eq!(all["forward"]["held_back"], 1);
        assert!(all["forward"]["late_us"]["max"].as_f64() > Some(2_900.0));
    }
}
