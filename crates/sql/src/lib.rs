//! SQL databases for scripts. A [`Database`] is one connection, opened when it is first used. It knows no JavaScript:
//! values go in and out as [`SqlValue`]s.
//!
//! PostgreSQL and MySQL run on a stream of the run's network, so its settings and limits apply. SQLite, whose calls
//! block, runs on a thread of its own.

mod database;
pub mod mysql;
mod postgres;
mod postgres_value;
mod reach;
mod sqlite;
mod value;

pub use database::{Database, Driver};
pub use reach::Reach;
pub use value::{Changes, Rows, SqlValue};
