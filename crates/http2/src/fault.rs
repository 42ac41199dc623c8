//! Reasons why streams and connections end.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::rc::Rc;

/// Reasons why a stream or its connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamFault {
    /// The stream was reset with this error code (RFC 9113, section 7).
    Reset { code: u32, by_peer: bool },
    /// The peer closed the connection for this reason; `debug_data` is its debug text. If `is_unprocessed` is
    /// true, the peer guarantees that it did not process the stream.
    GoAway {
        code: u32,
        debug_data: String,
        is_unprocessed: bool,
    },
    /// The peer violated the protocol, so we ended the connection with this error code.
    Connection { code: u32 },
    /// The peer's first bytes, which are not a SETTINGS frame: it uses another protocol.
    NotHttp2 { begins: Vec<u8> },
    /// Reading from or writing to the connection failed.
    Broken { is_write: bool, error: SocketError },
    /// The peer closed the connection before the stream was complete.
    Ended,
    /// The caller requested an operation that the stream does not support.
    Other(String),
}

/// An error of a socket, shared by all streams of the connection.
#[derive(Clone, Debug)]
pub struct SocketError(Rc<io::Error>);

impl Deref for SocketError {
    type Target = io::Error;

    fn deref(&self) -> &io::Error {
        &self.0
    }
}

impl PartialEq for SocketError {
    fn eq(&self, other: &SocketError) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

impl Eq for SocketError {}

impl StreamFault {
    /// Whether the peer guarantees that it did not process the stream, so it may be opened again on
    /// another connection (RFC 9113, sections 8.7 and 6.8).
    pub fn is_unprocessed(&self) -> bool {
        matches!(
            self,
            StreamFault::Reset {
                code: code::REFUSED_STREAM,
                by_peer: true
            } | StreamFault::GoAway {
                is_unprocessed: true,
                ..
            }
        )
    }

    /// Whether the connection was closed or failed, without a reason from the peer.
    pub fn is_of_connection(&self) -> bool {
        matches!(self, StreamFault::Broken { .. } | StreamFault::Ended)
    }

    pub(crate) fn io(is_write: bool, error: io::Error) -> StreamFault {
        let error = SocketError(Rc::new(error));
        StreamFault::Broken { is_write, error }
    }
}

impl fmt::Display for StreamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamFault::Reset { code, by_peer } => {
                let who = if *by_peer { "the server" } else { "we" };
                write!(f, "{who} reset the stream: {}", error_name(*code))
            }
            StreamFault::GoAway {
                code, debug_data, ..
            } => {
                write!(f, "the server closed the connection: {}", error_name(*code))?;
                if !debug_data.is_empty() {
                    write!(f, ", {debug_data:?}")?;
                }
                Ok(())
            }
            StreamFault::Connection { code } => {
                write!(f, "the server violated HTTP/2: {}", error_name(*code))
            }
            StreamFault::NotHttp2 { begins } => write!(
                f,
                "the server does not speak HTTP/2: it begins with \"{}\"",
                begins.escape_ascii()
            ),
            StreamFault::Broken { is_write, error } => {
                let action = if *is_write { "write" } else { "read" };
                write!(f, "{action}: {}", plimsoll_net::describe(error))
            }
            StreamFault::Ended => f.write_str("EOF"),
            StreamFault::Other(what) => f.write_str(what),
        }
    }
}

/// Error codes (RFC 9113, section 7).
pub(crate) mod code {
    pub const NO_ERROR: u32 = 0;
    pub const PROTOCOL_ERROR: u32 = 1;
    pub const FLOW_CONTROL_ERROR: u32 = 3;
    pub const STREAM_CLOSED: u32 = 5;
    pub const FRAME_SIZE_ERROR: u32 = 6;
    pub const REFUSED_STREAM: u32 = 7;
    pub const CANCEL: u32 = 8;
    pub const COMPRESSION_ERROR: u32 = 9;
    pub const ENHANCE_YOUR_CALM: u32 = 11;
}

/// An HTTP/2 error code, shown by its name (RFC 9113, section 7).
pub fn error_name(code: u32) -> String {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    match NAMES.get(code as usize) {
        Some(name) => (*name).to_owned(),
        None => format!("unknown error code 0x{code:x}"),
    }
}
