//! Where tuples are kept, and how a check finds its way through them.
//!
//! A check goes from the object towards the subject, level by level. A level is one look
//! at objects: whether one of their tuples names the subject itself, and to which further
//! relations of other objects the others lead. Level 1 is the object that is asked about;
//! after [`DEEPEST`] levels the result is no. A relation of an object is looked at once,
//! so that cycles end, and at most [`MOST_NODES`] are.

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

/// Levels that a check goes, at most.
pub const DEEPEST: usize = 16;

/// Relations of objects that a check looks at, at most.
pub const MOST_NODES: usize = 10_000;

/// Which store, and where.
#[derive(Debug, Clone)]
pub enum Place {
    /// A file, or none for one that is gone at the end.
    Sqlite(Option<PathBuf>),
    PgQuery(tokio_postgres::Config),
    PgFunc(tokio_postgres::Config),
}

/// A store with its way of checking.
pub enum Store {
    Sqlite(Sqlite),
    PgQuery(PgQuery),
    PgFunc(PgFunc),
}

/// A page of tuples.
#[derive(Debug, Default, PartialEq)]
pub struct Page {
    pub tuples: Vec<Tuple>,
    /// The number of the last tuple of the page, if there are more behind it.
    pub more_after: Option<i64>,
}

impl Store {
    /// Opens a store and brings its tables up to date. `workers` may read at once, and
    /// `connections` to a server are kept, at most.
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

    /// Whether the subject of `tuple` has `relation`, which is that of `tuple`, to its
    /// object. Asked by a worker, counted from 0.
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

    /// Stores a tuple; it may be there already.
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

    /// At most `limit` of the tuples whose fields are those of `filter` that are not
    /// empty, from behind the tuple of number `after`.
    pub async fn list(&self, filter: Tuple, after: i64, limit: usize) -> Result<Page, Failure> {
        match self {
            Store::Sqlite(store) => store.list(filter, after, limit).await,
            Store::PgQuery(PgQuery { postgres, .. }) | Store::PgFunc(PgFunc { postgres, .. }) => {
                postgres.list(&filter, after, limit).await
            }
        }
    }

    /// Whether the storage was within reach when it was last asked.
    pub fn health(&self) -> Result<(), String> {
        match self {
            Store::Sqlite(_) => Ok(()),
            Store::PgQuery(PgQuery { postgres, .. }) | Store::PgFunc(PgFunc { postgres, .. }) => {
                postgres.health()
            }
        }
    }

    /// What was counted.
    pub fn counters(&self) -> &counters::AllCounters {
        match self {
            Store::Sqlite(store) => store.counters(),
            Store::PgQuery(PgQuery { postgres, .. }) | Store::PgFunc(PgFunc { postgres, .. }) => {
                postgres.counters()
            }
        }
    }
}

/// What to tell a client whose check grew too large.
fn too_many_nodes() -> Failure {
    Failure::TooMuch(format!(
        "the check leads to more than {MOST_NODES} relations of objects"
    ))
}

/// The condition that fields are equal to parameters, and the parameters, for those
/// fields of a filter that are not empty. Parameters are counted from `first`.
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

/// A page of what was found with a limit of one more.
fn page(mut found: Vec<(i64, Tuple)>, limit: usize) -> Page {
    let more = found.len() > limit;
    found.truncate(limit);
    Page {
        more_after: found.last().filter(|_| more).map(|(number, _)| *number),
        tuples: found.into_iter().map(|(_, tuple)| tuple).collect(),
    }
}
