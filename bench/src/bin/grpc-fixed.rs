//! Answers every gRPC call with the same `helloworld.HelloReply`, on one thread: the server that
//! generators of gRPC load are measured against.
//!
//! ```text
//! grpc-fixed [--port 0] [--cpu 0]
//! ```
//!
//! It prints `listening on 127.0.0.1:PORT` and serves HTTP/2 in the clear until it is killed. It
//! reads no head: whatever is asked, the answer is the one message. Answers are so short that a
//! client's windows, opened as it reads, never close; a client that does not read is cut off.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::ExitCode;

use bench::arguments::Arguments;
use bench::syscalls::{self, Poll};

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "grpc-fixed: {message}");
            ExitCode::FAILURE
        }
    }
}

const LISTENER: u64 = u64::MAX;

fn serve() -> Result<(), String> {
    let arguments = Arguments::parse(std::env::args().skip(1), &["port", "cpu"])?;
    if let Some(cpu) = arguments.value("cpu")? {
        syscalls::pin_to_cpu(cpu).map_err(|error| format!("--cpu {cpu}: {error}"))?;
    }
    let port: u16 = arguments.value("port")?.unwrap_or(0);
    syscalls::raise_descriptor_limit();
    let (listener, port) = syscalls::listen(port).map_err(|error| error.to_string())?;
    let mut stdout = io::stdout();
    writeln!(stdout, "listening on 127.0.0.1:{port}")
        .and_then(|()| stdout.flush())
        .map_err(|error| error.to_string())?;
    answer_all(&listener).map_err(|error| error.to_string())
}

fn answer_all(listener: &OwnedFd) -> io::Result<()> {
    let mut poll = Poll::new()?;
    poll.watch(listener.as_raw_fd(), LISTENER)?;
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    let mut ready = Vec::new();
    loop {
        ready.clear();
        ready.extend(poll.wait(None)?);
        for &token in &ready {
            if token == LISTENER {
                while let Some(socket) = syscalls::accept(listener.as_raw_fd())? {
                    let free = connections.iter().position(Option::is_none);
                    let slot = free.unwrap_or(connections.len());
                    poll.watch(socket.as_raw_fd(), slot as u64)?;
                    let connection = Some(Connection::new(socket));
                    match connections.get_mut(slot) {
                        Some(place) => *place = connection,
                        None => connections.push(connection),
                    }
                }
            } else if let Some(place) = connections.get_mut(token as usize)
                && let Some(connection) = place
                && !connection.turn(&mut buffer)
            {
                *place = None;
            }
        }
    }
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

/// How much of the calls' bodies is taken before the window is opened again.
const WINDOW: u32 = 1 << 30;

/// The flag and length of gRPC, and a `HelloReply` of "Hello world".
const MESSAGE: &[u8] = b"\0\0\0\0\x0d\x0a\x0bHello world";

struct Connection {
    socket: OwnedFd,
    /// What came and is no whole frame yet.
    held: Vec<u8>,
    out: Vec<u8>,
    begun: bool,
    /// Whether the client's table of headers has ours.
    known: bool,
    /// Bytes of bodies since the window was opened last.
    taken: u32,
}

impl Connection {
    fn new(socket: OwnedFd) -> Connection {
        Connection {
            socket,
            held: Vec::new(),
            out: Vec::new(),
            begun: false,
            known: false,
            taken: 0,
        }
    }

    /// Reads what came and answers it; false when the connection is over.
    fn turn(&mut self, buffer: &mut [u8]) -> bool {
        match syscalls::receive(self.socket.as_raw_fd(), buffer) {
            Ok(None) => return true,
            Ok(Some(0)) | Err(_) => return false,
            Ok(Some(length)) => self
                .held
                .extend_from_slice(buffer.get(..length).unwrap_or_default()),
        }
        let mut used = 0;
        if !self.begun {
            if self.held.len() < PREFACE.len() {
                return true;
            }
            if !self.held.starts_with(PREFACE) {
                return false;
            }
            used = PREFACE.len();
            self.begun = true;
            self.frame(SETTINGS, 0, 0, &[]);
            self.frame(WINDOW_UPDATE, 0, 0, &WINDOW.to_be_bytes());
        }
        while let Some(length) = self.take(used) {
            used += length;
        }
        self.held.drain(..used);
        if self.out.is_empty() {
            return true;
        }
        let sent = syscalls::send(self.socket.as_raw_fd(), &self.out);
        let all = matches!(sent, Ok(Some(length)) if length == self.out.len());
        self.out.clear();
        all
    }

    /// Takes the frame that begins there; how long it is, if it is whole.
    fn take(&mut self, at: usize) -> Option<usize> {
        let head: &[u8; 9] = self.held.get(at..)?.first_chunk()?;
        let &[a, b, c, kind, flags, s1, s2, s3, s4] = head;
        let length = u32::from_be_bytes([0, a, b, c]);
        let stream = u32::from_be_bytes([s1, s2, s3, s4]) & 0x7fff_ffff;
        let whole = 9 + length as usize;
        let payload = self.held.get(at + 9..at + whole)?;
        match kind {
            PING if flags & ACK == 0 => {
                let payload = payload.to_vec();
                self.frame(PING, ACK, 0, &payload);
            }
            SETTINGS if flags & ACK == 0 => self.frame(SETTINGS, ACK, 0, &[]),
            DATA | HEADERS => {
                if kind == DATA {
                    self.taken += length;
                }
                if self.taken > WINDOW / 2 {
                    let taken = std::mem::take(&mut self.taken);
                    self.frame(WINDOW_UPDATE, 0, 0, &taken.to_be_bytes());
                }
                if flags & END_STREAM != 0 {
                    self.answer(stream);
                }
            }
            _ => {}
        }
        Some(whole)
    }

    /// `:status: 200`, `content-type: application/grpc`, the message, `grpc-status: 0`. The first
    /// answer puts both fields into the client's table, the others name their places there:
    /// RFC 7541, sections 6.1 and 6.2.1.
    fn answer(&mut self, stream: u32) {
        if std::mem::replace(&mut self.known, true) {
            self.frame(HEADERS, END_HEADERS, stream, &[0x88, 0xbf]);
            self.frame(DATA, 0, stream, MESSAGE);
            self.frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0xbe]);
        } else {
            self.frame(
                HEADERS,
                END_HEADERS,
                stream,
                b"\x88\x5f\x10application/grpc",
            );
            self.frame(DATA, 0, stream, MESSAGE);
            let trailers = b"\x40\x0bgrpc-status\x010";
            self.frame(HEADERS, END_HEADERS | END_STREAM, stream, trailers);
        }
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
        self.out.extend_from_slice(&[a, b, c, kind, flags]);
        self.out.extend_from_slice(&stream.to_be_bytes());
        self.out.extend_from_slice(payload);
    }
}
