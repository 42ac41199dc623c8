//! Storage of tuples, and checks.
//!
//! A check goes from the object towards the subject, level by level. On each level, it looks up
//! whether one of the objects' tuples names the subject itself, and to which relations of other
//! objects the tuples lead. Level 1 is the requested object; after [`MAX_LEVELS`] levels the result is
//! no. Each relation of an object is looked up once, so that cycles end, and at most [`MAX_NODES`]
//! are looked up.

mod counters;
mod pgfunc;
mod pgquery;
mod postgres;
mod sqlite;
mod sqlite_writer;

use std::path::PathBuf;
use std::sync::Arc;

pub use counters::METRICS;
pub use pgfunc::PgFunc;
pub use pgquery::PgQuery;
pub use postgres::{Postgres, read_address};
pub use sqlite::Sqlite;

use crate::failure::Failure;
use crate::messages::Tuple;
use crate::model::{Model, Relation};

/// Maximum levels of a check.
pub const MAX_LEVELS: usize = 16;

/// Maximum relations of objects that a check looks up.
pub const MAX_NODES: usize = 10_000;

/// The type and location of a store.
#[derive(Debug, Clone)]
pub enum Place {
    /// A file, or `None` for a temporary one.
    Sqlite(Option<PathBuf>),
    PgQuery(tokio_postgres::Config),
    PgFunc(tokio_postgres::Config),
}

/// A store with its implementation of checks.
pub enum Store {
    Sqlite(Sqlite),
    PgQuery(PgQuery),
    PgFunc(PgFunc),
}

/// A page of tuples.
#[derive(Debug, Default, PartialEq)]
pub struct Page {
    pub tuples: Vec<Tuple>,
    /// The number of the last tuple of the page, if more follow.
    pub more_after: Option<i64>,
}

impl Store {
    /// Opens a store and updates its tables. `workers` may read concurrently, and at most
    /// `connections` to a server are kept.
    pub async fn open(
        place: Place,
        model: Arc<Model>,
        workers: usize,
        connections: usize,
    ) -> Result<Store, String> {
        match place {
            Place::Sqlite(path) => Sqlite::open(path, model, workers).map(Store::Sqlite),
            Place::PgQuery(config) => {
                let postgres = Postgres::open(config, connections, workers).await?;
                Ok(Store::PgQuery(PgQuery::new(postgres, model)))
            }
            Place::PgFunc(config) => {
                let postgres = Postgres::open(config, connections, workers).await?;
                PgFunc::open(postgres, &model).await.map(Store::PgFunc)
            }
        }
    }

    /// Whether the subject of `tuple` has `relation`, which is that of `tuple`, to its object.
    /// `worker` is counted from 0.
    pub async fn check(
        &self,
        worker: usize,
        relation: Relation,
        tuple: &Tuple,
    ) -> Result<bool, Failure> {
        match self {
            Store::Sqlite(store) => store.check(worker, relation, tuple),
            Store::PgQuery(store) => store.check(worker, relation, tuple).await,
            Store::PgFunc(store) => store.check(worker, relation, tuple).await,
        }
    }

    /// Stores a tuple, unless it exists.
    pub async fn write(&self, tuple: Tuple) -> Result<(), Failure> {
        match self {
            Store::Sqlite(store) => store.write(tuple).await,
            Store::PgQuery(PgQuery { postgres, .. }) | Store::PgFunc(PgFunc { postgres, .. }) => {
                postgres.write(&tuple).await
            }
        }
    }

    /// Removes a tuple; [`Failure::NotFound`] if there is none.
    pub async fn delete(&self, tuple: Tuple) -> Result<(), Failure> {
        match self {
            Store::Sqlite(store) => store.delete(tuple).await,
            Store::PgQuery(PgQuery { postgres, .. }) | Store::PgFunc(PgFunc { postgres, .. }) => {
                postgres.delete(&tuple).await
            }
        }
    }

    /// The identity of a stored tuple.
    pub async fn read(&self, worker: usize, tuple: &Tuple) -> Result<String, Failure> {
        match self {
            Store::Sqlite(store) => store.read(worker, tuple),
            Store::PgQuery(PgQuery { postgres, .. }) | Store::PgFunc(PgFunc { postgres, .. }) => {
                postgres.read(tuple).await
            }
        }
    }

    /// Lists at most `limit` tuples that match the non-empty fields of `filter`, starting after the tuple
    /// with number `after`.
    pub async fn list(&self, filter: Tuple, after: i64, limit: usize) -> Result<Page, Failure> {
        match self {
            Store::Sqlite(store) => store.list(filter, after, limit).await,
            Store::PgQuery(PgQuery { postgres, .. }) | Store::PgFunc(PgFunc { postgres, .. }) => {
                postgres.list(&filter, after, limit).await
            }
        }
    }

    /// Whether the storage was reachable in the last request.
    pub fn health(&self) -> Result<(), String> {
        match self {
            Store::Sqlite(_) => Ok(()),
            Store::PgQuery(PgQuery { postgres, .. }) | Store::PgFunc(PgFunc { postgres, .. }) => {
                postgres.health()
            }
        }
    }

    pub fn counters(&self) -> &counters::AllCounters {
        match self {
            Store::Sqlite(store) => store.counters(),
            Store::PgQuery(PgQuery { postgres, .. }) | Store::PgFunc(PgFunc { postgres, .. }) => {
                postgres.counters()
            }
        }
    }
}

/// The error for a check that became too large.
fn too_many_nodes() -> Failure {
    Failure::TooMuch(format!(
        "the check leads to more than {MAX_NODES} relations of objects"
    ))
}

/// The SQL condition for the non-empty fields of a filter, and its parameters, which are numbered
/// from `first`.
fn conditions(filter: &Tuple, mark: char, first: usize) -> (String, Vec<&String>) {
    let mut sql = String::new();
    let mut values = Vec::new();
    for (field, value) in crate::tuple::fields(filter) {
        if !value.is_empty() {
            let number = first + values.len();
            sql.push_str(&format!(" AND {field} = {mark}{number}"));
            values.push(value);
        }
    }
    (sql, values)
}

/// A page of the results, which were requested with a limit of one more.
fn page(mut found: Vec<(i64, Tuple)>, limit: usize) -> Page {
    let more = found.len() > limit;
    found.truncate(limit);
    Page {
        more_after: found.last().filter(|_| more).map(|(number, _)| *number),
        tuples: found.into_iter().map(|(_, tuple)| tuple).collect(),
    }
}
