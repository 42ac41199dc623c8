//! Shows the messages of a request to its sender, for logs of them.

use crate::encode::{HeadParts, write_head};
use crate::head::Head;

/// Receives the messages of a request and of those that follow it, such as redirects.
pub trait MessageLog {
    /// A request that is about to be sent: request line and headers in the HTTP/1.1 wire format, and the body.
    fn request(&self, head: &[u8], body: &[u8]);

    /// A response, with its body as received; empty if it was not kept.
    fn response(&self, head: &Head, body: &[u8]);

    /// Whether it needs the body of the response, even if the request does not keep it.
    fn needs_body(&self) -> bool;
}

/// Passes a request to the log.
#[cold]
pub(crate) fn log_request(log: &dyn MessageLog, parts: &HeadParts<'_>, body: &[u8]) {
    let mut head = Vec::new();
    write_head(&mut head, parts);
    log.request(&head, body);
}
