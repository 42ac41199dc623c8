//! The server side of HTTP/2, as far as a fixed response needs it. It does not read headers.

use std::marker::PhantomData;

use crate::peers::Peer;

/// RFC 9113, section 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames: RFC 9113, section 6.
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
/// Flags of frames; an acknowledgement has the same bit as the end of a stream.
pub const END_STREAM: u8 = 1;
const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// How many body bytes are received before the window is topped up.
const WINDOW: u32 = 1 << 30;

/// The response to every request.
pub trait FixedResponse: Default {
    /// Appends the frames of a response. The first one on a connection may add fields to the
    /// client's table, and later ones refer to them: RFC 7541, sections 6.1 and 6.2.1.
    fn append(is_first: bool, stream: u32, out: &mut Vec<u8>);
}

/// A connection on which every request gets the response `R`.
#[derive(Default)]
pub struct Connection<R> {
    started: bool,
    /// Whether the client's header table contains our fields.
    known: bool,
    response: PhantomData<R>,
    /// Body bytes received since the window was last topped up.
    taken: u32,
}

impl<R: FixedResponse> Peer for Connection<R> {
    fn respond(&mut self, held: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
        let mut used = 0;
        if !self.started {
            if held.len() < PREFACE.len() {
                return true;
            }
            if !held.starts_with(PREFACE) {
                return false;
            }
            used = PREFACE.len();
            self.started = true;
            frame(out, SETTINGS, 0, 0, &[]);
            frame(out, WINDOW_UPDATE, 0, 0, &WINDOW.to_be_bytes());
        }
        while let Some(length) = self.take(held.get(used..).unwrap_or_default(), out) {
            used += length;
        }
        held.drain(..used);
        true
    }
}

impl<R: FixedResponse> Connection<R> {
    /// Processes the frame at the start of `held`; returns its length if it is complete.
    fn take(&mut self, held: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let head: &[u8; 9] = held.first_chunk()?;
        let &[a, b, c, kind, flags, s1, s2, s3, s4] = head;
        let length = u32::from_be_bytes([0, a, b, c]);
        let stream = u32::from_be_bytes([s1, s2, s3, s4]) & 0x7fff_ffff;
        let whole = 9 + length as usize;
        let payload = held.get(9..whole)?;
        match kind {
            PING if flags & ACK == 0 => frame(out, PING, ACK, 0, payload),
            SETTINGS if flags & ACK == 0 => frame(out, SETTINGS, ACK, 0, &[]),
            DATA | HEADERS => {
                if kind == DATA {
                    self.taken += length;
                }
                if self.taken > WINDOW / 2 {
                    let taken = std::mem::take(&mut self.taken);
                    frame(out, WINDOW_UPDATE, 0, 0, &taken.to_be_bytes());
                }
                if flags & END_STREAM != 0 {
                    let is_first = !std::mem::replace(&mut self.known, true);
                    R::append(is_first, stream, out);
                }
            }
            _ => {}
        }
        Some(whole)
    }
}

/// Appends a frame.
pub fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}
