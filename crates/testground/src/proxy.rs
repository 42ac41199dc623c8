//! Proxies and web servers with a configuration file: nginx, HAProxy and Caddy.

use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::program;
use crate::server::{Server, listens};

/// The type of proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Nginx,
    Haproxy,
    Caddy,
}

impl Kind {
    fn program(self) -> PathBuf {
        match self {
            Kind::Nginx => program::find("nginx", &["/usr/sbin"], "nginx-light"),
            Kind::Haproxy => program::find("haproxy", &["/usr/sbin"], "haproxy"),
            Kind::Caddy => program::find("caddy", &["/usr/bin"], "caddy"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Nginx => "nginx",
            Kind::Haproxy => "haproxy",
            Kind::Caddy => "caddy",
        }
    }
}

/// A private proxy.
pub struct Proxy(Server);

impl Proxy {
    /// Starts a proxy. `configuration` returns its configuration for a directory and a port to listen
    /// on. The directory is also the working directory and nginx's prefix.
    pub fn start(
        kind: Kind,
        configuration: impl Fn(&Path, u16) -> String + Send + Sync + 'static,
    ) -> Proxy {
        let program = kind.program();
        Proxy(Server::start(
            kind.name(),
            |_| {},
            move |directory, port| {
                let file = directory.join("configuration");
                fs::write(&file, configuration(directory, port))
                    .expect("cannot write to the server's directory");
                let mut command = Command::new(&program);
                match kind {
                    Kind::Nginx => command
                        .arg("-p")
                        .arg(directory)
                        .arg("-c")
                        .arg(&file)
                        .args(["-e", "stderr", "-g"])
                        .arg(format!("daemon off; pid {}/pid;", directory.display())),
                    Kind::Haproxy => command.arg("-db").arg("-f").arg(&file),
                    Kind::Caddy => command
                        .args(["run", "--adapter", "caddyfile", "--config"])
                        .arg(&file)
                        // Caddy stores certificates and its last configuration in its home directory.
                        .env("HOME", directory)
                        .env("XDG_DATA_HOME", directory)
                        .env("XDG_CONFIG_HOME", directory),
                };
                command
            },
            listens,
            [Signal::TERM; 2],
        ))
    }

    /// Checks that nginx has Lua, for tests that need it.
    pub fn require_lua() {
        program::require(
            "/usr/lib/nginx/modules/ngx_http_lua_module.so",
            "libnginx-mod-http-lua",
        );
    }
}

impl Deref for Proxy {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl DerefMut for Proxy {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.0
    }
}
