//! The state of a request until its response has ended, and its line in the access log.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Instant, SystemTime};

use hyper::Version;
use hyper::http::request::Parts;
use plimsoll_serving::counters::count;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::proxy::Door;
use crate::upstream::{Lease, Using};

/// A request in flight.
pub struct Record {
    door: Arc<Door>,
    pub permit: Option<OwnedSemaphorePermit>,
    pub using: Option<Using>,
    pub lease: Option<Lease>,
    /// Bytes of the response's body.
    pub bytes: usize,
    /// If logging is enabled, the time at which the request began, and its line.
    line: Option<Box<(Instant, Value)>>,
}

impl Record {
    pub fn begin(door: &Arc<Door>, head: &Parts) -> Record {
        door.started.fetch_add(1, Relaxed);
        door.in_flight.fetch_add(1, Relaxed);
        let wanted = door.gateway.journal.is_on();
        Record {
            door: door.clone(),
            permit: None,
            using: None,
            lease: None,
            bytes: 0,
            line: wanted.then(|| Box::new((Instant::now(), line(door, head)))),
        }
    }

    /// Sets a field of the line.
    pub fn note(&mut self, name: &str, value: impl Into<Value>) {
        if let Some(line) = &mut self.line {
            line.1[name] = value.into();
        }
    }

    /// Notes why there was no complete response; the first reason counts.
    pub fn trouble(&mut self, reason: &str) {
        if let Some(line) = &mut self.line
            && line.1["trouble"].is_null()
        {
            line.1["trouble"] = reason.into();
        }
    }

    pub fn count_tunnel(&self) {
        count(&self.door.counts.tunnels);
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.door.in_flight.fetch_sub(1, Relaxed);
        if let Some(line) = self.line.take() {
            let (started, mut line) = *line;
            line["bytes"] = self.bytes.into();
            line["ms"] = (started.elapsed().as_micros() as f64 / 1000.0).into();
            self.door.gateway.journal.write(line);
        }
    }
}

/// The line of a request when it begins. It contains neither the query nor further fields, because
/// they may contain secrets.
fn line(door: &Door, head: &Parts) -> Value {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    json!({
        // Seconds with three decimals: precise enough, and cheap to write and to read.
        "time": now.unwrap_or_default().as_millis() as f64 / 1000.0,
        "client": door.address.to_string(),
        "entry": &*door.entry,
        "method": head.method.as_str(),
        "protocol": match head.version {
            Version::HTTP_10 => "HTTP/1.0",
            Version::HTTP_2 => "HTTP/2",
            _ => "HTTP/1.1",
        },
        "host": null,
        "path": head.uri.path(),
        // The client disconnected before there was a response.
        "status": 0,
        "bytes": 0,
        "ms": 0,
        "route": null,
        "target": null,
        "retries": 0,
    })
}
