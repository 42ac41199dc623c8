//! Real servers for tests: PostgreSQL, Redis, and proxies, each in a private directory
//! and on a free port of 127.0.0.1, as an ordinary user where the server refuses root.
//!
//! Each can be killed with SIGKILL and started again on what it left behind. All are
//! gone, with their directories, when they are dropped, and also when the test's process
//! ends without dropping them, as with one kept in a `static` for many tests.
//!
//! A server that is not installed fails the test with the name of its Debian package;
//! nothing is skipped. What cannot go on panics: this is for tests alone.

mod account;
mod postgres;
mod program;
mod proxy;
mod redis;
mod server;

pub use postgres::Postgres;
pub use proxy::{Kind, Proxy};
pub use redis::{Append, Redis};
pub use server::Server;
