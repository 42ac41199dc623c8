//! The methods, independent of the protocol.

use std::sync::Arc;

use super::cursor;
use crate::failure::Failure;
use crate::messages::{
    CheckRequest, CheckResponse, DeleteRequest, DeleteResponse, ListRequest, ListResponse,
    ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};
use crate::model::Model;
use crate::store::Store;
use crate::tuple;

/// The default and maximum number of tuples in a page.
const PAGE: u32 = 100;
const MAX_PAGE: u32 = 1000;

/// The state that all workers share.
pub struct Shared {
    pub model: Arc<Model>,
    pub store: Store,
}

/// The methods, for one worker.
#[derive(Clone)]
pub struct Methods {
    shared: Arc<Shared>,
    worker: usize,
}

impl Methods {
    pub fn new(shared: Arc<Shared>, worker: usize) -> Methods {
        Methods { shared, worker }
    }

    pub async fn write(&self, request: WriteRequest) -> Result<WriteResponse, Failure> {
        let tuple = tuple::check_to_store(&self.shared.model, request.tuple)?;
        self.shared.store.write(tuple).await?;
        Ok(WriteResponse {})
    }

    pub async fn delete(&self, request: DeleteRequest) -> Result<DeleteResponse, Failure> {
        let (tuple, _) = tuple::check(&self.shared.model, request.tuple)?;
        self.shared.store.delete(tuple).await?;
        Ok(DeleteResponse {})
    }

    pub async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let (tuple, _) = tuple::check(&self.shared.model, request.tuple)?;
        let uuid = self.shared.store.read(self.worker, &tuple).await?;
        Ok(ReadResponse { uuid })
    }

    pub async fn list(&self, request: ListRequest) -> Result<ListResponse, Failure> {
        let filter = tuple::check_filter(request.filter)?;
        let pagination = request.pagination.unwrap_or_default();
        let limit = match pagination.limit {
            0 => PAGE,
            limit if limit <= MAX_PAGE => limit,
            limit => {
                return Err(Failure::Invalid(format!(
                    "pagination.limit: {limit}, at most {MAX_PAGE}"
                )));
            }
        };
        let after = cursor::read(&pagination.cursor)?;
        let page = self
            .shared
            .store
            .list(filter, after, limit as usize)
            .await?;
        Ok(ListResponse {
            cursor: page.more_after.map(cursor::write).unwrap_or_default(),
            tuples: page.tuples,
        })
    }

    pub async fn check(&self, request: CheckRequest) -> Result<CheckResponse, Failure> {
        let (tuple, relation) = tuple::check(&self.shared.model, request.tuple)?;
        let result = self
            .shared
            .store
            .check(self.worker, relation, &tuple)
            .await?;
        Ok(CheckResponse { result })
    }
}
