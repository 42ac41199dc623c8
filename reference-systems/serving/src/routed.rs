//! A system whose responses come from an axum router.

use std::convert::Infallible;
use std::pin::Pin;

use axum::Router;
use axum::body::Body;
use axum::routing::future::RouteFuture;
use bytes::Bytes;
use http_body_util::Limited;
use hyper::body::Incoming;
use hyper::service::Service as HyperService;
use hyper::{Request, Response};
use tower_service::Service as TowerService;

use crate::counters::Exposition;
use crate::guard::Refusal;
use crate::limits::Limits;
use crate::system::System;

type Hook<T> = Box<dyn Fn() -> T + Send + Sync>;
type Metrics = Box<dyn Fn(&mut Exposition) + Send + Sync>;

/// An axum router as a [`System`], with optional extensions.
pub struct Routed {
    router: Router,
    max_body: u64,
    health: Option<Hook<Result<(), String>>>,
    metrics: Option<Metrics>,
    refuse: Option<fn(Refusal) -> Response<Bytes>>,
    ended: Option<Hook<Pin<Box<dyn Future<Output = ()>>>>>,
}

impl Routed {
    /// A system with these routes. Bodies above the limit fail with an error, even without a
    /// length.
    pub fn new(router: Router, limits: &Limits) -> Routed {
        Routed {
            router,
            max_body: limits.max_body,
            health: None,
            metrics: None,
            refuse: None,
            ended: None,
        }
    }

    /// Uses `health` for `/healthz`.
    pub fn health(
        mut self,
        health: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.health = Some(Box::new(health));
        self
    }

    /// Adds metrics to `/metrics`.
    pub fn metrics(mut self, metrics: impl Fn(&mut Exposition) + Send + Sync + 'static) -> Self {
        self.metrics = Some(Box::new(metrics));
        self
    }

    /// Formats responses to rejected requests in the system's own format.
    pub fn refuse(mut self, refuse: fn(Refusal) -> Response<Bytes>) -> Self {
        self.refuse = Some(refuse);
        self
    }

    /// Runs `ended` after the last response.
    pub fn ended<F>(mut self, ended: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + 'static,
    {
        self.ended = Some(Box::new(move || Box::pin(ended())));
        self
    }
}

impl System for Routed {
    type Service = Routes;
    type Body = Body;

    fn service(&self, _worker: usize) -> Routes {
        Routes {
            router: self.router.clone(),
            max_body: usize::try_from(self.max_body).unwrap_or(usize::MAX),
        }
    }

    fn health(&self) -> Result<(), String> {
        self.health.as_ref().map_or(Ok(()), |health| health())
    }

    fn metrics(&self, text: &mut Exposition) {
        if let Some(metrics) = &self.metrics {
            metrics(text);
        }
    }

    fn refuse(&self, refusal: Refusal) -> Response<Bytes> {
        self.refuse.unwrap_or(Refusal::plain)(refusal)
    }

    async fn ended(&self) {
        if let Some(ended) = &self.ended {
            ended().await;
        }
    }
}

/// The routes, for one connection.
pub struct Routes {
    router: Router,
    max_body: usize,
}

impl HyperService<Request<Incoming>> for Routes {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let request = request.map(|body| Body::new(Limited::new(body, self.max_body)));
        // A router is always ready.
        self.router.clone().call(request)
    }
}
