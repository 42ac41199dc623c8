//! The metrics of a session in both modules: samples, their tags, and outstanding pings.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use plimsoll_engine::Tally;
use plimsoll_samples::{BaseTags, CallFacts, MetricId, Recorder, SystemTag, WEBSOCKET, builtin};
use plimsoll_units::Moment;
use plimsoll_ws::{Opened, Rejected};

use super::dial::Dial;
use super::messages;
use crate::tags::Snapshot;
use crate::user::{User, Work};

/// Maximum number of outstanding pings per session, because a server that never sends pongs must not exhaust memory.
const PINGS: usize = 1024;

/// One session's metrics.
pub struct Session {
    recorder: Rc<Recorder>,
    tags: RefCell<Snapshot>,
    base: RefCell<Option<BaseTags>>,
    /// The name under which the session is listed.
    name: String,
    started: Moment,
    tally: Tally,
    /// Bytes of messages, sent and received, while the session is open.
    payload: Cell<Option<(u64, u64)>>,
    last_ping: Cell<u64>,
    pings: RefCell<VecDeque<(u64, Moment)>>,
}

impl Session {
    /// Starts a session. `name` replaces the URL in the tags.
    pub fn new(user: &User, work: &Work, dial: &Dial, name: Option<&str>) -> Session {
        let mut tags = user.tags.snapshot();
        for (key, value) in dial.tags.borrowed() {
            tags.set(key, value);
        }
        let session = Session {
            recorder: Rc::clone(&work.recorder),
            tags: RefCell::new(tags),
            base: RefCell::default(),
            name: name.unwrap_or(&dial.url).to_owned(),
            started: plimsoll_clock::now(),
            tally: user.tally.borrow().clone(),
            payload: Cell::new(None),
            last_ping: Cell::new(0),
            pings: RefCell::default(),
        };
        session.tag(SystemTag::Url, name.unwrap_or(&dial.url));
        if let Some(name) = name {
            session.tag(SystemTag::Name, name);
        }
        session
    }

    /// Records the result of the handshake.
    pub fn opened(&self, opened: &Result<Opened, String>) {
        if let Ok(opened) = opened {
            let handshake = match &opened.outcome {
                Ok(socket) => Some((&socket.response, &*socket.agreed.protocol)),
                Err(Rejected::Refused(_, response)) => Some((&**response, "")),
                Err(Rejected::Failed(_)) => None,
            };
            if let Some((response, protocol)) = handshake {
                self.tag(SystemTag::Status, &response.status.to_string());
                self.tag(SystemTag::Subproto, protocol);
            }
            if let Some(remote) = opened.exchange.remote
                && self.recorder.wants_addresses()
            {
                self.tag(SystemTag::Ip, &remote.ip().to_string());
            }
        }
        self.count(opened);
        let is_open = opened.as_ref().is_ok_and(|opened| opened.outcome.is_ok());
        if is_open {
            self.payload.set(Some((0, 0)));
        } else {
            self.tally.call(None);
        }
        self.add(builtin::WS_SESSIONS, 1.0);
        self.time(
            builtin::WS_CONNECTING,
            plimsoll_clock::now().since(self.started),
        );
    }

    /// Counts the handshake and its connection, for the verdict and the record.
    fn count(&self, opened: &Result<Opened, String>) {
        let failed = CallFacts {
            counted: self.started,
            name: &self.name,
            method: "WebSocket",
            took: plimsoll_clock::now().since(self.started),
            ..CallFacts::default()
        };
        let opened = match opened {
            Ok(opened) => opened,
            Err(malformed) => {
                return self.recorder.call(&CallFacts {
                    error: malformed,
                    ..failed
                });
            }
        };
        let exchange = &opened.exchange;
        let (proto, status) = match &opened.outcome {
            Ok(socket) => (WEBSOCKET, socket.response.status),
            Err(Rejected::Refused(_, response)) => (exchange.proto.as_str(), response.status),
            Err(Rejected::Failed(_)) => ("", 0),
        };
        let rejected = opened.outcome.as_ref().err();
        let error = rejected.map(messages::rejected).unwrap_or_default();
        self.recorder.call(&CallFacts {
            status,
            proto,
            resent: exchange.resent,
            tls_version: exchange.tls.map_or("", |tls| tls.version),
            tls_cipher_suite: exchange.tls.map_or("", |tls| tls.cipher_suite),
            error: &error,
            exhausted: matches!(rejected, Some(Rejected::Failed(error)) if error.is_exhausted),
            ..failed
        });
        if exchange.opened {
            self.recorder.connections_opened(1, self.started);
        }
    }

    /// Records a sent message of this size.
    pub fn sent(&self, bytes: usize) {
        self.sent_control();
        self.recorder.messages(1, 0, plimsoll_clock::now());
        self.count_bytes(bytes, 0);
    }

    /// Records a sent ping or close frame. `k6/websockets` counts it as a message, too.
    pub fn sent_control(&self) {
        self.add(builtin::WS_MSGS_SENT, 1.0);
    }

    /// Records a received message of this size.
    pub fn received(&self, bytes: usize) {
        self.add(builtin::WS_MSGS_RECEIVED, 1.0);
        self.recorder.messages(0, 1, plimsoll_clock::now());
        self.count_bytes(0, bytes);
    }

    /// The payload of a ping that is about to be sent.
    pub fn ping(&self) -> String {
        let number = self.last_ping.get() + 1;
        self.last_ping.set(number);
        let mut pings = self.pings.borrow_mut();
        if pings.len() == PINGS {
            pings.pop_front();
        }
        pings.push_back((number, plimsoll_clock::now()));
        number.to_string()
    }

    /// Records a pong. Unsolicited pongs have no round trip to measure.
    pub fn pong(&self, payload: &[u8]) {
        let Some(number) = std::str::from_utf8(payload)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
        else {
            return;
        };
        let mut pings = self.pings.borrow_mut();
        let Some(place) = pings.iter().position(|(sent, _)| *sent == number) else {
            return;
        };
        let sent = pings.remove(place);
        drop(pings);
        if let Some((_, sent)) = sent {
            self.time(builtin::WS_PING, plimsoll_clock::now().since(sent));
        }
    }

    /// Records the end of the session.
    pub fn ended(&self) {
        self.time(
            builtin::WS_SESSION_DURATION,
            plimsoll_clock::now().since(self.started),
        );
        if let Some(payload) = self.payload.take() {
            self.tally.call(Some(payload));
        }
    }

    fn count_bytes(&self, sent: usize, received: usize) {
        let payload = self.payload.get();
        self.payload
            .set(payload.map(|payload| (payload.0 + sent as u64, payload.1 + received as u64)));
    }

    fn tag(&self, tag: SystemTag, value: &str) {
        if self.recorder.sets(tag) {
            self.tags.borrow_mut().set(tag.key(), value);
            *self.base.borrow_mut() = None;
        }
    }

    fn time(&self, metric: MetricId, span: Duration) {
        self.add(metric, span.as_nanos() as f64 / 1e6);
    }

    #[inline]
    fn add(&self, metric: MetricId, value: f64) {
        let mut base = self.base.borrow_mut();
        let base = base.get_or_insert_with(|| self.tags.borrow().base(&self.recorder));
        // This cannot fail, because the metric is built in and the value is a number.
        let _ = self
            .recorder
            .add(metric, value, base, &[], plimsoll_clock::now());
    }
}
