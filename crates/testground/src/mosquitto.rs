//! Eclipse Mosquitto, an MQTT broker.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::ops::Deref;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::program;
use crate::server::Server;

/// A private broker that stores nothing on disk.
pub struct Mosquitto(Server);

impl Mosquitto {
    /// Starts a broker with additional configuration lines, such as `allow_anonymous true`.
    pub fn start(settings: &str) -> Mosquitto {
        let program = program::find("mosquitto", &["/usr/sbin"], "mosquitto");
        let settings = settings.to_owned();
        Mosquitto(Server::start(
            "mosquitto",
            |_| {},
            move |directory, port| {
                let file = directory.join("mosquitto.conf");
                let text = format!("listener {port} 127.0.0.1\n{settings}\n");
                fs::write(&file, text).expect("cannot write the configuration");
                let mut command = Command::new(&program);
                command.arg("-c").arg(file);
                command
            },
            |address: SocketAddr| {
                TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
            },
            [Signal::TERM; 2],
        ))
    }

    /// The broker's address: `mqtt://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("mqtt://{}", self.address())
    }
}

impl Deref for Mosquitto {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}
