//! The log of a logged server.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A complete response with this status: an HTTP status or a gRPC code.
    Responded(u16),
    /// The connection or stream was closed without a response.
    Cut,
    /// Nothing was sent, and the connection stayed open.
    Ignored,
}

/// One request, call or WebSocket message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The connection's number, counted from 0 in the order of acceptance.
    pub connection: u64,
    /// When the request was complete, relative to the start of the server.
    pub arrived: Duration,
    /// Just before the last byte of the response was passed to the kernel, relative to the start of
    /// the server.
    pub ended: Duration,
    pub outcome: Outcome,
    /// Payload of the request: bodies and messages, without headers and framing.
    pub received: u64,
    /// Payload of the response.
    pub sent: u64,
}

/// A copy of all entries and counters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    pub entries: Vec<Entry>,
    pub connections: u64,
    /// Bytes on HTTP/1.1 and WebSocket connections, including handshakes and frame headers.
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Number of WebSocket messages and messages of streaming gRPC calls that were sent without a
    /// request.
    pub unsolicited: u64,
    /// Numbers of messages of streaming gRPC calls that arrived and that were sent.
    pub messages_received: u64,
    pub messages_sent: u64,
}

impl Log {
    /// The requests with a complete response, and their statuses.
    pub fn responses(&self) -> impl Iterator<Item = (&Entry, u16)> {
        self.entries.iter().filter_map(|entry| match entry.outcome {
            Outcome::Responded(status) => Some((entry, status)),
            Outcome::Cut | Outcome::Ignored => None,
        })
    }

    /// Number of responses sent with each status.
    pub fn statuses(&self) -> BTreeMap<u16, u64> {
        let mut statuses = BTreeMap::new();
        for (_, status) in self.responses() {
            *statuses.entry(status).or_default() += 1;
        }
        statuses
    }

    /// Number of requests that the server received but that have no successful response.
    pub fn failed(&self, is_good: impl Fn(u16) -> bool) -> u64 {
        let good = self.responses().filter(|&(_, status)| is_good(status));
        (self.entries.len() - good.count()) as u64
    }

    /// Payload of the requests with a successful response, and of these responses.
    pub fn payload(&self, is_good: impl Fn(u16) -> bool) -> (u64, u64) {
        self.responses()
            .filter(|&(_, status)| is_good(status))
            .fold((0, 0), |(received, sent), (entry, _)| {
                (received + entry.received, sent + entry.sent)
            })
    }

    /// The time between each request and its response at the server, sorted. A client cannot measure
    /// less.
    pub fn held(&self) -> Vec<Duration> {
        let mut held: Vec<_> = self
            .responses()
            .map(|(entry, _)| entry.ended.saturating_sub(entry.arrived))
            .collect();
        held.sort_unstable();
        held
    }

    /// The sum over all connections of the time from the first arrival to the last end. If each
    /// connection handles one request at a time, the durations of all requests cannot total more.
    pub fn busy(&self) -> Duration {
        let mut spans = BTreeMap::new();
        for entry in &self.entries {
            let span = spans
                .entry(entry.connection)
                .or_insert((entry.arrived, entry.ended));
            span.0 = span.0.min(entry.arrived);
            span.1 = span.1.max(entry.ended);
        }
        spans
            .values()
            .map(|(first, last)| last.saturating_sub(*first))
            .sum()
    }

    /// The time from the first arrival to the last end.
    pub fn span(&self) -> Duration {
        let first = self.entries.iter().map(|entry| entry.arrived).min();
        let last = self.entries.iter().map(|entry| entry.ended).max();
        match (first, last) {
            (Some(first), Some(last)) => last.saturating_sub(first),
            _ => Duration::ZERO,
        }
    }
}

/// The log that all connections of a server share.
pub(super) struct Ledger {
    started: Instant,
    log: Mutex<Log>,
}

impl Ledger {
    pub fn new() -> Ledger {
        Ledger {
            started: Instant::now(),
            log: Mutex::default(),
        }
    }

    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn read(&self) -> Log {
        self.lock().clone()
    }

    /// Counts a connection and returns its number.
    pub fn connected(&self) -> u64 {
        let mut log = self.lock();
        log.connections += 1;
        log.connections - 1
    }

    /// Records that a request with this payload has arrived, and returns its number, counted from 0.
    /// Until the request ends, it counts as ignored.
    pub fn arrived(&self, connection: u64, payload: usize) -> usize {
        let now = self.now();
        let mut log = self.lock();
        log.entries.push(Entry {
            connection,
            arrived: now,
            ended: now,
            outcome: Outcome::Ignored,
            received: payload as u64,
            sent: 0,
        });
        log.entries.len() - 1
    }

    /// Records the outcome of a request and the payload of its response. Call it before the last bytes
    /// are sent, so no client can see them earlier.
    pub fn ended(&self, number: usize, outcome: Outcome, payload: usize) {
        let now = self.now();
        if let Some(entry) = self.lock().entries.get_mut(number) {
            entry.ended = now;
            entry.outcome = outcome;
            entry.sent = payload as u64;
        }
    }

    /// Replaces the payload of a request that arrived in several messages.
    pub fn received(&self, number: usize, payload: usize) {
        if let Some(entry) = self.lock().entries.get_mut(number) {
            entry.received = payload as u64;
        }
    }

    pub fn message_received(&self) {
        self.lock().messages_received += 1;
    }

    pub fn message_sent(&self) {
        self.lock().messages_sent += 1;
    }

    pub fn transferred(&self, read: usize, written: usize) {
        let mut log = self.lock();
        log.bytes_read += read as u64;
        log.bytes_written += written as u64;
    }

    pub fn sent_unsolicited(&self) {
        self.lock().unsolicited += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
