//! Flags for connections and TLS, with the same meaning in every command.

use std::path::PathBuf;

use plimsoll_address::IpPool;
use plimsoll_plan::{DnsOptions, Protocol};
use plimsoll_run::settings::IoMode;
use plimsoll_run::{ConnectionOptions, TlsFiles};

/// Options for connections.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionArgs {
    /// Open a new connection for each request
    #[arg(long, visible_alias = "no-connection-reuse", alias = "fresh")]
    pub no_keepalive: bool,
    /// Name resolution: ttl=5m,select=random,policy=preferIPv4
    #[arg(long, value_name = "SETTINGS", value_parser = dns)]
    pub dns: Option<DnsOptions>,
    /// Local addresses to connect from, distributed over users: IP, range or CIDR
    #[arg(long, value_name = "LIST", value_parser = IpPool::parse)]
    pub local_ips: Option<IpPool>,
    /// Connect to this Unix socket instead of the URL's host; @NAME for an abstract socket
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<String>,
    #[command(flatten)]
    pub io: IoArgs,
}

/// The kernel interface.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Connections")]
pub struct IoArgs {
    /// Kernel interface for plain TCP: auto, epoll, uring; TLS, HTTP/3 and Unix sockets always use epoll
    #[arg(long, value_name = "MODE", env = "PLIMSOLL_IO", hide_env_values = true, default_value = "auto", value_parser = IoMode::parse)]
    pub io: IoMode,
}

/// The HTTP version.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Connections")]
pub struct HttpVersionArgs {
    /// HTTP version: auto, http1, http2, h2c, http3
    #[arg(long, value_name = "VERSION", value_parser = Protocol::parse, group = "version")]
    pub protocol: Option<Protocol>,
    /// HTTP/1.1 only
    #[arg(long, group = "version")]
    pub h1: bool,
    /// HTTP/2 over TLS only
    #[arg(long, group = "version")]
    pub h2: bool,
    /// HTTP/2 without TLS, with prior knowledge
    #[arg(long, group = "version")]
    pub h2c: bool,
    /// HTTP/3 only, over QUIC
    #[arg(long, group = "version")]
    pub h3: bool,
}

/// Trusted authorities and client certificates for TLS.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// Accept any certificate
    #[arg(short = 'k', long, visible_alias = "insecure-skip-tls-verify", aliases = ["skip-tls", "skipTLS"])]
    pub insecure: bool,
    /// Trust these authorities too (PEM)
    #[arg(
        long,
        visible_alias = "cacert",
        value_name = "FILE,…",
        value_delimiter = ','
    )]
    pub ca: Vec<PathBuf>,
    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Key of the client certificate (PEM), if it is in a separate file
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
}

impl ConnectionArgs {
    /// The connection options, including TLS.
    pub fn options(&self, tls: &TlsArgs) -> ConnectionOptions {
        ConnectionOptions {
            dns: self.dns.clone(),
            local_ips: self.local_ips.clone(),
            unix_socket: self.unix_socket.clone(),
            io: self.io.io,
            tls: tls.files(),
        }
    }
}

impl HttpVersionArgs {
    /// The chosen version, if any.
    pub fn protocol(&self) -> Option<Protocol> {
        match (self.h1, self.h2, self.h2c, self.h3) {
            (true, ..) => Some(Protocol::Http1),
            (_, true, ..) => Some(Protocol::Http2),
            (_, _, true, _) => Some(Protocol::H2c),
            (.., true) => Some(Protocol::Http3),
            _ => self.protocol,
        }
    }
}

impl TlsArgs {
    pub fn files(&self) -> TlsFiles {
        TlsFiles {
            insecure: self.insecure,
            ca: self.ca.clone(),
            cert: self.cert.clone(),
            key: self.key.clone(),
        }
    }
}

fn dns(text: &str) -> Result<DnsOptions, String> {
    DnsOptions::parse(text).map_err(|fault| fault.to_string())
}
