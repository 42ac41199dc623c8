//! Redis 7, with or without its append-only file.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::{Deref, DerefMut};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::account::write_private;
use crate::program;
use crate::server::{Server, listens};

/// When Redis writes its append-only file to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Append {
    /// Never: data that exists only in memory is lost in a crash.
    Never,
    Always,
    EverySecond,
}

/// A private Redis.
pub struct Redis(Server);

impl Redis {
    pub fn start(append: Append) -> Redis {
        let program = program::find("redis-server", &["/usr/bin"], "redis-server");
        Redis(Server::start(
            "redis",
            |_| {},
            move |directory, port| {
                let (on, sync) = match append {
                    Append::Never => ("no", "everysec"),
                    Append::Always => ("yes", "always"),
                    Append::EverySecond => ("yes", "everysec"),
                };
                let mut command = Command::new(&program);
                command
                    .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
                    .arg("--dir")
                    .arg(directory)
                    .args(["--save", "", "--appendonly", on, "--appendfsync", sync]);
                command
            },
            responds,
            [Signal::TERM; 2],
        ))
    }

    /// Starts a server that accepts only TLS, with this certificate and this key, as PEM.
    pub fn start_with_tls(certificate: &str, key: &str) -> Redis {
        let program = program::find("redis-server", &["/usr/bin"], "redis-server");
        Redis(Server::start(
            "redis",
            |directory| {
                write_private(None, &directory.join("tls.pem"), certificate);
                write_private(None, &directory.join("tls.key"), key);
            },
            move |directory, port| {
                let mut command = Command::new(&program);
                command
                    .args(["--bind", "127.0.0.1", "--port", "0"])
                    .args(["--tls-port", &port.to_string(), "--tls-auth-clients", "no"])
                    .args(["--tls-cert-file", "tls.pem", "--tls-key-file", "tls.key"])
                    .arg("--dir")
                    .arg(directory)
                    .args(["--save", ""]);
                command
            },
            listens,
            [Signal::TERM; 2],
        ))
    }

    /// The server's address: `redis://127.0.0.1:PORT/0`.
    pub fn url(&self) -> String {
        format!("redis://{}/0", self.address())
    }
}

/// Whether the server has loaded its data and is our own instance: another program on the port
/// would not respond like this.
fn responds(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(b"PING\r\n")?;
        let mut response = [0; 7];
        stream.read_exact(&mut response)?;
        Ok(&response == b"+PONG\r\n")
    };
    ask().unwrap_or(false)
}

impl Deref for Redis {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl DerefMut for Redis {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.0
    }
}
