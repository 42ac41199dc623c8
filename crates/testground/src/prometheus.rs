//! Prometheus, which accepts remote writes and stores native histograms.

use std::fs;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::process::Command;

use rustix::process::Signal;

use crate::http;
use crate::program;
use crate::server::Server;

/// A private Prometheus.
pub struct Prometheus(Server);

impl Prometheus {
    /// Starts a server that scrapes nothing.
    pub fn start() -> Prometheus {
        Prometheus::with("global: {}\n".to_owned())
    }

    /// Starts a server that scrapes `/metrics` at an address four times per second.
    pub fn scraping(address: SocketAddr) -> Prometheus {
        Prometheus::with(format!(
            "scrape_configs:\n- job_name: plimsoll\n  scrape_interval: 250ms\n  scrape_timeout: 250ms\n  \
             static_configs: [{{ targets: ['{address}'] }}]\n"
        ))
    }

    fn with(settings: String) -> Prometheus {
        let program = program::find("prometheus", &["/usr/bin"], "prometheus");
        Prometheus(Server::start(
            "prometheus",
            |directory| {
                fs::write(directory.join("prometheus.yml"), settings)
                    .expect("cannot write to the server's directory");
            },
            move |directory, port| {
                let mut command = Command::new(&program);
                command
                    .arg("--config.file=prometheus.yml")
                    .arg(format!("--storage.tsdb.path={}/data", directory.display()))
                    .arg(format!("--web.listen-address=127.0.0.1:{port}"))
                    .arg("--web.enable-remote-write-receiver")
                    .arg("--enable-feature=native-histograms");
                command
            },
            |address| http::get(address, "/-/ready").is_ok_and(|(status, _)| status == 200),
            [Signal::TERM, Signal::KILL],
        ))
    }

    /// The URL for remote writes.
    pub fn write_url(&self) -> String {
        format!("http://{}/api/v1/write", self.address())
    }

    /// The current result of a query, as a JSON document.
    ///
    /// # Panics
    /// If the server does not respond.
    pub fn query(&self, query: &str) -> String {
        let path = format!("/api/v1/query?query={}", http::percent_encoded(query));
        http::get(self.address(), &path)
            .unwrap_or_else(|error| panic!("{query}: {error}"))
            .1
    }
}

impl Deref for Prometheus {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl DerefMut for Prometheus {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.0
    }
}
