//! Errors of exchanges, with k6's error codes and messages.

/// Error codes with k6's numbers.
pub mod code {
    /// An error without a more specific code.
    pub const DEFAULT: u32 = 1000;
    /// A network error that is not a TCP error.
    pub const NETWORK: u32 = 1010;
    /// The URL cannot be used.
    pub const INVALID_URL: u32 = 1020;
    /// The request took longer than its timeout.
    pub const REQUEST_TIMEOUT: u32 = 1050;
    /// Name resolution failed.
    pub const DNS: u32 = 1100;
    /// The name does not exist.
    pub const DNS_NO_SUCH_HOST: u32 = 1101;
    /// The address is in `blacklistIPs`.
    pub const BLACKLISTED_IP: u32 = 1110;
    /// The name is in `blockHostnames`.
    pub const BLOCKED_HOST: u32 = 1111;
    /// A TCP error without a more specific code.
    pub const TCP: u32 = 1200;
    /// The peer closed the connection before we wrote to it.
    pub const TCP_BROKEN_PIPE: u32 = 1201;
    /// A system error of TCP without a more specific code.
    pub const TCP_UNKNOWN: u32 = 1202;
    /// Connecting failed.
    pub const TCP_DIAL: u32 = 1210;
    /// Connecting took too long.
    pub const TCP_DIAL_TIMEOUT: u32 = 1211;
    /// The peer refused the connection.
    pub const TCP_DIAL_REFUSED: u32 = 1212;
    /// Connecting failed with a system error without a more specific code.
    pub const TCP_DIAL_UNKNOWN: u32 = 1213;
    /// The peer reset the connection.
    pub const TCP_RESET: u32 = 1220;
    /// A TLS error without a more specific code.
    pub const TLS: u32 = 1300;
    /// The peer does not use TLS.
    pub const TLS_HEADER: u32 = 1301;
    /// The certificate was issued by an unknown authority.
    pub const X509_UNKNOWN_AUTHORITY: u32 = 1310;
    /// The certificate is for another host.
    pub const X509_HOSTNAME: u32 = 1311;
    /// Added to an HTTP status from 400 to 599.
    pub const STATUS_BASE: u32 = 1000;
    /// An HTTP/2 error without a more specific code.
    pub const H2: u32 = 1600;
    /// GOAWAY; the HTTP/2 error code plus one is added.
    pub const H2_GOAWAY: u32 = 1610;
    /// The stream was reset; the HTTP/2 error code plus one is added.
    pub const H2_STREAM: u32 = 1630;
    /// The HTTP/2 connection failed; the HTTP/2 error code plus one is added.
    pub const H2_CONNECTION: u32 = 1650;
    /// An HTTP/3 error without a more specific code. k6 has no codes for HTTP/3; these are Plimsoll's.
    pub const H3: u32 = 1800;
    /// No QUIC response arrived.
    pub const H3_DIAL: u32 = 1810;
    /// The server accepts no more requests.
    pub const H3_GOAWAY: u32 = 1820;
    /// The server reset the stream.
    pub const H3_STREAM: u32 = 1830;
    /// The server closed the connection, or QUIC timed out.
    pub const H3_CONNECTION: u32 = 1850;
    /// The body could not be decompressed.
    pub const DECOMPRESSION: u32 = 1701;

    /// The error code for a response status: 0 if the status is below 400.
    pub fn of_status(status: u16) -> u32 {
        match status {
            ..400 => 0,
            error => STATUS_BASE + u32::from(error),
        }
    }
}

/// The error of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorInfo {
    /// One of [`code`].
    pub code: u32,
    /// A short message that is the same for all targets, so it can be a tag.
    pub message: String,
    /// A longer message with names and addresses, for logs; `None` if there is nothing to add.
    pub detail: Option<String>,
    /// This machine reached a limit, not the target: no free local port, descriptor or memory. Such a
    /// failure is not a fault of the target.
    pub is_local: bool,
    /// This machine had no free local port or file descriptor.
    pub is_exhausted: bool,
    /// The response was complete, but its redirect has no usable target.
    pub of_redirect: bool,
}

impl ErrorInfo {
    pub(crate) fn new(code: u32, message: impl Into<String>) -> Self {
        ErrorInfo {
            code,
            message: message.into(),
            detail: None,
            is_local: false,
            is_exhausted: false,
            of_redirect: false,
        }
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The detail, or the message if there is no detail.
    pub fn detail(&self) -> &str {
        self.detail.as_deref().unwrap_or(&self.message)
    }
}

impl std::fmt::Display for ErrorInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ErrorInfo {}

impl From<&plimsoll_net::Error> for ErrorInfo {
    fn from(error: &plimsoll_net::Error) -> Self {
        use plimsoll_net::{Error, TlsError};
        use std::io::ErrorKind;
        let (code, message) = match error {
            Error::BlockedHost { .. } => (code::BLOCKED_HOST, "hostname is blocked".into()),
            Error::BlacklistedIp { .. } => (code::BLACKLISTED_IP, "ip is blacklisted".into()),
            Error::NoSuchHost { .. } => (code::DNS_NO_SUCH_HOST, "lookup: no such host".into()),
            Error::Lookup { .. } => (code::DNS, "lookup failed".into()),
            Error::ConnectTimeout { .. } => (code::TCP_DIAL_TIMEOUT, "dial: i/o timeout".into()),
            Error::Connect { source, .. } | Error::ConnectUnix { source, .. } => {
                match source.kind() {
                    ErrorKind::ConnectionRefused => {
                        (code::TCP_DIAL_REFUSED, "dial: connection refused".into())
                    }
                    ErrorKind::TimedOut => (code::TCP_DIAL_TIMEOUT, "dial: i/o timeout".into()),
                    _ => dial_unknown(source),
                }
            }
            Error::Bind { source, .. } | Error::Socket { source } => dial_unknown(source),
            Error::Tls(tls) => match tls {
                TlsError::NotTls => (code::TLS_HEADER, tls.to_string()),
                TlsError::UnknownAuthority => (
                    code::X509_UNKNOWN_AUTHORITY,
                    "x509: unknown authority".into(),
                ),
                TlsError::WrongName { .. } => (
                    code::X509_HOSTNAME,
                    "x509: certificate doesn't match hostname".into(),
                ),
                TlsError::Closed | TlsError::Expired(_) => (code::DEFAULT, tls.to_string()),
                TlsError::Alert(_) => (code::NETWORK, tls.to_string()),
                TlsError::Broken(ErrorKind::ConnectionReset, _) => {
                    (code::TCP_RESET, tls.to_string())
                }
                _ => (code::TLS, tls.to_string()),
            },
        };
        let mut info = ErrorInfo::new(code, message).with_detail(error.to_string());
        info.is_exhausted = error.is_local_exhaustion();
        info.is_local = info.is_exhausted;
        info
    }
}

fn dial_unknown(source: &std::io::Error) -> (u32, String) {
    (
        code::TCP_DIAL_UNKNOWN,
        format!("dial: {}", plimsoll_net::describe(source)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_descriptors_differs_from_other_failures() {
        let failed = |number| {
            let source = std::io::Error::from_raw_os_error(number);
            ErrorInfo::from(&plimsoll_net::Error::Socket { source })
        };
        // ENFILE and EMFILE; EPERM.
        for number in [23, 24] {
            assert!(failed(number).is_exhausted && failed(number).is_local);
        }
        assert!(!failed(1).is_exhausted && !failed(1).is_local);
    }
}
