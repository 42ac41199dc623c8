//! The interface of a system with one port.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use hyper::{Request, Response};

use crate::connection::{Protocol, Server};
use crate::counters::Exposition;
use crate::ground::{self, Ground, Places};
use crate::guard::{self, Guarded, Shared};
use crate::limits::Limits;
use crate::listeners::bind;

/// A system with one port.
pub trait System: Send + Sync + 'static {
    /// Handles the requests of one connection.
    type Service: Service<Request<Incoming>, Response = Response<Self::Body>, Error: Send, Future: Send>
        + Send
        + Sync
        + 'static;
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    /// The service for a connection on a worker (0 for the first).
    fn service(&self, worker: usize) -> Self::Service;

    /// Whether it can serve, for `/healthz`; an error contains the reason. It must be cheap.
    fn health(&self) -> Result<(), String> {
        Ok(())
    }

    /// Adds the system's own metrics to `/metrics`.
    fn metrics(&self, _text: &mut Exposition) {}

    /// The response to a request that is rejected: 503 when too many are in progress,
    /// 413 when its body is too large. For gRPC, the code in the response headers counts.
    fn refuse(&self, refusal: guard::Refusal) -> Response<Bytes> {
        refusal.plain()
    }

    /// Called after the last response, before the program ends.
    fn ended(&self) -> impl Future<Output = ()> {
        async {}
    }
}

/// Runs a system on one port that accepts HTTP/1.1 and HTTP/2 by prior knowledge, until
/// a signal stops it. `start` creates it, once the port is known to be free.
pub fn run<S: System>(
    name: &'static str,
    listen: SocketAddr,
    limits: &Limits,
    start: impl AsyncFnOnce(&Ground) -> Result<S, String>,
) -> Result<(), String>
where
    <S::Service as Service<Request<Incoming>>>::Error: Into<Box<dyn Error + Send + Sync>>,
{
    ground::run(limits, async |ground| {
        let listener = bind(listen.ip(), listen.port(), "--listen")?;
        let address = listener
            .local_addr()
            .map_err(|error| format!("the listener has no address: {error}"))?;
        ground.is_at(address);
        let system = Arc::new(start(ground).await?);
        let server = Arc::new(Server::new(Protocol::Auto, None, limits.idle()));
        let shared = Arc::new(Shared::new(system.clone(), ground.counters(), limits));
        ground.open(listener, move |stream, worker, draining| {
            let service = Guarded::new(shared.clone(), worker, draining.clone());
            server.clone().serve(stream, service, draining)
        });
        let places = Places::of(name).at("url", "http://", address);
        Ok((places, async move { system.ended().await }))
    })
}
