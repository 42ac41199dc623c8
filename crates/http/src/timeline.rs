//! Timestamps of an exchange, and the phases between them.

use std::time::Duration;

use plimsoll_units::Moment;

/// The timestamps of one exchange. They never decrease: each recorded time is clamped between its
/// neighbors. So every phase is at least zero, and the phases sum to the total. A step that did not
/// take place repeats the previous timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    started: Moment,
    slot: Moment,
    looked_up: Moment,
    connected: Moment,
    secured: Moment,
    sent: Moment,
    first_byte: Moment,
    done: Moment,
}

/// The durations between neighboring timestamps of a [`Timeline`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Wait for a free connection slot or for the rate limit.
    pub queued: Duration,
    /// Name resolution.
    pub looking_up: Duration,
    /// TCP handshake; in QUIC, until the first response to the client hello.
    pub connecting: Duration,
    /// TLS handshake; in QUIC, the rest of its single handshake.
    pub securing: Duration,
    /// Until the kernel has accepted the last byte of the request.
    pub sending: Duration,
    /// Until the first byte of the response has arrived.
    pub waiting: Duration,
    /// Until the last byte of the response has arrived.
    pub receiving: Duration,
}

impl Timeline {
    /// A timeline in which only the start is known.
    pub fn started_at(started: Moment) -> Self {
        Timeline {
            started,
            slot: started,
            looked_up: started,
            connected: started,
            secured: started,
            sent: started,
            first_byte: started,
            done: started,
        }
    }

    /// The common case: an open connection was free, so the request was sent immediately.
    #[inline]
    pub fn on_kept_connection(
        started: Moment,
        sent: Moment,
        first_byte: Moment,
        done: Moment,
    ) -> Self {
        // If the response started before the request was sent completely, the start of the response limits
        // the send time.
        let first_byte = first_byte.max(started);
        let sent = sent.max(started).min(first_byte);
        let done = done.max(first_byte);
        Timeline {
            started,
            slot: started,
            looked_up: started,
            connected: started,
            secured: started,
            sent,
            first_byte,
            done,
        }
    }

    /// Records that a connection slot was obtained at `at`. The other steps follow.
    pub fn got_slot(&mut self, at: Moment) {
        self.slot = at.max(self.started);
        self.looked_up(self.slot);
    }

    /// Records the end of name resolution.
    pub fn looked_up(&mut self, at: Moment) {
        self.looked_up = at.max(self.slot);
        self.connected(self.looked_up);
    }

    /// Records the end of the TCP handshake.
    pub fn connected(&mut self, at: Moment) {
        self.connected = at.max(self.looked_up);
        self.secured(self.connected);
    }

    /// Records the end of the TLS handshake.
    pub fn secured(&mut self, at: Moment) {
        self.secured = at.max(self.connected);
        self.finished(self.secured, self.secured, self.secured);
    }

    /// Records the last three timestamps. If the response started before the request was sent
    /// completely, the request counts as sent when the response started.
    pub fn finished(&mut self, sent: Moment, first_byte: Moment, done: Moment) {
        self.first_byte = first_byte.max(self.secured);
        self.sent = sent.max(self.secured).min(self.first_byte);
        self.done = done.max(self.first_byte);
    }

    /// When the exchange was requested.
    pub fn started(&self) -> Moment {
        self.started
    }

    /// When the wait for a connection slot ended.
    pub fn slot(&self) -> Moment {
        self.slot
    }

    /// When the kernel had accepted the last byte of the request.
    pub fn sent(&self) -> Moment {
        self.sent
    }

    /// When the first byte of the response arrived.
    pub fn first_byte(&self) -> Moment {
        self.first_byte
    }

    /// When the last byte of the response arrived, or when the exchange failed.
    pub fn done(&self) -> Moment {
        self.done
    }

    /// The duration from the start to the end.
    pub fn total(&self) -> Duration {
        self.done.since(self.started)
    }

    /// Sending, waiting and receiving: k6's `http_req_duration`.
    pub fn service_time(&self) -> Duration {
        self.done.since(self.secured)
    }

    #[inline]
    pub fn phases(&self) -> Phases {
        Phases {
            queued: self.slot.since(self.started),
            looking_up: self.looked_up.since(self.slot),
            connecting: self.connected.since(self.looked_up),
            securing: self.secured.since(self.connected),
            sending: self.sent.since(self.secured),
            waiting: self.first_byte.since(self.sent),
            receiving: self.done.since(self.first_byte),
        }
    }
}

impl Phases {
    /// The sum of all phases, which is the total of the timeline.
    pub fn sum(&self) -> Duration {
        self.queued
            + self.looking_up
            + self.connecting
            + self.securing
            + self.sending
            + self.waiting
            + self.receiving
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(nanos: u64) -> Moment {
        Moment::from_nanos(nanos)
    }

    proptest! {
        #[test]
        fn phases_sum_to_the_total_whatever_is_recorded(m in proptest::array::uniform8(0u64..1_000_000)) {
            let mut whole = Timeline::started_at(at(m[0]));
            whole.got_slot(at(m[1]));
            whole.looked_up(at(m[2]));
            whole.connected(at(m[3]));
            whole.secured(at(m[4]));
            whole.finished(at(m[5]), at(m[6]), at(m[7]));
            prop_assert_eq!(whole.phases().sum(), whole.total());
            prop_assert!(whole.started() <= whole.sent());
            prop_assert!(whole.sent() <= whole.first_byte());
            prop_assert!(whole.first_byte() <= whole.done());

            let kept = Timeline::on_kept_connection(at(m[0]), at(m[5]), at(m[6]), at(m[7]));
            prop_assert_eq!(kept.phases().sum(), kept.total());
            prop_assert!(kept.sent() <= kept.first_byte() && kept.first_byte() <= kept.done());
        }
    }

    #[test]
    fn a_response_before_the_end_of_the_request_limits_the_sending_time() {
        let line = Timeline::on_kept_connection(at(10), at(50), at(30), at(60));
        assert_eq!(line.sent(), at(30));
        assert_eq!(line.phases().waiting, Duration::ZERO);
        assert_eq!(line.total(), Duration::from_nanos(50));
    }
}
