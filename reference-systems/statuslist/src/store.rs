//! Storage of lists. Every store guarantees:
//!
//! * A block of positions is reserved durably, and only once, before any index of it is
//!   issued; a crash may lose a block, but nothing else.
//! * A status is durable when [`Store::set`] returns, and setting one changes no other,
//!   even if many are set concurrently.
//! * Reads are consistent: they show the state at one moment after the read began.

mod postgres;
mod redis;
mod sqlite;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use plimsoll_serving::secret::masked;
use uuid::Uuid;

use crate::pools::Shape;
use crate::shuffle::Seed;

pub use redis::Durability;

/// Why an operation of the store failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The store is unreachable or failing. It is unknown whether a change was made.
    Unavailable(String),
    /// Too many operations are waiting.
    Overloaded,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unavailable(reason) => out.write_str(reason),
            Failure::Overloaded => out.write_str("too much waits for the store"),
        }
    }
}

pub type Outcome<T> = Result<T, Failure>;

/// A list to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewList {
    pub id: Uuid,
    pub pool: String,
    pub shape: Shape,
    pub seed: Seed,
}

/// Positions of a list that are reserved exclusively.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub list: Uuid,
    pub seed: Seed,
    pub start: u32,
    pub count: u32,
}

/// Properties of a list that never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub pool: String,
    pub shape: Shape,
}

/// The address of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Sqlite(PathBuf),
    Redis(String),
    Postgres(String),
}

impl Address {
    /// Parses `sqlite:FILE`, `redis://…`, or `postgres://…`.
    pub fn parse(text: &str) -> Result<Address, String> {
        let scheme = text.split(':').next().unwrap_or_default();
        match scheme {
            "sqlite" => match text.trim_start_matches("sqlite:") {
                "" => Err("it names no file; write sqlite:FILE".to_owned()),
                file => Ok(Address::Sqlite(file.trim_start_matches("//").into())),
            },
            "redis" => Ok(Address::Redis(text.to_owned())),
            "postgres" | "postgresql" => Ok(Address::Postgres(text.to_owned())),
            "rediss" => Err("Redis over TLS is not supported; use redis://…".to_owned()),
            _ => Err(format!(
                "'{}' is not a store; write sqlite:FILE, redis://HOST:PORT/DB or postgres://USER@HOST:PORT/DB",
                masked(text)
            )),
        }
    }
}

impl fmt::Display for Address {
    /// Shows no password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Sqlite(file) => write!(out, "sqlite:{}", file.display()),
            Address::Redis(url) | Address::Postgres(url) => out.write_str(&masked(url)),
        }
    }
}

/// An open store.
pub enum Store {
    Sqlite(sqlite::Sqlite),
    Redis(redis::Redis),
    Postgres(postgres::Postgres),
}

/// Time limit of an operation, so that requests do not wait for a store that hangs.
const PATIENCE: Duration = Duration::from_secs(6);

/// Calls the same method of the active store.
macro_rules! each {
    ($store:expr, $name:ident => $call:expr) => {
        match $store {
            Store::Sqlite($name) => within_patience($call).await,
            Store::Redis($name) => within_patience($call).await,
            Store::Postgres($name) => within_patience($call).await,
        }
    };
}

async fn within_patience<T>(call: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    tokio::time::timeout(PATIENCE, call)
        .await
        .unwrap_or_else(|_| {
            Err(Failure::Unavailable(format!(
                "the store did not respond within {PATIENCE:?}"
            )))
        })
}

impl Store {
    /// Opens the store and creates what it needs. The error names the fix.
    pub async fn open(
        address: &Address,
        connections: usize,
        durability: Durability,
    ) -> Result<Store, String> {
        match address {
            Address::Sqlite(file) => sqlite::Sqlite::open(file).map(Store::Sqlite),
            Address::Redis(url) => redis::Redis::open(url, durability).await.map(Store::Redis),
            Address::Postgres(url) => postgres::Postgres::open(url, connections)
                .await
                .map(Store::Postgres),
        }
        .map_err(|reason| format!("cannot open the store {address}: {reason}"))
    }

    /// Creates a list with all statuses 0 and nothing reserved.
    pub async fn create(&self, list: &NewList) -> Outcome<()> {
        each!(self, store => store.create(list))
    }

    /// Reserves at most `want` positions of the pool's oldest list of that shape with free
    /// positions. `None` if there is no such list.
    pub async fn reserve(&self, pool: &str, shape: Shape, want: u32) -> Outcome<Option<Block>> {
        each!(self, store => store.reserve(pool, shape, want))
    }

    /// Number of the pool's lists of that shape with nothing reserved.
    pub async fn untouched(&self, pool: &str, shape: Shape) -> Outcome<u32> {
        each!(self, store => store.untouched(pool, shape))
    }

    /// The properties of a list. `None` if it does not exist.
    pub async fn facts(&self, list: Uuid) -> Outcome<Option<Facts>> {
        each!(self, store => store.facts(list))
    }

    /// Sets a status; index and value must be valid for that shape. Returns false if the list does
    /// not exist.
    pub async fn set(&self, list: Uuid, shape: Shape, index: u32, value: u8) -> Outcome<bool> {
        each!(self, store => store.set(list, shape, index, value))
    }

    /// The packed statuses of a list. `None` if it does not exist.
    pub async fn statuses(&self, list: Uuid) -> Outcome<Option<Vec<u8>>> {
        each!(self, store => store.statuses(list))
    }

    /// The lists of a pool with reserved positions, oldest first, at most `most`.
    pub async fn issued(&self, pool: &str, most: u32) -> Outcome<Vec<Uuid>> {
        each!(self, store => store.issued(pool, most))
    }

    /// Checks whether the store is reachable.
    pub async fn reachable(&self) -> Outcome<()> {
        each!(self, store => store.reachable())
    }
}

#[cfg(test)]
mod tests;
