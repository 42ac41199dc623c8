use std::fmt;
use std::io;

/// Why a stream, or its connection, ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamFault {
    /// The stream was reset with this error code (RFC 9113, section 7).
    Reset { code: u32, by_peer: bool },
    /// The peer closes the connection for this reason and did not process the stream; `said` is its
    /// debug text.
    GoAway { code: u32, said: String },
    /// One side violated the protocol, and the connection has ended.
    Connection { code: u32, by_peer: bool },
    /// The connection failed: a message without the number.
    Broken(String),
    /// The caller requested something that a stream cannot do.
    Other(String),
}

impl StreamFault {
    /// Whether the peer guarantees that it did not process the stream, so that it may be opened
    /// again elsewhere: RFC 9113, sections 8.7 and 6.8.
    pub fn is_unprocessed(&self) -> bool {
        matches!(
            self,
            StreamFault::Reset {
                code: code::REFUSED_STREAM,
                by_peer: true
            } | StreamFault::GoAway { .. }
        )
    }

    pub(crate) fn ours(code: u32) -> StreamFault {
        StreamFault::Connection {
            code,
            by_peer: false,
        }
    }

    pub(crate) fn io(error: &io::Error) -> StreamFault {
        StreamFault::Broken(plimsoll_net::describe(error))
    }

    /// The peer closed its sending half in the middle of something.
    pub(crate) fn end() -> StreamFault {
        StreamFault::Broken("EOF".to_owned())
    }
}

impl fmt::Display for StreamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamFault::Reset { code, by_peer } => {
                let who = if *by_peer { "the peer" } else { "we" };
                write!(f, "{who} reset the stream: {}", error_name(*code))
            }
            StreamFault::GoAway { code, said } if said.is_empty() => {
                write!(f, "the peer goes away: {}", error_name(*code))
            }
            StreamFault::GoAway { code, said } => {
                write!(f, "the peer goes away: {}, {said:?}", error_name(*code))
            }
            StreamFault::Connection { code, .. } => {
                write!(f, "the connection broke HTTP/2: {}", error_name(*code))
            }
            StreamFault::Broken(what) | StreamFault::Other(what) => f.write_str(what),
        }
    }
}

/// Error codes: RFC 9113, section 7.
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

/// An error code of HTTP/2 by its name: RFC 9113, section 7.
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
