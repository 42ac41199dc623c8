//! The results of a test.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use crate::error::Error;
pub use crate::kernel::TcpState;
use crate::results::{Cpu, Omitted, Results, StreamResult};
use crate::test::Test;

/// The role of this side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Client,
    Server,
}

/// One side's report on a test.
#[derive(Clone, Debug)]
pub struct Report {
    pub role: Role,
    pub test: Test,
    /// The other side's name. In a client's report, the server's address.
    pub host: String,
    pub port: u16,
    pub cookie: String,
    pub started: SystemTime,
    /// The maximum segment size of the control connection.
    pub segment: Option<u32>,
    pub streams: Vec<Stream>,
    /// Only stored for JSON. The lines of text have already been printed.
    pub periods: Vec<Period>,
    pub cpu: Cpu,
    pub congestion: Option<String>,
    /// The other side's results, if they arrived.
    pub remote: Option<Results>,
    pub error: Option<Error>,
}

impl Report {
    /// The report of a test that has not started.
    pub fn new(role: Role, test: Test, host: String, port: u16) -> Self {
        Report {
            role,
            test,
            host,
            port,
            cookie: String::new(),
            started: SystemTime::now(),
            segment: None,
            streams: Vec::new(),
            periods: Vec::new(),
            cpu: Cpu::default(),
            congestion: None,
            remote: None,
            error: None,
        }
    }

    /// The counts of the two ends of a stream: sender and receiver.
    pub fn ends(&self, stream: &Stream) -> Ends {
        let remote = self
            .remote
            .as_ref()
            .and_then(|results| results.stream(stream.id));
        let local_end = End::of(&stream.total);
        let remote_end = remote.map(|result| {
            // If a peer does not report what it omitted, assume that it omitted the same amount as this side.
            End::of_peer(result, result.omitted.unwrap_or(stream.total.omitted))
        });
        let (sender, receiver) = if stream.sending {
            (Some(local_end), remote_end)
        } else {
            (remote_end, Some(local_end))
        };
        Ends { sender, receiver }
    }
}

#[derive(Clone, Debug)]
pub struct Stream {
    pub id: u32,
    /// The socket's number, which the output shows for the stream.
    pub socket: i32,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub sending: bool,
    pub send_buffer: usize,
    pub receive_buffer: usize,
    pub total: Total,
}

/// One side's counts of a stream, without the omitted time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    pub time: Duration,
    pub bytes: u64,
    pub retransmits: Option<u64>,
    pub largest_congestion_window: u64,
    pub largest_send_window: u64,
    pub round_trips: RoundTrips,
    pub packets: u64,
    pub lost: u64,
    pub out_of_order: u64,
    pub jitter: Duration,
    pub omitted: Omitted,
}

/// Round trips as the kernel estimated them at the end of each period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundTrips {
    pub min: Duration,
    pub max: Duration,
    sum: Duration,
    count: u32,
}

impl RoundTrips {
    pub fn add(&mut self, time: Duration) {
        self.min = if self.count == 0 {
            time
        } else {
            self.min.min(time)
        };
        self.max = self.max.max(time);
        self.sum += time;
        self.count += 1;
    }

    pub fn mean(&self) -> Duration {
        self.sum.checked_div(self.count).unwrap_or_default()
    }
}

/// A period of a test.
#[derive(Clone, Debug)]
pub struct Period {
    pub start: Duration,
    pub end: Duration,
    pub omitted: bool,
    /// In the order of the report's streams.
    pub parts: Vec<Part>,
}

/// One stream's counts in a period.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    pub bytes: u64,
    /// Retransmitted segments in this period. `None` for receivers, or if the system does not report
    /// them.
    pub retransmits: Option<u64>,
    pub tcp: Option<TcpState>,
    pub packets: u64,
    pub lost: u64,
    pub jitter: Duration,
}

/// The known counts of both ends of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub sender: Option<End>,
    pub receiver: Option<End>,
}

/// One end of a stream, or the sum of several streams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct End {
    pub time: Duration,
    pub bytes: u64,
    pub retransmits: Option<u64>,
    pub packets: u64,
    pub lost: u64,
    pub jitter: Duration,
}

impl End {
    fn of(total: &Total) -> Self {
        End {
            time: total.time,
            bytes: total.bytes,
            retransmits: total.retransmits,
            packets: total.packets,
            lost: total.lost,
            jitter: total.jitter,
        }
    }

    fn of_peer(result: &StreamResult, omitted: Omitted) -> Self {
        End {
            time: result.time,
            bytes: result.bytes,
            retransmits: result.retransmits,
            packets: result.packets.saturating_sub(omitted.packets),
            lost: result.lost.saturating_sub(omitted.lost),
            jitter: result.jitter,
        }
    }

    /// Sums several streams: amounts are added, the jitter is averaged, and the time is the longest.
    pub fn sum(ends: &[End]) -> End {
        let mut sum = End::default();
        let mut retransmits = None;
        let mut jitter = Duration::ZERO;
        for end in ends {
            sum.time = sum.time.max(end.time);
            sum.bytes = sum.bytes.saturating_add(end.bytes);
            sum.packets = sum.packets.saturating_add(end.packets);
            sum.lost = sum.lost.saturating_add(end.lost);
            jitter += end.jitter;
            if let Some(count) = end.retransmits {
                *retransmits.get_or_insert(0_u64) += count;
            }
        }
        sum.retransmits = retransmits;
        sum.jitter = jitter
            .checked_div(u32::try_from(ends.len()).unwrap_or(1))
            .unwrap_or_default();
        sum
    }

    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.bytes, self.time)
    }

    pub fn lost_percent(&self) -> f64 {
        percent(self.lost, self.packets)
    }
}

/// Returns 0 if the time is 0.
pub fn per_second(bytes: u64, time: Duration) -> f64 {
    if time.is_zero() {
        0.0
    } else {
        bytes as f64 / time.as_secs_f64()
    }
}

/// Returns 0 if the whole is 0.
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}
