//! Messages on the wire: a prefix and the message, which may be compressed.

use std::io::Write;
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use flate2::Compression as Level;
use plimsoll_http::{DecodeError, DecodeLimits, Decoding, Full, MemoryBudget};

use crate::code::Code;
use crate::status::Status;

/// Length of the prefix: one byte for the compression flag and four for the length of the message
/// ("gRPC over HTTP2", Length-Prefixed-Message).
const PREFIX: usize = 5;

/// Maximum memory to reserve for a message before its bytes arrive, because the sender may never
/// send them.
const MAX_RESERVED: usize = 64 << 10;

/// The compression of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    #[default]
    Identity,
    Gzip,
}

impl Compression {
    /// The compression's name in `grpc-encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Identity => "identity",
            Compression::Gzip => "gzip",
        }
    }
}

/// A message with its prefix, in wire format. It is encoded once and sent many times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Framed(pub(crate) Bytes, usize);

impl Framed {
    /// Compresses and frames a message. `max` limits its length after compression.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` if it is longer.
    pub fn new(message: &[u8], compression: Compression, max: usize) -> Result<Framed, Status> {
        let packed;
        let (flag, body) = match compression {
            Compression::Identity => (0, message),
            Compression::Gzip => {
                packed = gzip(message)?;
                (1, packed.as_slice())
            }
        };
        if body.len() > max {
            return Err(Status::new(
                Code::RESOURCE_EXHAUSTED,
                format!(
                    "trying to send message larger than max ({} vs. {max})",
                    body.len()
                ),
            ));
        }
        let Ok(length) = u32::try_from(body.len()) else {
            return Err(Status::new(
                Code::RESOURCE_EXHAUSTED,
                format!("a message of {} bytes cannot be framed", body.len()),
            ));
        };
        let mut bytes = BytesMut::with_capacity(PREFIX + body.len());
        bytes.put_u8(flag);
        bytes.put_u32(length);
        bytes.extend_from_slice(body);
        Ok(Framed(bytes.freeze(), message.len()))
    }

    /// Number of bytes in wire format, including the prefix.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of bytes of the message itself, before compression.
    pub fn message_length(&self) -> usize {
        self.1
    }

    /// Number of bytes of the message itself, compressed.
    pub(crate) fn body_length(&self) -> usize {
        self.0.len().saturating_sub(PREFIX)
    }
}

fn gzip(message: &[u8]) -> Result<Vec<u8>, Status> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Level::default());
    let written = encoder.write_all(message).and_then(|()| encoder.finish());
    written.map_err(|error| {
        Status::new(
            Code::INTERNAL,
            format!("grpc: error while compressing: {error}"),
        )
    })
}

/// Splits the incoming bytes into messages.
pub struct Deframer {
    /// The most recently received bytes, starting with the first one that is not consumed yet.
    unread: Bytes,
    /// The start of a message that arrives in several pieces, including its prefix.
    partial: BytesMut,
    /// Maximum length of a decompressed message.
    max: usize,
    encoding: Encoding,
    /// Whether the last message was compressed.
    packed: bool,
    /// The message that is being decompressed.
    decoding: Option<Decoding>,
    memory: &'static MemoryBudget,
}

/// The result of [`Deframer::next_message`].
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    Message(Bytes),
    /// A message is being decompressed. Call again after other tasks have run.
    Decompressing,
    /// More of the body is needed.
    Nothing,
}

/// The compression that the response headers declare.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Encoding {
    None,
    Gzip,
    Unknown(String),
}

impl Deframer {
    /// Accepts messages of at most `max` bytes.
    pub fn new(max: usize) -> Deframer {
        Deframer {
            unread: Bytes::new(),
            partial: BytesMut::new(),
            max,
            encoding: Encoding::None,
            packed: false,
            decoding: None,
            memory: MemoryBudget::process(),
        }
    }

    /// Sets the compression from the value of `grpc-encoding`.
    pub fn set_encoding(&mut self, name: &str) {
        self.encoding = match name {
            "" | "identity" => Encoding::None,
            "gzip" => Encoding::Gzip,
            other => Encoding::Unknown(other.to_owned()),
        };
    }

    /// Adds a piece of the body. All messages in the previous piece must have been taken first.
    pub fn push(&mut self, piece: Bytes) {
        if self.unread.is_empty() {
            self.unread = piece;
        } else {
            let mut joined = BytesMut::from(self.unread.as_ref());
            joined.extend_from_slice(&piece);
            self.unread = joined.freeze();
        }
    }

    /// Whether the body may end here.
    pub fn is_between_messages(&self) -> bool {
        self.unread.is_empty() && self.partial.is_empty()
    }

