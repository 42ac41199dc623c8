//! Runs before every system's service: health, metrics, and limits.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::service::Service;
use hyper::{Method, Request, Response, StatusCode};
use pin_project_lite::pin_project;

use crate::counters::{AllCounters, Counters, Exposition, count};
use crate::drain::Draining;
use crate::limits::Limits;
use crate::system::System;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROMETHEUS: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Why a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Too many are in flight.
    Overloaded,
    /// Its body is larger than this many bytes.
    TooLarge(u64),
}

impl Refusal {
    pub fn status(self) -> StatusCode {
        match self {
            Refusal::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Refusal::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }

    /// The message for the client.
    pub fn message(self) -> String {
        match self {
            Refusal::Overloaded => "too many requests are in progress; try again later".to_owned(),
            Refusal::TooLarge(most) => format!("the body is too large: at most {most} bytes"),
        }
    }

    /// A JSON response: `{"error":…}`.
    pub fn plain(self) -> Response<Bytes> {
        let body = serde_json::json!({"error": self.message()}).to_string();
        page(self.status(), JSON, body.into())
    }

    /// A trailers-only response to gRPC. The codes are UNAVAILABLE and
    /// RESOURCE_EXHAUSTED (gRPC over HTTP/2, "Responses").
    fn grpc(self) -> Response<Bytes> {
        let mut response = page(
            StatusCode::OK,
            HeaderValue::from_static("application/grpc"),
            Bytes::new(),
        );
        let code = match self {
            Refusal::Overloaded => HeaderValue::from_static("14"),
            Refusal::TooLarge(_) => HeaderValue::from_static("8"),
        };
        response.headers_mut().insert("grpc-status", code);
        if let Ok(message) = HeaderValue::from_str(&self.message()) {
            response.headers_mut().insert("grpc-message", message);
        }
        response
    }
}

fn page(status: StatusCode, kind: HeaderValue, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Shared by all connections to a system.
pub struct Shared<S> {
    system: Arc<S>,
    counters: AllCounters,
    max_requests: u64,
    /// While one worker has fewer requests than this, the others need not be checked.
    share: u64,
    max_body: u64,
}

impl<S: System> Shared<S> {
    pub fn new(system: Arc<S>, counters: AllCounters, limits: &Limits) -> Shared<S> {
        Shared {
            system,
            counters,
            max_requests: limits.max_requests,
            share: limits.max_requests / limits.threads.get() as u64,
            max_body: limits.max_body,
        }
    }

    fn refusal(&self, request: &Request<Incoming>, counters: &Counters) -> Option<Refusal> {
        if counters.in_flight() >= self.share
            && self.counters.sum(Counters::in_flight) >= self.max_requests
        {
            count(&counters.overloaded);
            return Some(Refusal::Overloaded);
        }
        let length = request
            .headers()
            .get(CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        (length > Some(self.max_body)).then_some(Refusal::TooLarge(self.max_body))
    }

    fn refuse(&self, refusal: Refusal, request: &Request<Incoming>) -> Response<Bytes> {
        let grpc = request
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
        if grpc {
            refusal.grpc()
        } else {
            self.system.refuse(refusal)
        }
    }
}

/// The service of one connection.
pub struct Guarded<S: System> {
    shared: Arc<Shared<S>>,
    inner: S::Service,
    counters: Arc<Counters>,
    draining: Draining,
}

impl<S: System> Guarded<S> {
    pub fn new(shared: Arc<Shared<S>>, worker: usize, draining: Draining) -> Guarded<S> {
        Guarded {
            inner: shared.system.service(worker),
            counters: shared.counters.of_worker(worker),
            shared,
            draining,
        }
    }

    /// Responds to requests that the system itself does not need to handle.
    fn immediate_response(&self, request: &Request<Incoming>) -> Option<Response<Bytes>> {
        let reading = matches!(*request.method(), Method::GET | Method::HEAD);
        match request.uri().path() {
            "/healthz" if reading => Some(self.health()),
            "/metrics" if reading => {
                let mut text = Exposition::default();
                text.connections(&self.shared.counters);
                text.requests(&self.shared.counters);
                self.shared.system.metrics(&mut text);
                Some(page(StatusCode::OK, PROMETHEUS, text.into_text().into()))
            }
            _ => self
                .shared
                .refusal(request, &self.counters)
                .map(|refusal| self.shared.refuse(refusal, request)),
        }
    }

    fn health(&self) -> Response<Bytes> {
        let unfit = |text: String| page(StatusCode::SERVICE_UNAVAILABLE, TEXT, text.into());
        if self.draining.has_begun() {
            return unfit("draining\n".to_owned());
        }
        match self.shared.system.health() {
            Ok(()) => page(StatusCode::OK, TEXT, Bytes::from_static(b"ok\n")),
            Err(reason) => unfit(format!("{reason}\n")),
        }
    }
}

impl<S: System> Service<Request<Incoming>> for Guarded<S> {
    type Response = Response<Either<Full<Bytes>, S::Body>>;
    type Error = <S::Service as Service<Request<Incoming>>>::Error;
    type Future = ResponseFuture<<S::Service as Service<Request<Incoming>>>::Future>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        if let Some(response) = self.immediate_response(&request) {
            return ResponseFuture::Immediate {
                response: Some(response),
            };
        }
        count(&self.counters.started);
        ResponseFuture::Pending {
            done: Done(self.counters.clone()),
            future: self.inner.call(request),
        }
    }
}

/// Counts a request as done, even if its connection breaks.
pub struct Done(Arc<Counters>);

impl Drop for Done {
    fn drop(&mut self) {
        count(&self.0.done);
    }
}

pin_project! {
    /// A future response.
    #[project = Projected]
    pub enum ResponseFuture<F> {
        Immediate { response: Option<Response<Bytes>> },
        Pending { #[pin] future: F, done: Done },
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>,
{
    type Output = Result<Response<Either<Full<Bytes>, B>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Projected::Immediate { response } => {
                let response = response.take().unwrap_or_default();
                Poll::Ready(Ok(response.map(|body| Either::Left(Full::new(body)))))
            }
            Projected::Pending { future, .. } => future
                .poll(context)
                .map_ok(|response| response.map(Either::Right)),
        }
    }
}
