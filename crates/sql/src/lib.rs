//! SQL databases for scripts. A [`Database`] is one connection that is opened when it is first used. It does not depend
//! on JavaScript: its values are [`SqlValue`]s.
//!
//! PostgreSQL and MySQL use a stream of the run's network, so its settings and limits apply. SQLite calls block, so
//! they run on a separate thread.

mod connect_options;
mod database;
pub mod mysql;
mod postgres;
mod postgres_value;
mod sqlite;
mod value;

pub use connect_options::ConnectOptions;
pub use database::{Database, Driver};
pub use value::{Changes, Rows, SqlValue};
