use std::time::Duration;

use crate::code::Code;
use crate::frame::Framed;
use crate::status::Status;

/// Limits for the length of messages and the time to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum bytes of a response message, decompressed.
    pub max_receive: usize,
    /// Maximum bytes of a request message, compressed.
    pub max_send: usize,
    /// From the name lookup to the end of the TLS handshake.
    pub connect: Duration,
}

impl Default for Limits {
    /// The defaults of gRPC libraries.
    fn default() -> Self {
        Limits {
            max_receive: 4 << 20,
            max_send: i32::MAX as usize,
            connect: Duration::from_secs(20),
        }
    }
}

impl Limits {
    /// # Errors
    /// `ResourceExhausted` for a message that is too long.
    pub fn check_send(&self, message: &Framed) -> Result<(), Status> {
        let length = message.body_length();
        if length <= self.max_send {
            return Ok(());
        }
        Err(Status::new(
            Code::RESOURCE_EXHAUSTED,
            format!(
                "trying to send message larger than max ({length} vs. {})",
                self.max_send
            ),
        ))
    }
}
