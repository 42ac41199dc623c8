//! The outcome of a gRPC call.

use plimsoll_grpc::Status;
use plimsoll_http::Timeline;
use plimsoll_units::Moment;

/// The outcome of a call, unary or streaming.
pub(crate) struct Outcome {
    pub status: Status,
    pub timeline: Timeline,
    pub opened: bool,
    pub resent: u32,
    pub has_response: bool,
    pub tls: Option<plimsoll_net::TlsFacts>,
    pub sent: Messages,
    pub received: Messages,
}

/// The messages in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Messages {
    pub count: u64,
    /// The size when decompressed, without framing.
    pub bytes: u64,
}

impl Messages {
    pub fn and(self, bytes: usize) -> Messages {
        Messages {
            count: self.count + 1,
            bytes: self.bytes + bytes as u64,
        }
    }
}

impl Outcome {
    /// A call that failed before anything was sent.
    pub fn unsent(status: Status, started: Moment) -> Outcome {
        let mut timeline = Timeline::started_at(started);
        let now = plimsoll_clock::now();
        timeline.finished(now, now, now);
        Outcome {
            status,
            timeline,
            opened: false,
            resent: 0,
            has_response: false,
            tls: None,
            sent: Messages::default(),
            received: Messages::default(),
        }
    }
}
