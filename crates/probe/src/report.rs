//! The measurements, formatted as text and as JSON.

use plimsoll_net::TlsFacts;
use serde_json::{Value, json};

use crate::spread::{NOT_RELIABLE, Spread};
use crate::{Capacity, Opening, Peer, Plan};

/// All measurements.
#[derive(Clone, Debug)]
pub struct Report {
    address: String,
    looking_up: Spread,
    connecting: Spread,
    full_handshakes: Spread,
    resumed_handshakes: Spread,
    tls: Option<TlsFacts>,
    /// The round trip, or the error if it could not be measured.
    pub round_trip: Result<RoundTrip, String>,
    /// The throughput, or the error if it could not be measured. `None` if it was not requested.
    pub capacity: Option<Result<Capacity, String>>,
}

/// Round trips of small messages.
#[derive(Clone, Debug)]
pub struct RoundTrip {
    pub peer: Peer,
    /// Whether each message was the first one on its connection, because the server kept none open.
    pub new_connections: bool,
    pub times: Spread,
}

impl RoundTrip {
    /// The kind of message.
    pub fn by(&self) -> &'static str {
        match (self.peer, self.new_connections) {
            (Peer::Echo, _) => "echo",
            (Peer::Http, false) => "HTTP GET, first byte",
            (Peer::Http, true) => "HTTP GET, first byte, new connections",
        }
    }
}

impl Report {
    pub(crate) fn new(plan: &Plan) -> Self {
        Report {
            address: plan.address.to_string(),
            looking_up: Spread::default(),
            connecting: Spread::default(),
            full_handshakes: Spread::default(),
            resumed_handshakes: Spread::default(),
            tls: None,
            round_trip: Err("not measured".to_owned()),
            capacity: None,
        }
    }

    pub(crate) fn opened(&mut self, opening: &Opening, facts: Option<TlsFacts>) {
        if let Some(time) = opening.looking_up {
            self.looking_up.add(time);
        }
        self.connecting.add(opening.connecting);
        if let Some(time) = opening.securing {
            self.full_handshakes.add(time);
        }
        self.tls = facts.or(self.tls);
    }

    pub(crate) fn resumed(&mut self, opening: &Opening) {
        if let Some(time) = opening.securing {
            self.resumed_handshakes.add(time);
        }
    }

    /// One JSON object. Times are in milliseconds, and values that were not measured are null.
    pub fn json(&self) -> Value {
        let round_trip = self.round_trip.as_ref();
        json!({
            "address": self.address,
            "looking_up_ms": self.looking_up.json(),
            "connect_ms": self.connecting.json(),
            "tls": self.tls.map(|tls| json!({ "version": tls.version, "cipher_suite": tls.cipher_suite })),
            "tls_handshake_ms": self.full_handshakes.json(),
            "tls_handshake_resumed_ms": self.resumed_handshakes.json(),
            "round_trip_ms": round_trip.map_or(Value::Null, |trip| trip.times.json()),
            "round_trip_by": round_trip.map_or(Value::Null, |trip| json!(trip.by())),
            "round_trip_missing": round_trip.err(),
            "throughput": self.capacity.as_ref().and_then(|capacity| capacity.as_ref().ok()).map(Capacity::json),
            "throughput_missing": self.capacity.as_ref().and_then(|capacity| capacity.as_ref().err()),
        })
    }

    /// Formats a table, followed by the measurements that failed.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n{:26}{}\n", self.address, "", Spread::HEAD);
        let mut row = |name: &str, spread: &Spread| {
            if !spread.is_empty() {
                text += &format!("{name:26}{}\n", spread.row());
            }
        };
        row("name lookup", &self.looking_up);
        row("TCP connect", &self.connecting);
        row("TLS handshake, full", &self.full_handshakes);
        row("TLS handshake, resumed", &self.resumed_handshakes);
        if let Ok(trip) = &self.round_trip {
            row("round trip", &trip.times);
        }
        if text.contains(NOT_RELIABLE) {
            text += &format!(
                "{NOT_RELIABLE} fewer than 10 values above this percentile: not reliable\n"
            );
        }
        text.push('\n');
        if let Some(tls) = self.tls {
            text += &format!("{}, {}", tls.version, tls.cipher_suite);
            if self.resumed_handshakes.is_empty() {
                text += "; the server did not resume sessions";
            }
            text.push('\n');
        }
        match &self.round_trip {
            Ok(trip) => text += &format!("round trip by {}\n", trip.by()),
            Err(why) => text += &format!("no round trip: {why}\n"),
        }
        match &self.capacity {
            None => {}
            Some(Ok(capacity)) => text += &format!("{}\n", capacity.text()),
            Some(Err(why)) => text += &format!("{why}\n"),
        }
        text
    }
}
