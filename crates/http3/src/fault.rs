//! Errors of connections and requests, with the error codes of HTTP/3.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use plimsoll_net::TlsError;

/// Reasons why a connection failed or a request received no complete response.
#[derive(Debug)]
pub enum Fault {
    /// A failure before the first datagram, or in the handshake.
    Network(plimsoll_net::Error),
    /// No response within this time.
    NoResponse { to: SocketAddr, waited: Duration },
    /// The server's host reports that nothing listens on the port.
    Refused { to: SocketAddr },
    /// The server uses QUIC, but not HTTP/3.
    NotHttp3,
    /// The server reset the request's stream with this code.
    Reset { code: u64 },
    /// The server accepts no more requests on the connection, and did not process this one.
    GoAway,
    /// The server closed the connection with this code and possibly a reason.
    Closed { code: u64, reason: String },
    /// One side closed the connection in the QUIC layer.
    Broken(String),
    /// No packet arrived from the server for too long.
    Silent,
    /// The stream ended before a response.
    Ended,
    /// The stream ended in the middle of the response.
    EndedInside,
    /// The server violated the protocol or exceeded one of our limits.
    Violation(String),
}

/// Error codes of HTTP/3 (RFC 9114, section 8.1, and RFC 9204, section 6).
pub(crate) const NO_ERROR: u64 = 0x100;
pub(crate) const GENERAL_PROTOCOL_ERROR: u64 = 0x101;
pub(crate) const STREAM_CREATION_ERROR: u64 = 0x103;
pub(crate) const REQUEST_REJECTED: u64 = 0x10b;
pub(crate) const REQUEST_CANCELLED: u64 = 0x10c;

/// QUIC codes from here on are TLS alerts (RFC 9001, section 4.8).
const ALERTS: u64 = 0x100;
/// No common application protocol (RFC 7301, section 3.2).
const NO_APPLICATION_PROTOCOL: u8 = 120;

impl Fault {
    /// Whether the server guarantees that it did not process the request, so it may be sent again (RFC
    /// 9114, sections 4.1.1 and 5.2).
    pub fn is_unprocessed(&self) -> bool {
        matches!(
            self,
            Fault::GoAway
                | Fault::Reset {
                    code: REQUEST_REJECTED
                }
        )
    }

    /// Whether the whole connection failed, as can happen to an idle connection.
    pub fn is_of_connection(&self) -> bool {
        matches!(
            self,
            Fault::Closed { .. } | Fault::Silent | Fault::Broken(_)
        )
    }

    /// `refusal` is the reason why TLS rejected the server's certificate, if it did.
    pub(crate) fn of_connection(error: quinn::ConnectionError, refusal: Option<TlsError>) -> Fault {
        use quinn::ConnectionError as E;
        let tls = |error| Fault::Network(plimsoll_net::Error::Tls(error));
        match error {
            E::TransportError(error) => match (refusal, alert(error.code.into())) {
                (Some(refusal), _) => tls(refusal),
                (None, Some(_)) => tls(TlsError::Other(error.reason)),
                (None, None) => Fault::Broken(error.to_string()),
            },
            E::ConnectionClosed(close) => match alert(close.error_code.into()) {
                Some(NO_APPLICATION_PROTOCOL) => Fault::NotHttp3,
                Some(code) => tls(TlsError::of_alert(code)),
                None => Fault::Broken(close.to_string()),
            },
            E::ApplicationClosed(close) => Fault::Closed {
                code: close.error_code.into_inner(),
                reason: String::from_utf8_lossy(&close.reason).into_owned(),
            },
            E::TimedOut => Fault::Silent,
            E::Reset => Fault::Broken("the server no longer knows the connection".into()),
            E::VersionMismatch => Fault::Broken("the server speaks another version of QUIC".into()),
            E::LocallyClosed => Fault::Broken("this side closed the connection".into()),
            E::CidsExhausted => Fault::Broken(error.to_string()),
        }
    }
}

fn alert(code: u64) -> Option<u8> {
    code.checked_sub(ALERTS)
        .and_then(|alert| u8::try_from(alert).ok())
}

/// The name of a code in the RFCs.
pub(crate) fn name_of(code: u64) -> String {
    const NAMES: [&str; 17] = [
        "H3_NO_ERROR",
        "H3_GENERAL_PROTOCOL_ERROR",
        "H3_INTERNAL_ERROR",
        "H3_STREAM_CREATION_ERROR",
        "H3_CLOSED_CRITICAL_STREAM",
        "H3_FRAME_UNEXPECTED",
        "H3_FRAME_ERROR",
        "H3_EXCESSIVE_LOAD",
        "H3_ID_ERROR",
        "H3_SETTINGS_ERROR",
        "H3_MISSING_SETTINGS",
        "H3_REQUEST_REJECTED",
        "H3_REQUEST_CANCELLED",
        "H3_REQUEST_INCOMPLETE",
        "H3_MESSAGE_ERROR",
        "H3_CONNECT_ERROR",
        "H3_VERSION_FALLBACK",
    ];
    let name = code
        .checked_sub(NO_ERROR)
        .and_then(|at| NAMES.get(usize::try_from(at).ok()?));
    match (name, code) {
        (Some(name), _) => (*name).to_owned(),
        (None, 0x200) => "QPACK_DECOMPRESSION_FAILED".to_owned(),
        (None, _) => format!("unknown error code 0x{code:x}"),
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Network(error) => error.fmt(f),
            Fault::NoResponse { to, waited } => write!(
                f,
                "dial udp {to}: no QUIC response within {}",
                plimsoll_units::duration::format(*waited)
            ),
            Fault::Refused { to } => write!(
                f,
                "dial udp {to}: connection refused: nothing listens on this UDP port"
            ),
            Fault::NotHttp3 => f.write_str("the server speaks QUIC, but did not choose h3"),
            Fault::Reset { code } => write!(f, "stream reset with {}", name_of(*code)),
            Fault::GoAway => f.write_str("the server is closing the connection (GOAWAY)"),
            Fault::Closed { code, reason } if reason.is_empty() => {
                write!(f, "connection closed with {}", name_of(*code))
            }
            Fault::Closed { code, reason } => {
                write!(f, "connection closed with {} ({reason})", name_of(*code))
            }
            Fault::Broken(text) => write!(f, "quic: {text}"),
            Fault::Silent => f.write_str("the connection timed out: nothing was received for 30s"),
            Fault::Ended => f.write_str("EOF"),
            Fault::EndedInside => f.write_str("unexpected EOF"),
            Fault::Violation(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Fault {}

impl From<plimsoll_net::Error> for Fault {
    fn from(error: plimsoll_net::Error) -> Self {
        Fault::Network(error)
    }
}
