//! The network service: gRPC and Connect on one port, distinguished by the content type.

mod connect;
pub mod cursor;
mod grpc;
pub mod json;
mod methods;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::service::Service;
use hyper::{Request, Response};
use plimsoll_serving::counters::Exposition;
use plimsoll_serving::{Refusal, System};
use tower_service::Service as _;

use crate::messages::zanzigo_service_server::ZanzigoServiceServer;
use crate::store::METRICS;
use grpc::Grpc;
pub use methods::{Methods, Shared};

/// The complete system.
pub struct Zanzibar {
    shared: Arc<Shared>,
    max_body: usize,
}

impl Zanzibar {
    /// Bodies of more than `max_body` bytes are rejected.
    pub fn new(shared: Shared, max_body: u64) -> Zanzibar {
        Zanzibar {
            shared: Arc::new(shared),
            max_body: usize::try_from(max_body).unwrap_or(usize::MAX),
        }
    }
}

impl System for Zanzibar {
    type Service = Front;
    type Body = Either<Full<Bytes>, tonic::body::Body>;

    fn service(&self, worker: usize) -> Front {
        let methods = Methods::new(self.shared.clone(), worker);
        Front {
            grpc: ZanzigoServiceServer::new(Grpc(methods.clone()))
                .max_decoding_message_size(self.max_body),
            methods,
            max_body: self.max_body,
        }
    }

    fn health(&self) -> Result<(), String> {
        self.shared.store.health()
    }

    fn metrics(&self, text: &mut Exposition) {
        text.metrics(METRICS, self.shared.store.counters());
    }

    fn refuse(&self, refusal: Refusal) -> Response<Bytes> {
        connect::refuse(refusal)
    }
}

/// Handles the requests of one connection.
pub struct Front {
    grpc: ZanzigoServiceServer<Grpc>,
    methods: Methods,
    max_body: usize,
}

type ServiceResponse = Response<Either<Full<Bytes>, tonic::body::Body>>;

impl Service<Request<Incoming>> for Front {
    type Response = ServiceResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<ServiceResponse, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let kind = request.headers().get(CONTENT_TYPE);
        if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc")) {
            // A clone only counts references: there is one service per connection.
            let response = self.grpc.clone().call(request);
            return Box::pin(async move { Ok(response.await?.map(Either::Right)) });
        }
        let (methods, max_body) = (self.methods.clone(), self.max_body);
        Box::pin(async move {
            let response = connect::respond(&methods, max_body, request).await;
            Ok(response.map(|body| Either::Left(Full::new(body))))
        })
    }
}
