use std::time::Duration;

use crate::code::Code;
use crate::frame::Framed;
use crate::status::Status;

/// Limits for the length of messages and for the time to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes of a decompressed response message.
    pub max_receive: usize,
    /// Maximum number of bytes of a compressed request message.
    pub max_send: usize,
    /// Maximum time from the start of the name lookup to the end of the TLS handshake.
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
    /// Checks that a message is not too long to send.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` if the message is too long.
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
