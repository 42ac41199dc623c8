//! Sends traces with OpenTelemetry's protocol. Each HTTP round trip and each gRPC call that has a trace context is a
//! span.
//!
//! The metadata of samples contains the context: `trace_id`, `span_id` and, after the first round trip of a request,
//! `parent_span_id`. Attributes have the names of OpenTelemetry's conventions, if these define one.

mod message;
mod settings;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use plimsoll_output::output::{Output, OutputError, OutputSetting, ShownUrl, shown_tag};
use plimsoll_output::wall_clock::WallClock;
use plimsoll_samples::SampleRecord;
use plimsoll_samples::builtin::{GRPC_REQ_DURATION, HTTP_REQS};
use prost::Message;

use crate::opentelemetry::message::{KeyValue, Resource, Scope};
use crate::opentelemetry::{attribute, nanos, number_attribute};
use crate::sender::{Push, Sender, ended};

use message::{CLIENT, ExportRequest, FAILED, RECORDED, ResourceSpans, ScopeSpans, Span, Status};

pub use settings::Settings;

/// Maximum number of spans per request. Receivers accept 4 MiB by default.
const MAX_SPANS: usize = 2000;
/// The interval between requests with fewer spans.
const INTERVAL: Duration = Duration::from_secs(1);

/// Sends the spans of a run.
pub struct Traces {
    name: String,
    sender: Sender,
    resource: Vec<KeyValue>,
    clock: WallClock,
    shown_url: ShownUrl,
    next: Instant,
    spans: Vec<Span>,
    /// The number of spans that were dropped because the receiver was too slow.
    dropped: u64,
}

impl Traces {
    /// Starts the thread that sends.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn open(
        settings: &Settings,
        setting: &OutputSetting,
        name: String,
    ) -> Result<Traces, String> {
        let resource = settings.resource.iter();
        Ok(Traces {
            name,
            sender: Sender::start(settings.endpoint.clone(), None)?,
            resource: resource
                .map(|(key, value)| attribute(key, value.clone()))
                .collect(),
            clock: setting.clock,
            shown_url: setting.shown_url,
            next: Instant::now() + INTERVAL,
            spans: Vec::new(),
            dropped: 0,
        })
    }

    fn take(&mut self) -> Push {
        let spans = std::mem::take(&mut self.spans);
        let samples = spans.len() as u64;
        let request = ExportRequest {
            resource_spans: vec![ResourceSpans {
                resource: Some(Resource {
                    attributes: self.resource.clone(),
                }),
                scope_spans: vec![ScopeSpans {
                    scope: Some(Scope {
                        name: "k6".to_owned(),
                    }),
                    spans,
                }],
            }],
        };
        Push {
            body: request.encode_to_vec(),
            samples,
        }
    }

    fn send(&mut self) {
        if !self.spans.is_empty() {
            let push = self.take();
            if let Err(refused) = self.sender.offer(push) {
                self.dropped += refused.samples;
            }
        }
    }
}

