//! Echoes WebSocket messages, on one thread, as fast as epoll allows: the server for measuring
//! WebSocket load generators.
//!
//! ```text
//! websocket-echo [--port 0] [--cpu 0]
//! ```
//!
//! It prints `listening on 127.0.0.1:PORT` and serves until it is killed. Messages are unmasked
//! in place and written as one frame each; fragments and compression are not supported.

use std::process::ExitCode;

use base64::Engine;
use plimsoll_bench::peers::{Peer, program};
use sha1::{Digest, Sha1};

fn main() -> ExitCode {
    program::<Echo>("websocket-echo")
}

#[derive(Default)]
struct Echo {
    /// The handshake is complete.
    is_open: bool,
}

impl Peer for Echo {
    fn respond(&mut self, held: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
        let mut used = 0;
        if !self.is_open {
            let Some(at) = held.windows(4).position(|end| end == b"\r\n\r\n") else {
                return held.len() < 1 << 16;
            };
            respond_to_handshake(held.get(..at).unwrap_or_default(), out);
            used = at + 4;
            self.is_open = true;
        }
        while let Some(length) = respond_to_frame(held.get_mut(used..).unwrap_or_default(), out) {
            used += length;
        }
        held.drain(..used);
        true
    }
}

/// RFC 6455, section 4.2.2.
fn respond_to_handshake(head: &[u8], out: &mut Vec<u8>) {
    let head = String::from_utf8_lossy(head);
    let key = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key"))
        .map_or("", |(_, value)| value.trim());
    let digest = Sha1::new()
        .chain_update(key)
        .chain_update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
        .finalize();
    let accept = base64::engine::general_purpose::STANDARD.encode(digest);
    out.extend_from_slice(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
          Sec-WebSocket-Accept: ",
    );
    out.extend_from_slice(accept.as_bytes());
    out.extend_from_slice(b"\r\n\r\n");
}

/// Appends the reply to the first frame of `buffer` if it is complete; returns the length of the
/// frame.
fn respond_to_frame(buffer: &mut [u8], out: &mut Vec<u8>) -> Option<usize> {
    let first = *buffer.first()?;
    let (length, head) = match *buffer.get(1)? & 0x7f {
        126 => {
            let length = u16::from_be_bytes(*buffer.get(2..)?.first_chunk()?);
            (usize::from(length), 4)
        }
        127 => {
            let length = u64::from_be_bytes(*buffer.get(2..)?.first_chunk()?);
            (usize::try_from(length).ok()?, 10)
        }
        length => (usize::from(length), 2),
    };
    let key: [u8; 4] = *buffer.get(head..)?.first_chunk()?;
    let payload = buffer.get_mut(head + 4..head.checked_add(4)?.checked_add(length)?)?;
    for (byte, key) in payload.iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
    // RFC 6455, section 5.5: the reply to a ping is a pong; everything else is echoed.
    out.push(if first & 0x0f == 9 {
        first & 0xf0 | 10
    } else {
        first
    });
    match length {
        0..=125 => out.push(length as u8),
        126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
    Some(head + 4 + length)
}
