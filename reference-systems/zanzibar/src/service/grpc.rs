//! The service over gRPC.

use tonic::{Code, Request, Response, Status};

use super::Methods;
use crate::failure::Failure;
use crate::messages::zanzigo_service_server::ZanzigoService;
use crate::messages::{
    CheckRequest, CheckResponse, DeleteRequest, DeleteResponse, ListRequest, ListResponse,
    ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};

pub struct Grpc(pub Methods);

impl From<Failure> for Status {
    fn from(failure: Failure) -> Status {
        let code = match failure {
            Failure::Invalid(_) => Code::InvalidArgument,
            Failure::NotFound => Code::NotFound,
            Failure::TooMuch(_) => Code::ResourceExhausted,
            Failure::Unavailable(_) => Code::Unavailable,
            Failure::Unimplemented(_) => Code::Unimplemented,
            Failure::Internal => Code::Internal,
        };
        Status::new(code, failure.message())
    }
}

type Outcome<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl ZanzigoService for Grpc {
    async fn write(&self, request: Request<WriteRequest>) -> Outcome<WriteResponse> {
        Ok(Response::new(self.0.write(request.into_inner()).await?))
    }

    async fn delete(&self, request: Request<DeleteRequest>) -> Outcome<DeleteResponse> {
        Ok(Response::new(self.0.delete(request.into_inner()).await?))
    }

    async fn read(&self, request: Request<ReadRequest>) -> Outcome<ReadResponse> {
        Ok(Response::new(self.0.read(request.into_inner()).await?))
    }

    async fn list(&self, request: Request<ListRequest>) -> Outcome<ListResponse> {
        Ok(Response::new(self.0.list(request.into_inner()).await?))
    }

    async fn check(&self, request: Request<CheckRequest>) -> Outcome<CheckResponse> {
        Ok(Response::new(self.0.check(request.into_inner()).await?))
    }
}
