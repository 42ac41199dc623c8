use std::cell::Cell;

/// Bytes that passed through sockets, including TLS records and handshakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes that the kernel accepted from this process.
    pub sent: u64,
    /// Bytes that the kernel delivered to this process.
    pub received: u64,
}

/// Counts the traffic of one user; all streams of the user share it.
#[derive(Debug, Default)]
pub struct TrafficCounter {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl TrafficCounter {
    pub(crate) fn add_sent(&self, bytes: usize) {
        self.sent.set(self.sent.get().wrapping_add(bytes as u64));
    }

    pub(crate) fn add_received(&self, bytes: usize) {
        self.received
            .set(self.received.get().wrapping_add(bytes as u64));
    }

    /// Adds the traffic of a protocol that uses its own sockets.
    pub fn add(&self, more: Traffic) {
        self.sent.set(self.sent.get().wrapping_add(more.sent));
        self.received
            .set(self.received.get().wrapping_add(more.received));
    }

    /// The traffic since the last call.
    pub fn take(&self) -> Traffic {
        Traffic {
            sent: self.sent.take(),
            received: self.received.take(),
        }
    }

    /// The traffic since the last [`TrafficCounter::take`], without resetting it.
    pub fn peek(&self) -> Traffic {
        Traffic {
            sent: self.sent.get(),
            received: self.received.get(),
        }
    }
}