    /// Whether the last message was compressed.
    pub fn was_compressed(&self) -> bool {
        self.packed
    }

    /// Like [`Deframer::next_message`], but lets other tasks run between two slices of decompression.
    ///
    /// # Errors
    /// See [`Deframer::next_message`].
    pub fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Status>> {
        match self.next_message() {
            Ok(Found::Message(message)) => Poll::Ready(Ok(Some(message))),
            Ok(Found::Nothing) => Poll::Ready(Ok(None)),
            Ok(Found::Decompressing) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Err(status) => Poll::Ready(Err(status)),
        }
    }

    /// The next complete message, decompressed.
    ///
    /// # Errors
    /// If the message is too long or not correctly compressed. This ends the call.
    pub fn next_message(&mut self) -> Result<Found, Status> {
        if self.decoding.is_some() {
            return self.decompress();
        }
        if self.partial.is_empty() {
            if let Some((flag, length)) = self.prefix(&self.unread)? {
                if self.unread.len() - PREFIX >= length {
                    let _ = self.unread.split_to(PREFIX);
                    let message = self.unread.split_to(length);
                    return self.unpack(flag, message);
                }
                self.partial.reserve(PREFIX + length.min(MAX_RESERVED));
            }
            self.partial.extend_from_slice(&self.unread);
            self.unread = Bytes::new();
            return Ok(Found::Nothing);
        }
        self.fill(PREFIX);
        let Some((flag, length)) = self.prefix(&self.partial)? else {
            return Ok(Found::Nothing);
        };
        self.fill(PREFIX + length);
        if self.partial.len() < PREFIX + length {
            return Ok(Found::Nothing);
        }
        let message = std::mem::take(&mut self.partial).freeze().slice(PREFIX..);
        self.unpack(flag, message)
    }

    /// Moves received bytes to `partial` until it has `length` bytes.
    fn fill(&mut self, length: usize) {
        let missing = length.saturating_sub(self.partial.len());
        let piece = self.unread.split_to(missing.min(self.unread.len()));
        self.partial.extend_from_slice(&piece);
    }

    fn prefix(&self, bytes: &[u8]) -> Result<Option<(u8, usize)>, Status> {
        let Some(&[flag, a, b, c, d]) = bytes.first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        match flag {
            0 => {}
            1 => match &self.encoding {
                Encoding::Gzip => {}
                Encoding::None => {
                    return Err(Status::new(
                        Code::INTERNAL,
                        "grpc: compressed flag set with identity or empty encoding",
                    ));
                }
                Encoding::Unknown(name) => {
                    return Err(Status::new(
                        Code::UNIMPLEMENTED,
                        format!("grpc: Decompressor is not installed for grpc-encoding {name:?}"),
                    ));
                }
            },
            other => {
                return Err(Status::new(
                    Code::INTERNAL,
                    format!("grpc: received unexpected payload format {other}"),
                ));
            }
        }
        if length > self.max {
            return Err(Status::new(
                Code::RESOURCE_EXHAUSTED,
                format!(
                    "grpc: received message larger than max ({length} vs. {})",
                    self.max
                ),
            ));
        }
        Ok(Some((flag, length)))
    }

    fn unpack(&mut self, flag: u8, message: Bytes) -> Result<Found, Status> {
        self.packed = flag != 0;
        if !self.packed {
            return Ok(Found::Message(message));
        }
        let limits = DecodeLimits {
            max: self.max as u64,
            cut: false,
            memory: self.memory,
        };
        self.decoding =
            Decoding::gzip(message, limits).map_err(|error| undecodable(&error, self.max))?;
        self.decompress()
    }

    /// Decompresses one slice.
    fn decompress(&mut self) -> Result<Found, Status> {
        let Some(decoding) = &mut self.decoding else {
            return Ok(Found::Nothing);
        };
        let outcome = decoding.advance();
        if !matches!(outcome, Ok(None)) {
            self.decoding = None;
        }
        match outcome {
            Ok(Some(message)) => Ok(Found::Message(message)),
            Ok(None) => Ok(Found::Decompressing),
            Err(error) => Err(undecodable(&error, self.max)),
        }
    }
}

fn undecodable(error: &DecodeError, max: usize) -> Status {
    match error {
        DecodeError::Full(Full::TooLong { .. }) => Status::new(
            Code::RESOURCE_EXHAUSTED,
            format!("grpc: received message after decompression larger than max {max}"),
        ),
        DecodeError::Full(_) => Status::new(
            Code::RESOURCE_EXHAUSTED,
            format!("grpc: failed to decompress the received message: {error}"),
        ),
        _ => Status::new(
            Code::INTERNAL,
            format!("grpc: failed to decompress the received message: {error}"),
        ),
    }
}

