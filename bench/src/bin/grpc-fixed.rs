//! Responds to every gRPC call with the same `helloworld.HelloReply`, on one thread: the server for
//! measuring gRPC load generators.
//!
//! ```text
//! grpc-fixed [--port 0] [--cpu 0]
//! ```
//!
//! It prints `listening on 127.0.0.1:PORT` and serves HTTP/2 without TLS until it is killed. It
//! does not read headers: the response is the same for every request. Responses are so short that
//! a client's windows never close while it reads; a client that does not read is disconnected.

use std::process::ExitCode;

use plimsoll_bench::peers::{Peer, program};

fn main() -> ExitCode {
    program::<Connection>("grpc-fixed")
}

/// RFC 9113, section 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames: RFC 9113, section 6.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
/// Flags of frames; an acknowledgement has the same bit as the end of a stream.
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// How many body bytes are received before the window is topped up.
const WINDOW: u32 = 1 << 30;

/// The flag and length of gRPC, followed by a `HelloReply` of "Hello world".
const MESSAGE: &[u8] = b"\0\0\0\0\x0d\x0a\x0bHello world";

#[derive(Default)]
struct Connection {
    begun: bool,
    /// Whether the client's header table contains our fields.
    known: bool,
    /// Body bytes received since the window was last topped up.
    taken: u32,
}

impl Peer for Connection {
    fn answer(&mut self, held: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
        let mut used = 0;
        if !self.begun {
            if held.len() < PREFACE.len() {
                return true;
            }
            if !held.starts_with(PREFACE) {
                return false;
            }
            used = PREFACE.len();
            self.begun = true;
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

impl Connection {
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
                    self.answer_call(stream, out);
                }
            }
            _ => {}
        }
        Some(whole)
    }

    /// `:status: 200`, `content-type: application/grpc`, the message, `grpc-status: 0`. The first
    /// response adds both fields to the client's table, later ones refer to them by index: RFC
    /// 7541, sections 6.1 and 6.2.1.
    fn answer_call(&mut self, stream: u32, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.known, true) {
            frame(out, HEADERS, END_HEADERS, stream, &[0x88, 0xbf]);
            frame(out, DATA, 0, stream, MESSAGE);
            frame(out, HEADERS, END_HEADERS | END_STREAM, stream, &[0xbe]);
        } else {
            frame(
                out,
                HEADERS,
                END_HEADERS,
                stream,
                b"\x88\x5f\x10application/grpc",
            );
            frame(out, DATA, 0, stream, MESSAGE);
            let trailers = b"\x40\x0bgrpc-status\x010";
            frame(out, HEADERS, END_HEADERS | END_STREAM, stream, trailers);
        }
    }
}

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}
