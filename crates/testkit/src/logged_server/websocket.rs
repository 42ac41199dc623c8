//! WebSocket (RFC 6455) without extensions: echoes messages, and treats each one as a request.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest as _, Sha1};

use super::behavior::{Act, Behavior, SharedBehavior};
use super::http1;
use super::log::Outcome;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const LAST: u8 = 0x80;

/// An unsolicited message.
const FLOOD: &[u8] = &[b'x'; 1000];

/// Maximum length of a frame.
const MAX_FRAME: u64 = 1 << 20;

/// The key in a WebSocket request, or `None` for other requests.
pub(super) fn key(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head).into_owned();
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("sec-websocket-key")
            .then(|| value.trim().to_owned())
    })
}

pub(super) fn serve(
    mut stream: TcpStream,
    key: &str,
    pending: Vec<u8>,
    connection: u64,
    conduct: &SharedBehavior,
) -> io::Result<()> {
    let mut digest = Sha1::new();
    digest.update(key.as_bytes());
    digest.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let accept = STANDARD.encode(digest.finalize());
    let response = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(response.as_bytes())?;
    conduct.ledger.transferred(0, response.len());
    if let Behavior::Flood(bytes) = conduct.behavior {
        for _ in 0..bytes / FLOOD.len() {
            conduct.ledger.sent_unsolicited();
            send(&mut stream, TEXT, FLOOD, conduct)?;
        }
    }
    let mut input = Input {
        pending: io::Cursor::new(pending),
        stream: stream.try_clone()?,
        conduct,
    };
    loop {
        let (opcode, payload) = input.frame()?;
        match opcode {
            TEXT | BINARY => {
                let request = conduct.ledger.arrived(connection, payload.len());
                let (wait, act) = conduct.decide(request);
                thread::sleep(wait);
                match act {
                    Act::Respond | Act::Fail => {
                        let outcome = Outcome::Responded(200);
                        conduct.ledger.ended(request, outcome, payload.len());
                        send(&mut stream, opcode, &payload, conduct)?;
                    }
                    Act::Drop | Act::Reset | Act::RefuseStream => {
                        conduct.ledger.ended(request, Outcome::Cut, 0);
                        drop(input);
                        return http1::end(&mut stream, act);
                    }
                    Act::Ignore => {}
                }
            }
            CLOSE => {
                send(&mut stream, CLOSE, &payload, conduct)?;
                return http1::end(&mut stream, Act::Drop);
            }
            _ => {}
        }
    }
}

fn send(
    stream: &mut TcpStream,
    opcode: u8,
    payload: &[u8],
    conduct: &SharedBehavior,
) -> io::Result<()> {
    let mut frame = vec![LAST | opcode];
    match payload.len() {
        short @ 0..126 => frame.push(short as u8),
        medium @ 126..65536 => {
            frame.push(126);
            frame.extend_from_slice(&(medium as u16).to_be_bytes());
        }
        long => {
            frame.push(127);
            frame.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    conduct.ledger.transferred(0, frame.len());
    stream.write_all(&frame)
}

/// The bytes from the client: first those received with the handshake, then those from the socket.
struct Input<'a> {
    pending: io::Cursor<Vec<u8>>,
    stream: TcpStream,
    conduct: &'a SharedBehavior,
}

impl Input<'_> {
    /// One frame: its opcode and its unmasked payload. Fragments are not supported.
    fn frame(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let [first, second] = self.bytes::<2>()?;
        let length = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes(self.bytes()?)),
            127 => u64::from_be_bytes(self.bytes()?),
            length => u64::from(length),
        };
        if second & 0x80 == 0 || first & LAST == 0 || length > MAX_FRAME {
            return Err(io::Error::other(
                "a frame that is unmasked, fragmented, or too long",
            ));
        }
        let key: [u8; 4] = self.bytes()?;
        let mut payload = vec![0; usize::try_from(length).unwrap_or(0)];
        self.fill(&mut payload)?;
        for (byte, key) in payload.iter_mut().zip(key.iter().cycle()) {
            *byte ^= key;
        }
        Ok((first & 0x0f, payload))
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let held = self.pending.read(buffer)?;
        let rest = buffer.get_mut(held..).unwrap_or_default();
        self.stream.read_exact(rest)?;
        self.conduct.ledger.transferred(rest.len(), 0);
        Ok(())
    }
}