impl std::fmt::Debug for Deframer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deframer")
            .field("max", &self.max)
            .field("encoding", &self.encoding)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(deframer: &mut Deframer, pieces: &[&[u8]]) -> Result<Vec<Vec<u8>>, Status> {
        let mut messages = Vec::new();
        for piece in pieces {
            deframer.push(Bytes::copy_from_slice(piece));
            loop {
                match deframer.next_message()? {
                    Found::Message(message) => messages.push(message.to_vec()),
                    Found::Decompressing => {}
                    Found::Nothing => break,
                }
            }
        }
        Ok(messages)
    }

    #[test]
    fn messages_do_not_depend_on_how_they_are_split() {
        let mut wire = Vec::new();
        let sent: [&[u8]; 4] = [b"first", b"", b"third message", &[7; 300]];
        for message in sent {
            let framed = Framed::new(message, Compression::Identity, 1 << 20).unwrap();
            wire.extend_from_slice(&framed.0);
        }
        for size in 1..wire.len() + 1 {
            let pieces: Vec<&[u8]> = wire.chunks(size).collect();
            let mut deframer = Deframer::new(1000);
            assert_eq!(all(&mut deframer, &pieces).unwrap(), sent, "by {size}");
            assert!(deframer.is_between_messages());
        }
    }

    #[test]
    fn compressed_messages_are_decompressed_within_the_limit() {
        let plain = vec![b'x'; 5000];
        let framed = Framed::new(&plain, Compression::Gzip, 1 << 20).unwrap();
        assert!(framed.len() < 200);
        let mut deframer = Deframer::new(5000);
        deframer.set_encoding("gzip");
        assert_eq!(all(&mut deframer, &[&framed.0]).unwrap(), [plain]);
        let mut deframer = Deframer::new(4999);
        deframer.set_encoding("gzip");
        let error = all(&mut deframer, &[&framed.0]).unwrap_err();
        assert_eq!(error.code, Code::RESOURCE_EXHAUSTED);
    }

    #[test]
    fn an_invalid_message_is_reported() {
        let code = |encoding: &str, bytes: &[u8]| {
            let mut deframer = Deframer::new(100);
            deframer.set_encoding(encoding);
            all(&mut deframer, &[bytes]).unwrap_err().code
        };
        assert_eq!(code("", &[1, 0, 0, 0, 0]), Code::INTERNAL);
        assert_eq!(code("snappy", &[1, 0, 0, 0, 0]), Code::UNIMPLEMENTED);
        assert_eq!(code("", &[9, 0, 0, 0, 0]), Code::INTERNAL);
        assert_eq!(code("", &[0, 0, 0, 0, 101]), Code::RESOURCE_EXHAUSTED);
        assert_eq!(code("gzip", &[1, 0, 0, 0, 2, 1, 2]), Code::INTERNAL);
    }

    #[test]
    fn a_large_announced_length_reserves_little_memory() {
        let mut deframer = Deframer::new(usize::MAX);
        deframer.push(Bytes::from_static(&[0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]));
        assert_eq!(deframer.next_message(), Ok(Found::Nothing));
        assert!(deframer.partial.capacity() <= 2 * MAX_RESERVED);
        assert!(!deframer.is_between_messages());
    }

    #[test]
    fn a_message_that_expands_is_decompressed_in_slices_within_the_budget() {
        static BUDGET: MemoryBudget = MemoryBudget::new(20 << 20);
        let plain = vec![0; 16 << 20];
        let framed = Framed::new(&plain, Compression::Gzip, 1 << 20).unwrap();
        let deframer = |bytes: &Bytes| {
            let mut deframer = Deframer::new(1 << 30);
            deframer.memory = &BUDGET;
            deframer.set_encoding("gzip");
            deframer.push(bytes.clone());
            deframer
        };
        let slices = |deframer: &mut Deframer| {
            let mut slices = 0;
            loop {
                match deframer.next_message() {
                    Ok(Found::Decompressing) => slices += 1,
                    other => return (slices, other),
                }
            }
        };
        let (count, held) = slices(&mut deframer(&framed.0));
        assert!(count > 3, "{count} slices");
        assert_eq!(BUDGET.used(), 16 << 20);
        let (_, refused) = slices(&mut deframer(&framed.0));
        let status = refused.unwrap_err();
        assert_eq!(status.code, Code::RESOURCE_EXHAUSTED);
        assert!(status.message.contains("PLIMSOLL_DECOMPRESSION_MEMORY"));
        drop(held);
        assert_eq!(BUDGET.used(), 0);
    }
}
