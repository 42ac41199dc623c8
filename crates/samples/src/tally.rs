//! Counts of what came of HTTP exchanges: statuses, protocols, failures.

use rustc_hash::FxHashMap;

use crate::exchange::HttpFacts;
use crate::summary::{ErrorCount, HttpOverview};

/// How many different failures are kept by their text.
const ERROR_LIMIT: usize = 100;
/// How many different protocols are kept; there are four.
const PROTOCOL_LIMIT: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct HttpTally {
    /// The frequent ones come early, as they are met early.
    statuses: Vec<(u16, u64)>,
    protocols: Vec<(Box<str>, u64)>,
    errors: FxHashMap<u32, Vec<(Box<str>, u64)>>,
    error_texts: usize,
    other_errors: u64,
}

impl HttpTally {
    #[inline]
    pub fn record(&mut self, facts: &HttpFacts) {
        self.status(facts.status, 1);
        if !facts.proto.is_empty() {
            self.protocol(facts.proto, 1);
        }
        if !facts.error.is_empty() {
            self.error(facts.error_code, facts.error, 1);
        }
    }

    #[inline]
    fn status(&mut self, status: u16, count: u64) {
        match self.statuses.iter_mut().find(|entry| entry.0 == status) {
            Some(entry) => entry.1 += count,
            None => self.statuses.push((status, count)),
        }
    }

    #[inline]
    fn protocol(&mut self, proto: &str, count: u64) {
        match self.protocols.iter_mut().find(|entry| *entry.0 == *proto) {
            Some(entry) => entry.1 += count,
            None => self.new_protocol(proto, count),
        }
    }

    #[cold]
    fn new_protocol(&mut self, proto: &str, count: u64) {
        if self.protocols.len() < PROTOCOL_LIMIT {
            self.protocols.push((proto.into(), count));
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
        for (proto, count) in &other.protocols {
            self.protocol(proto, *count);
        }
        for (&code, texts) in &other.errors {
            for (text, count) in texts {
                if *count > 0 {
                    self.error(code, text, *count);
                }
            }
        }
        self.other_errors += other.other_errors;
    }

    /// Forgets the counts. Statuses and protocols keep their places.
    pub fn clear(&mut self) {
        self.statuses.iter_mut().for_each(|entry| entry.1 = 0);
        self.protocols.iter_mut().for_each(|entry| entry.1 = 0);
        self.errors.clear();
        self.error_texts = 0;
        self.other_errors = 0;
    }

    pub fn overview(&self) -> HttpOverview {
        let mut statuses: Vec<_> = self.statuses.iter().copied().filter(|s| s.1 > 0).collect();
        statuses.sort_unstable();
        let mut protocols: Vec<_> = self
            .protocols
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(proto, count)| (proto.to_string(), *count))
            .collect();
        protocols.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
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
            protocols,
            errors,
            other_errors: self.other_errors,
        }
    }
}
