//! Errors of connections and TLS handshakes, with Go's wording.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Why a stream could not be opened.
#[derive(Debug)]
pub enum Error {
    /// The name matches a pattern of `blockHostnames`.
    BlockedHost { host: String, pattern: String },
    /// The address is in a range of `blacklistIPs`.
    BlacklistedIp { ip: IpAddr, range: String },
    /// The name does not exist.
    NoSuchHost { host: String },
    /// The lookup failed for another reason.
    Lookup { host: String, source: io::Error },
    /// Connecting to the peer failed.
    Connect { to: SocketAddr, source: io::Error },
    /// Connecting to the unix socket failed.
    ConnectUnix { to: String, source: io::Error },
    /// No connection within the dial timeout.
    ConnectTimeout { to: SocketAddr },
    /// The local address could not be bound.
    Bind { from: IpAddr, source: io::Error },
    /// No socket could be created.
    Socket { source: io::Error },
    /// The TLS handshake failed.
    Tls(TlsError),
}

/// Why a TLS handshake failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsError {
    /// The peer's first bytes are not a TLS record: it uses another protocol.
    NotTls,
    /// The chain does not end in a trusted root.
    UnknownAuthority,
    /// The certificate is for other hosts.
    WrongName { host: String, names: Vec<String> },
    /// The certificate is expired or not valid yet; the string states which.
    Expired(String),
    /// The handshake took longer than its limit.
    Timeout,
    /// The peer closed the connection during the handshake.
    Closed,
    /// The connection failed during the handshake.
    Broken(io::ErrorKind, String),
    /// The client's own settings cannot work.
    Settings(String),
    /// The peer sent a fatal alert.
    Alert(String),
    /// Anything else, as the TLS library describes it.
    Other(String),
}

impl Error {
    /// Whether this machine reached a limit, not the peer: no free local port or no free file
    /// descriptor. Such a failure is not a fault of the target.
    pub fn is_local_exhaustion(&self) -> bool {
        match self {
            Error::Connect { source, .. }
            | Error::ConnectUnix { source, .. }
            | Error::Bind { source, .. }
            | Error::Lookup { source, .. }
            | Error::Socket { source } => is_local_exhaustion(source),
            _ => false,
        }
    }
}

/// Whether an I/O error means that this machine has no free ports or file descriptors.
pub fn is_local_exhaustion(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EADDRNOTAVAIL | libc::EMFILE | libc::ENFILE | libc::ENOBUFS)
    )
}

/// The system's message for an I/O error, without Rust's "(os error N)".
pub fn describe(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED) => "connection refused".into(),
        Some(libc::ECONNRESET) => "connection reset by peer".into(),
        Some(libc::EPIPE) => "broken pipe".into(),
        Some(libc::ETIMEDOUT) => "connection timed out".into(),
        Some(libc::ENETUNREACH) => "network is unreachable".into(),
        Some(libc::EHOSTUNREACH) => "no route to host".into(),
        Some(libc::EADDRNOTAVAIL) => "cannot assign requested address".into(),
        Some(libc::EMFILE) => "too many open files".into(),
        Some(libc::EACCES) => "permission denied".into(),
        _ => {
            let text = error.to_string();
            match text.find(" (os error") {
                Some(end) => text[..end].to_lowercase(),
                None => text,
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::BlockedHost { host, pattern } => {
                write!(f, "hostname ({host}) is in a blocked pattern ({pattern})")
            }
            Error::BlacklistedIp { ip, range } => {
                write!(f, "IP ({ip}) is in a blacklisted range ({range})")
            }
            Error::NoSuchHost { host } => write!(f, "lookup {host}: no such host"),
            Error::Lookup { host, source } => write!(f, "lookup {host}: {}", describe(source)),
            Error::Connect { to, source } => {
                write!(f, "dial tcp {to}: connect: {}", describe(source))?;
                f.write_str(hint(source))
            }
            Error::ConnectUnix { to, source } => {
                write!(f, "dial unix {to}: connect: {}", describe(source))?;
                f.write_str(hint(source))
            }
            Error::ConnectTimeout { to } => write!(f, "dial tcp {to}: i/o timeout"),
            Error::Bind { from, source } => {
                write!(f, "dial tcp: bind {from}: {}", describe(source))?;
                f.write_str(hint(source))
            }
            Error::Socket { source } => {
                write!(f, "dial tcp: socket: {}", describe(source))?;
                f.write_str(hint(source))
            }
            Error::Tls(error) => error.fmt(f),
        }
    }
}

fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EADDRNOTAVAIL) => {
            " (no free local port: reuse connections, add local IPs, or widen net.ipv4.ip_local_port_range)"
        }
        Some(libc::EMFILE) => " (raise the limit with `ulimit -n`)",
        _ => "",
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::NotTls => f.write_str("tls: first record does not look like a TLS handshake"),
            TlsError::Settings(text) => f.write_str(text),
            TlsError::UnknownAuthority => f.write_str(
                "tls: failed to verify certificate: x509: certificate signed by unknown authority",
            ),
            TlsError::WrongName { host, names }
                if host.parse::<IpAddr>().is_ok()
                    && !names.iter().any(|name| name.parse::<IpAddr>().is_ok()) =>
            {
                write!(
                    f,
                    "tls: failed to verify certificate: x509: cannot validate certificate for {host} because it \
                     doesn't contain any IP SANs"
                )
            }
            TlsError::WrongName { host, names } if names.is_empty() => write!(
                f,
                "tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match {host}"
            ),
            TlsError::WrongName { host, names } => write!(
                f,
                "tls: failed to verify certificate: x509: certificate is valid for {}, not {host}",
                names.join(", ")
            ),
            TlsError::Expired(text) => {
                write!(
                    f,
                    "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: {text}"
                )
            }
            TlsError::Timeout => f.write_str("net/http: TLS handshake timeout"),
            TlsError::Closed => f.write_str("EOF"),
            TlsError::Broken(_, text) => f.write_str(text),
            TlsError::Alert(text) => write!(f, "remote error: tls: {text}"),
            TlsError::Other(text) => write!(f, "tls: {text}"),
        }
    }
}

impl std::error::Error for Error {}
impl std::error::Error for TlsError {}
