//! A server in memory that sends scripted bytes, whatever the client does.

#![allow(dead_code)] // Each test program uses only a part of this module.

pub mod two_requests;

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use plimsoll_http2::{Incoming, Outgoing, RequestHead, StreamFault, Streams};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const PRIORITY_FIELDS: u8 = 32;

/// Error codes: RFC 9113, section 7.
pub const NO_ERROR: u32 = 0;
pub const PROTOCOL: u32 = 1;
pub const FLOW_CONTROL: u32 = 3;
pub const STREAM_CLOSED: u32 = 5;
pub const FRAME_SIZE: u32 = 6;
pub const CANCEL: u32 = 8;
pub const COMPRESSION: u32 = 9;
pub const CALM: u32 = 11;

/// `:status: 200` from HPACK's static table: RFC 7541, appendix A.
pub const STATUS_200: &[u8] = &[0x88];

/// Kind, flags, stream and payload of a frame.
pub type Frame = (u8, u8, u32, Vec<u8>);

/// Longer than any step takes on the slowest machine.
const LONG: Duration = Duration::from_secs(60);

/// A frame: RFC 9113, section 4.1.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend_from_slice(&[kind, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// A SETTINGS frame with one setting.
pub fn setting(name: u16, value: u32) -> Vec<u8> {
    let payload = [&name.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(SETTINGS, 0, 0, &payload)
}

/// A header block: `:status: 200` and the given fields, as literals without indexing (RFC 7541,
/// section 6.2.2).
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = STATUS_200.to_vec();
    for (name, value) in fields {
        block.extend_from_slice(&literal(name.as_bytes(), value.as_bytes()));
    }
    block
}

/// One field with name and value of less than 127 bytes.
pub fn literal(name: &[u8], value: &[u8]) -> Vec<u8> {
    let (name_length, value_length) = (name.len() as u8, value.len() as u8);
    [&[0, name_length][..], name, &[value_length], value].concat()
}

/// A complete response without a body.
pub fn response(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_200)
}

pub fn head(method: &str) -> Rc<RequestHead> {
    Rc::new(RequestHead::new(method, "http", "h", "/"))
}

pub fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        tokio::time::timeout(LONG, work).await.expect("it hangs")
    })
}

/// A connection, and the server's end of it.
pub fn connect() -> (Streams, Peer) {
    // Large enough that neither side ever waits for the other to read.
    let (ours, theirs) = tokio::io::duplex(16 << 20);
    (Streams::start(ours), Peer(theirs))
}

pub struct Peer(DuplexStream);

impl Peer {
    /// Sends bytes, unless the client has closed the connection.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes).await;
    }

    /// Closes the server's sending half.
    pub async fn close(&mut self) {
        self.0.shutdown().await.unwrap();
    }

    /// Reads the client's next frame.
    pub async fn frame(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        self.0.read_exact(&mut payload).await.ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some((head[3], head[4], stream, payload))
    }

    /// Reads the connection preface (RFC 9113, section 3.4).
    pub async fn preface(&mut self) {
        let mut preface = [0; 24];
        self.0.read_exact(&mut preface).await.unwrap();
        assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        assert_eq!(self.frame().await.unwrap().0, SETTINGS);
        assert_eq!(self.frame().await.unwrap().0, WINDOW_UPDATE);
    }

    /// Reads the client's next frame of this kind.
    pub async fn next(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.frame().await?;
            if frame.0 == kind {
                return Some(frame);
            }
        }
    }

    /// Reads all frames until the client closes the connection.
    pub async fn rest(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.frame().await {
            frames.push(frame);
        }
        frames
    }
}

/// A complete response.
#[derive(Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub body: Vec<u8>,
    pub trailers: usize,
}

/// Reads a response to its end.
pub async fn read(incoming: &mut Incoming) -> Result<Response, StreamFault> {
    let heading = incoming.head().await?;
    let mut body = Vec::new();
    while let Some(piece) = incoming.data().await? {
        body.extend_from_slice(&piece);
    }
    let trailers = incoming.trailers().await?;
    Ok(Response {
        status: heading.status.unwrap().as_u16(),
        body,
        trailers: trailers.map_or(0, |trailers| trailers.fields.len()),
    })
}

/// Sends a complete body.
pub async fn upload(outgoing: &mut Outgoing, length: usize) -> Result<(), StreamFault> {
    outgoing.send(Bytes::from(vec![b'u'; length]), true).await
}