impl Output for Traces {
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError> {
        // Exactly one sample of each round trip or call has this metric.
        let is_one =
            |sample: &&SampleRecord| matches!(sample.metric, HTTP_REQS | GRPC_REQ_DURATION);
        for sample in samples.iter().filter(is_one) {
            if let Some(span) = span(sample, self.clock, self.shown_url) {
                self.spans.push(span);
            }
            if self.spans.len() >= MAX_SPANS {
                self.send();
            }
        }
        let now = Instant::now();
        if now >= self.next {
            self.next = now + INTERVAL;
            self.send();
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        let last = (!self.spans.is_empty()).then(|| self.take());
        self.sender.finish(last);
        let account = self.sender.account();
        let failed = account.failed.load(Ordering::Relaxed);
        let lost = account.lost.load(Ordering::Relaxed) + self.dropped;
        let mut parts = Vec::new();
        if failed > 0 {
            parts.push(format!("{failed} requests failed ({})", account.reason()));
        }
        if self.dropped > 0 {
            parts.push("it was slower than the run".to_owned());
        }
        if parts.is_empty() {
            return Ok(());
        }
        let text = format!("{}; {lost} spans are not in it", parts.join(", and "));
        Err(ended(&self.name, text))
    }
}

/// The span of a round trip or a call, if it has a trace context.
fn span(sample: &SampleRecord, clock: WallClock, shown_url: ShownUrl) -> Option<Span> {
    let metadata = sample.metadata.as_deref()?;
    let id = |key: &str| metadata.get(key).and_then(|digits| from_hex(digits));
    let tags = &sample.tags;
    let tag = |key: &str| tags.get(key).unwrap_or_default();
    let is_call = sample.metric == GRPC_REQ_DURATION;
    let end = clock.date(sample.at);
    let start = match sample.started {
        Some(started) => clock.date(started),
        // The value of the sample is the duration of the call in milliseconds.
        None => Duration::try_from_secs_f64(sample.value / 1e3)
            .ok()
            .and_then(|took| end.checked_sub(took))
            .unwrap_or(end),
    };
    let error = if is_call {
        Some(tag("status")).filter(|status| !matches!(*status, "" | "0"))
    } else {
        let is_failed = tag("expected_response") == "false" || !tag("error").is_empty();
        let mut codes = ["error_code", "status"].into_iter().map(tag);
        codes.find(|code| is_failed && !code.is_empty())
    };
    let mut attributes = Vec::with_capacity(tags.len() + 3);
    for (key, value) in tags.iter().filter(|(_, value)| !value.is_empty()) {
        let shown = || shown_tag(shown_url, key, value).into_owned();
        match key {
            "method" if is_call => attributes.push(attribute("rpc.method", shown())),
            "method" => attributes.push(attribute("http.request.method", shown())),
            "service" if is_call => attributes.push(attribute("rpc.service", shown())),
            "status" if is_call => {
                attributes.extend(number_attribute("rpc.grpc.status_code", value));
            }
            "status" => attributes.extend(number_attribute("http.response.status_code", value)),
            // As in k6, a request's name replaces its URL.
            "url" if is_call || !value.contains("://") => {}
            "url" => {
                attributes.push(attribute("url.full", shown()));
                attributes.extend(server(value));
            }
            "proto" => {
                let version = value.rsplit('/').next().unwrap_or(value);
                let version = version.trim_end_matches(".0").to_owned();
                attributes.push(attribute("network.protocol.version", version));
            }
            // The name of the span already contains it.
            "name" => {}
            _ => attributes.push(attribute(key, shown())),
        }
    }
    if is_call {
        attributes.push(attribute("rpc.system", "grpc".to_owned()));
    }
    if let Some(error) = error {
        attributes.push(attribute("error.type", error.to_owned()));
    }
    let name = shown_tag(shown_url, "name", tag("name"));
    Some(Span {
        trace_id: id("trace_id")?,
        span_id: id("span_id")?,
        parent_span_id: id("parent_span_id").unwrap_or_default(),
        name: match tag("method") {
            _ if is_call => name.trim_start_matches('/').to_owned(),
            // The name of a span should have few different values, but URLs may have many.
            method if tag("name").contains("://") => method.to_owned(),
            method => format!("{method} {name}"),
        },
        kind: CLIENT,
        start: nanos(start),
        end: nanos(end),
        attributes,
        status: error.map(|_| Status {
            message: tag("error").to_owned(),
            code: FAILED,
        }),
        flags: RECORDED,
    })
}

/// The host and the port in a URL.
fn server(url: &str) -> Vec<KeyValue> {
    let Ok(url) = plimsoll_http::Url::parse(url) else {
        return Vec::new();
    };
    let mut all = vec![attribute("server.address", url.host().to_owned())];
    all.extend(number_attribute("server.port", &url.port().to_string()));
    all
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let places = (0..digits.len()).step_by(2);
    let byte = |place| u8::from_str_radix(digits.get(place..place + 2)?, 16).ok();
    places.map(byte).collect()
}
