//! Dnsmasq, a DNS server.

use std::net::{SocketAddr, TcpStream};
use std::ops::Deref;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::program;
use crate::server::Server;

/// A private name server that knows only its configured records.
pub struct Dnsmasq(Server);

impl Dnsmasq {
    /// Starts a server with these records, each as an option such as `--host-record=a.test,192.0.2.1`.
    pub fn start(records: &[&str]) -> Dnsmasq {
        let program = program::find("dnsmasq", &["/usr/sbin"], "dnsmasq-base");
        let records: Vec<String> = records.iter().map(|&record| record.to_owned()).collect();
        Dnsmasq(Server::start(
            "dnsmasq",
            |_| {},
            move |_, port| {
                let mut command = Command::new(&program);
                command
                    .args([
                        "--keep-in-foreground",
                        "--conf-file=/dev/null",
                        "--pid-file=",
                    ])
                    .args(["--no-resolv", "--no-hosts", "--bind-interfaces"])
                    .args([
                        "--listen-address=127.0.0.1",
                        "--local=/test/",
                        "--user=",
                        "--group=",
                    ])
                    .arg(format!("--port={port}"))
                    .args(&records);
                command
            },
            |address: SocketAddr| {
                TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
            },
            [Signal::TERM; 2],
        ))
    }
}

impl Deref for Dnsmasq {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}
