//! InfluxDB 1.

use std::ops::{Deref, DerefMut};
use std::process::Command;

use rustix::process::Signal;

use crate::http;
use crate::program;
use crate::server::Server;

/// A private InfluxDB.
pub struct InfluxDb(Server);

impl InfluxDb {
    pub fn start() -> InfluxDb {
        let program = program::find("influxd", &["/usr/bin", "/usr/sbin"], "influxdb");
        InfluxDb(Server::start(
            "influxdb",
            |_| {},
            move |directory, port| {
                let mut command = Command::new(&program);
                command
                    .args(["-config", "/dev/null"])
                    .env("INFLUXDB_META_DIR", directory.join("meta"))
                    .env("INFLUXDB_DATA_DIR", directory.join("data"))
                    .env("INFLUXDB_DATA_WAL_DIR", directory.join("wal"))
                    .env("INFLUXDB_HTTP_BIND_ADDRESS", format!("127.0.0.1:{port}"))
                    // The port for backups, which no test uses.
                    .env("INFLUXDB_BIND_ADDRESS", "127.0.0.1:0")
                    .env("INFLUXDB_REPORTING_DISABLED", "true")
                    .env("INFLUXDB_MONITOR_STORE_ENABLED", "false");
                command
            },
            |address| http::get(address, "/ping").is_ok_and(|(status, _)| status == 204),
            [Signal::TERM, Signal::KILL],
        ))
    }

    /// The server's URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// The result of a statement, as a JSON document.
    ///
    /// # Panics
    /// If the server does not respond.
    pub fn query(&self, database: &str, statement: &str) -> String {
        let path = format!(
            "/query?db={}&q={}",
            http::percent_encoded(database),
            http::percent_encoded(statement)
        );
        http::get(self.address(), &path)
            .unwrap_or_else(|error| panic!("{statement}: {error}"))
            .1
    }
}

impl Deref for InfluxDb {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl DerefMut for InfluxDb {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.0
    }
}
