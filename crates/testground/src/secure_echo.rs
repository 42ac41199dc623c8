//! OpenSSL's test server, which returns every line reversed.

use std::fs;
use std::ops::Deref;
use std::process::Command;

use rustix::process::Signal;

use crate::program;
use crate::server::{Server, listens};

/// A server that uses TLS.
pub struct SecureEcho(Server);

impl SecureEcho {
    /// Starts a server with a certificate and its key, as PEM.
    pub fn start(certificate: &str, key: &str) -> SecureEcho {
        let openssl = program::find("openssl", &[], "openssl");
        SecureEcho(Server::start(
            "openssl",
            |directory| {
                let write = |name: &str, text: &str| {
                    fs::write(directory.join(name), text).expect("cannot write the file");
                };
                write("tls.pem", certificate);
                write("tls.key", key);
            },
            move |directory, port| {
                let mut command = Command::new(&openssl);
                command
                    .args(["s_server", "-rev", "-quiet"])
                    .args(["-accept", &format!("127.0.0.1:{port}")])
                    .arg("-cert")
                    .arg(directory.join("tls.pem"))
                    .arg("-key")
                    .arg(directory.join("tls.key"));
                command
            },
            listens,
            [Signal::TERM; 2],
        ))
    }
}

impl Deref for SecureEcho {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}
