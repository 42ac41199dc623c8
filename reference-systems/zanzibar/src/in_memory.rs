//! An entry point for fuzz targets, which reads requests without a socket and without a store. Only fuzz targets may use it.

use prost::Message;

use crate::messages::{CheckRequest, ListRequest};
use crate::model::{self, Model};
use crate::service::{cursor, json};
use crate::tuple;

/// The embedded model, which requests are checked against.
pub struct Requests(Model);

impl Requests {
    /// Loads the embedded model.
    ///
    /// # Errors
    /// If the embedded model is invalid.
    pub fn new() -> Result<Requests, String> {
        Model::read("the default model", model::DEFAULT).map(Requests)
    }

    /// Reads `body` as a Check and as a List request, in JSON and in binary. Returns how many are accepted.
    pub fn count_accepted(&self, body: &[u8]) -> usize {
        let checks = [
            json::read::<CheckRequest>(body).ok(),
            CheckRequest::decode(body).ok(),
        ];
        let lists = [
            json::read::<ListRequest>(body).ok(),
            ListRequest::decode(body).ok(),
        ];
        let checks = checks.into_iter().flatten().filter(|request| {
            let stored = tuple::check_to_store(&self.0, request.tuple.clone());
            tuple::check(&self.0, request.tuple.clone()).is_ok() || stored.is_ok()
        });
        let lists = lists.into_iter().flatten().filter(|request| {
            let page = request.pagination.clone().unwrap_or_default();
            tuple::check_filter(request.filter.clone()).is_ok()
                && cursor::read(&page.cursor).is_ok()
        });
        checks.count() + lists.count()
    }
}
