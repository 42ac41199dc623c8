//! Real servers for tests: PostgreSQL, MariaDB, Redis, Mosquitto, dnsmasq, OpenSSL, proxies, and receivers of samples,
//! each in a private directory and on a free port of 127.0.0.1, as an ordinary user if the server refuses root.
//!
//! Each can be killed with SIGKILL and restarted on the same data. All servers and their
//! directories are removed when they are dropped, and when the test's process ends without
//! dropping them, as with one in a `static` for many tests.
//!
//! If a server is not installed, the test fails with the name of its Debian package; nothing is
//! skipped. Unrecoverable errors panic: this crate is only for tests.

mod account;
mod dnsmasq;
mod http;
mod influxdb;
mod mariadb;
mod mosquitto;
mod postgres;
mod program;
mod prometheus;
mod proxy;
mod redis;
mod secure_echo;
mod server;

pub use dnsmasq::Dnsmasq;
pub use influxdb::InfluxDb;
pub use mariadb::MariaDb;
pub use mosquitto::Mosquitto;
pub use postgres::Postgres;
pub use prometheus::Prometheus;
pub use proxy::{Kind, Proxy};
pub use redis::{Append, Redis};
pub use secure_echo::SecureEcho;
pub use server::Server;
