//! The gateway's own port: `/healthz` and `/metrics`, which clients of upstreams must not see.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::Service;
use hyper::{Method, Request, Response, StatusCode};
use plimsoll_serving::counters::{Counters, Exposition};
use plimsoll_serving::drain::Draining;
use tokio::sync::watch;

use crate::gateway::Gateway;
use crate::reload::Listening;

#[derive(Clone)]
pub struct Admin {
    pub gateway: Arc<Gateway>,
    pub listening: watch::Receiver<Vec<Listening>>,
    pub draining: Draining,
}

impl Admin {
    fn answer(&self, method: &Method, path: &str) -> Response<Full<Bytes>> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return page(
                StatusCode::METHOD_NOT_ALLOWED,
                "text/plain",
                "only GET and HEAD are supported here\n".into(),
            );
        }
        match path {
            "/healthz" if self.draining.has_begun() => page(
                StatusCode::SERVICE_UNAVAILABLE,
                "text/plain",
                "draining\n".into(),
            ),
            "/healthz" => page(StatusCode::OK, "text/plain", "ok\n".into()),
            "/metrics" => page(StatusCode::OK, "text/plain; version=0.0.4", self.metrics()),
            _ => page(
                StatusCode::NOT_FOUND,
                "text/plain",
                "try /healthz or /metrics\n".into(),
            ),
        }
    }

    fn metrics(&self) -> String {
        let mut text = Exposition::default();
        let listening = self.listening.borrow().clone();
        let sum = |read: fn(&Counters) -> u64| {
            let entries = listening.iter();
            entries.map(|entry| entry.counters.sum(read)).sum::<u64>()
        };
        let mut put = |name: &str, help: &str, read: fn(&Counters) -> u64| {
            text.metric(
                &format!("plimsoll_serve_connections_{name}"),
                help,
                sum(read),
            );
        };
        put("total", "Connections taken up.", |c| c.opened.load(Relaxed));
        put("open", "Connections open now.", Counters::open);
        let help = "Connections closed at once: too many were open.";
        put("rejected_total", help, |c| c.rejected.load(Relaxed));
        let help = "Connections that ended in an error.";
        put("broken_total", help, |c| c.broken.load(Relaxed));
        self.gateway.metrics(&mut text);
        text.into_text()
    }
}

fn page(status: StatusCode, kind: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

impl Service<Request<Incoming>> for Admin {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        ready(Ok(self.answer(request.method(), request.uri().path())))
    }
}
