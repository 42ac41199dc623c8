//! Real servers for tests: PostgreSQL, MariaDB, Redis, Mosquitto, dnsmasq, OpenSSL, proxies, and
//! receivers of samples. Each has a private directory and a free port of 127.0.0.1, and runs as an
//! ordinary user if it refuses to run as root.
//!
//! A test can kill each server with SIGKILL and restart it on the same data. Dropping a server
//! stops it and removes its directory. This also happens when the test process exits without
//! dropping it, for example if the server is in a `static`.
//!
//! If a server is not installed, the test fails and names the server's Debian package. No test is
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
