//! The gRPC service `helloworld.Greeter`, which `proto/greeter.proto` describes.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_serving::counters::count;
use tonic::{Request, Response, Status};

use super::counters::Counters;

#[allow(clippy::all)]
mod described {
    tonic::include_proto!("helloworld");
}

use described::greeter_server::{self, GreeterServer};
use described::{HelloReply, HelloRequest, PushReply, PushRequest, SlowReply, SlowRequest};

/// Maximum size of a message.
const MAX_MESSAGE: usize = 16 << 20;

/// Maximum wait that a client can request, in milliseconds.
const MAX_WAIT: u32 = 60_000;

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 4096;

/// The service for one connection.
pub fn service(counters: Arc<Counters>) -> GreeterServer<Greeter> {
    GreeterServer::new(Greeter { counters }).max_decoding_message_size(MAX_MESSAGE)
}

pub struct Greeter {
    counters: Arc<Counters>,
}

#[tonic::async_trait]
impl greeter_server::Greeter for Greeter {
    async fn say_hello(
        &self,
        request: Request<HelloRequest>,
    ) -> Result<Response<HelloReply>, Status> {
        count(&self.counters.calls);
        let name = request.into_inner().name;
        if name.len() > MAX_NAME {
            return Err(Status::invalid_argument(format!(
                "name: {} bytes, at most {MAX_NAME}",
                name.len()
            )));
        }
        Ok(Response::new(HelloReply {
            message: format!("Hello {name}"),
        }))
    }

    async fn slow(&self, request: Request<SlowRequest>) -> Result<Response<SlowReply>, Status> {
        count(&self.counters.calls);
        let ms = request.into_inner().ms;
        if ms > MAX_WAIT {
            return Err(Status::invalid_argument(format!(
                "ms: {ms}, at most {MAX_WAIT}"
            )));
        }
        tokio::time::sleep(Duration::from_millis(ms.into())).await;
        Ok(Response::new(SlowReply {
            message: format!("waited {ms} ms"),
        }))
    }

    async fn push(&self, request: Request<PushRequest>) -> Result<Response<PushReply>, Status> {
        count(&self.counters.calls);
        let received = request.into_inner().data.len();
        Ok(Response::new(PushReply {
            message: format!("{received} bytes received"),
        }))
    }
}
