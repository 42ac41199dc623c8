//! Entry point for fuzz targets: reads the response to an opening handshake without a socket. Not
//! for other callers.

use crate::handshake::{Agreed, Key, Offer};

/// The key of every handshake in this module. The server must send `Sec-WebSocket-Accept:
/// s3pPLMBiTxaQ9kYGzzhZRbK+xOo=`.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// Reads the status line and the headers of the response to `offer`.
///
/// # Errors
/// The reason why the response does not open a WebSocket.
pub fn read_handshake(response: &[u8], offer: &Offer) -> Result<Agreed, String> {
    let head = plimsoll_http::in_memory::read_head(response)?;
    let key = Key::from_text(KEY);
    offer
        .check(&head, &key)
        .map_err(|refusal| refusal.to_string())
}
