//! Entry point for fuzz targets only: reads a server's control stream without a connection.

use bytes::Bytes;

use crate::control::{Event, Reader};

/// Reads `pieces` as a unidirectional stream. Returns the number in the last GOAWAY frame, if any.
///
/// # Errors
/// The server's violation of the protocol.
pub fn read_control_stream(pieces: &[&[u8]]) -> Result<Option<u64>, String> {
    let mut reader = Reader::default();
    let mut first = None;
    for piece in pieces {
        match reader.read(Bytes::copy_from_slice(piece))? {
            Event::Nothing => {}
            Event::GoAway(number) => first = Some(number),
            Event::UnknownStream => break,
        }
    }
    Ok(first)
}
