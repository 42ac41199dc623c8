use std::fmt;

use plimsoll_http::OverBudget;

use crate::code;

/// A violation of the protocol by the peer. Each violation ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Reserved bits are set, but no extension defines them (section 5.2).
    ReservedBits(u8),
    /// An undefined opcode (section 5.2).
    Opcode(u8),
    /// A server must not mask its frames (section 5.1).
    Masked,
    /// A control frame is longer than 125 bytes (section 5.5).
    LongControl(u64),
    /// A control frame is fragmented (section 5.5).
    FragmentedControl,
    /// A length is not in its shortest form (section 5.2).
    LengthForm(u64),
    /// A length has its highest bit set (section 5.2).
    Length(u64),
    /// A continuation frame outside of a message (section 5.4).
    Continuation,
    /// A new message started before the last one was complete (section 5.4).
    Interleaved,
    /// A text message that is not UTF-8 (section 8.1).
    Utf8,
    /// A message longer than the limit, which is the given number of bytes.
    TooBig(usize),
    /// A close frame with a code that must not be sent (section 7.4).
    CloseCode(u16),
    /// A close frame with only one byte of its code (section 5.5.1).
    CloseOfOneByte,
    /// A close frame with a reason that is not UTF-8 (section 5.5.1).
    CloseReason,
    /// A compressed message that cannot be decompressed (RFC 7692, section 7.2.2).
    Compressed,
    /// Not the peer's fault: the budget for decompressed data is used up, or memory is exhausted.
    OverBudget(Option<OverBudget>),
}

impl Violation {
    /// The code of the close frame to send (section 7.4.1).
    pub fn close_code(self) -> u16 {
        match self {
            Violation::Utf8 | Violation::CloseReason | Violation::Compressed => code::INVALID_DATA,
            Violation::TooBig(_) | Violation::OverBudget(_) => code::TOO_BIG,
            _ => code::PROTOCOL_ERROR,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::ReservedBits(bits) => {
                write!(
                    f,
                    "reserved bits {bits:03b} are set, but no extension uses them"
                )
            }
            Violation::Opcode(opcode) => write!(f, "unknown opcode {opcode}"),
            Violation::Masked => f.write_str("the server sent a masked frame"),
            Violation::LongControl(length) => {
                write!(
                    f,
                    "a control frame has {length} bytes; at most 125 are allowed"
                )
            }
            Violation::FragmentedControl => f.write_str("a control frame is fragmented"),
            Violation::LengthForm(length) => {
                write!(f, "the length {length} is not in its shortest form")
            }
            Violation::Length(length) => {
                write!(f, "the frame length {length} has its highest bit set")
            }
            Violation::Continuation => f.write_str("a continuation frame without a message"),
            Violation::Interleaved => {
                f.write_str("a new message started before the last one was complete")
            }
            Violation::Utf8 => f.write_str("a text message is not UTF-8"),
            Violation::TooBig(limit) => {
                write!(f, "a message is longer than the limit of {limit} bytes")
            }
            Violation::CloseCode(code) => write!(
                f,
                "a close frame has the code {code}, which must not be sent"
            ),
            Violation::CloseOfOneByte => f.write_str("a close frame has only one byte"),
            Violation::CloseReason => f.write_str("a close reason is not UTF-8"),
            Violation::Compressed => f.write_str("a compressed message cannot be decompressed"),
            Violation::OverBudget(Some(over)) => over.fmt(f),
            Violation::OverBudget(None) => f.write_str("out of memory for a message"),
        }
    }
}

impl std::error::Error for Violation {}
