//! Counts HTTP exchanges by outcome: statuses, protocols, failures.

mod wire;

use rustc_hash::FxHashMap;

use crate::call::CallFacts;
use crate::exchange::HttpFacts;
use crate::mask::Masking;
use crate::summary::{ErrorCount, HttpOverview};

/// Maximum number of different error texts.
const ERROR_LIMIT: usize = 100;
/// Maximum number of combinations of protocol, TLS version and cipher suite. There are only four protocols and nine
/// cipher suites.
const TRANSPORT_LIMIT: usize = 48;

#[derive(Debug, Default)]
pub(crate) struct HttpTally {
    /// Frequent entries are near the front, because they occur early.
    statuses: Vec<(u16, u64)>,
    transports: Vec<(Transport, u64)>,
    opened: u64,
    resent: u64,
    calls: u64,
    failed_calls: u64,
    messages_sent: u64,
    messages_received: u64,
    errors: FxHashMap<u32, Vec<(Box<str>, u64)>>,
    error_texts: usize,
    other_errors: u64,
    exhausted: u64,
}

/// The transport of a response: protocol, TLS version, cipher suite.
type Transport = [Box<str>; 3];

impl HttpTally {
    #[inline]
    pub fn record(&mut self, facts: &HttpFacts, masking: &Masking) {
        self.status(facts.status, 1);
        if !facts.proto.is_empty() {
            let protocol = [facts.proto, facts.tls_version, facts.tls_cipher_suite];
            self.transport(protocol, 1);
        }
        self.opened += u64::from(facts.opened);
        self.resent += u64::from(facts.resent);
        if !facts.error.is_empty() {
            self.exhausted += u64::from(facts.exhausted);
            self.error(facts.error_code, &masking.apply(facts.error), 1);
        }
    }

    /// Counts a request with a protocol other than HTTP.
    pub fn record_call(&mut self, facts: &CallFacts, masking: &Masking) {
        self.calls += 1;
        self.resent += u64::from(facts.resent);
        if facts.status != 0 {
            self.status(facts.status, 1);
        }
        if !facts.proto.is_empty() {
            let protocol = [facts.proto, facts.tls_version, facts.tls_cipher_suite];
            self.transport(protocol, 1);
        }
        if !facts.error.is_empty() {
            self.failed_calls += 1;
            self.exhausted += u64::from(facts.exhausted);
            self.error(facts.error_code, &masking.apply(facts.error), 1);
        }
    }

    /// The number of requests with protocols other than HTTP, and how many of them failed.
    pub fn calls(&self) -> (u64, u64) {
        (self.calls, self.failed_calls)
    }

    /// Counts connections that were not opened by an HTTP request.
    pub fn add_opened(&mut self, connections: u64) {
        self.opened += connections;
    }

    /// Counts WebSocket messages, without pings and close frames.
    #[inline]
    pub fn add_messages(&mut self, sent: u64, received: u64) {
        self.messages_sent += sent;
        self.messages_received += received;
    }

    #[inline]
    fn status(&mut self, status: u16, count: u64) {
        match self.statuses.iter_mut().find(|entry| entry.0 == status) {
            Some(entry) => entry.1 += count,
            None => self.statuses.push((status, count)),
        }
    }

    #[inline]
    fn transport(&mut self, protocol: [&str; 3], count: u64) {
        let is_same = |known: &Transport| {
            known
                .iter()
                .zip(protocol)
                .all(|(known, part)| **known == *part)
        };
        match self.transports.iter_mut().find(|entry| is_same(&entry.0)) {
            Some(entry) => entry.1 += count,
            None => self.new_transport(protocol, count),
        }
    }

    #[cold]
    fn new_transport(&mut self, protocol: [&str; 3], count: u64) {
        if self.transports.len() < TRANSPORT_LIMIT {
            self.transports.push((protocol.map(Box::from), count));
        }
    }

    fn error(&mut self, code: u32, text: &str, count: u64) {
        let texts = self.errors.entry(code).or_default();
        match texts.iter_mut().find(|entry| *entry.0 == *text) {
            Some(entry) => entry.1 += count,
            None if self.error_texts < ERROR_LIMIT => {
                self.error_texts += 1;
                texts.push((text.into(), count));
            }
            None => self.other_errors += count,
        }
    }

    pub fn merge(&mut self, other: &HttpTally) {
        for &(status, count) in &other.statuses {
            self.status(status, count);
        }
        for (protocol, count) in &other.transports {
            self.transport(protocol.each_ref().map(|part| &**part), *count);
        }
        self.opened += other.opened;
        self.resent += other.resent;
        self.calls += other.calls;
        self.failed_calls += other.failed_calls;
        self.add_messages(other.messages_sent, other.messages_received);
        for (&code, texts) in &other.errors {
            for (text, count) in texts {
                if *count > 0 {
                    self.error(code, text, *count);
                }
            }
        }
        self.other_errors += other.other_errors;
        self.exhausted += other.exhausted;
    }

    /// Resets the counts, but keeps the entries.
    pub fn clear(&mut self) {
        self.statuses.iter_mut().for_each(|entry| entry.1 = 0);
        self.transports.iter_mut().for_each(|entry| entry.1 = 0);
        self.opened = 0;
        self.resent = 0;
        (self.calls, self.failed_calls) = (0, 0);
        (self.messages_sent, self.messages_received) = (0, 0);
        self.errors.clear();
        self.error_texts = 0;
        self.other_errors = 0;
        self.exhausted = 0;
    }

    /// Responses by one part of their transport, most frequent first.
    fn responses_by(&self, part: usize) -> Vec<(String, u64)> {
        let mut sums: Vec<(String, u64)> = Vec::new();
        for (protocol, count) in &self.transports {
            let Some(name) = protocol.get(part).filter(|name| !name.is_empty()) else {
                continue;
            };
            match sums.iter_mut().find(|(known, _)| **known == **name) {
                Some(sum) => sum.1 += count,
                None => sums.push((name.to_string(), *count)),
            }
        }
        sums.retain(|(_, count)| *count > 0);
        sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        sums
    }

    pub fn overview(&self) -> HttpOverview {
        let mut statuses: Vec<_> = self.statuses.iter().copied().filter(|s| s.1 > 0).collect();
        statuses.sort_unstable();
        let mut errors: Vec<_> = self
            .errors
            .iter()
            .flat_map(|(&code, texts)| {
                texts.iter().map(move |(text, count)| ErrorCount {
                    code,
                    text: text.to_string(),
                    count: *count,
                })
            })
            .collect();
        errors.sort_by(|a, b| {
            b.count
                .cmp(&a.count)
                .then_with(|| (a.code, &a.text).cmp(&(b.code, &b.text)))
        });
        HttpOverview {
            statuses,
            protocols: self.responses_by(0),
            tls_versions: self.responses_by(1),
            tls_cipher_suites: self.responses_by(2),
            connections_opened: self.opened,
            resent: self.resent,
            calls: self.calls,
            failed_calls: self.failed_calls,
            messages_sent: self.messages_sent,
            messages_received: self.messages_received,
            errors,
            other_errors: self.other_errors,
            exhausted: self.exhausted,
        }
    }
}
