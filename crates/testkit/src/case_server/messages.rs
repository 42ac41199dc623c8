//! gRPC messages as bytes. They are parsed and built by hand, so the comparison of two clients does
//! not depend on how a library interprets them.

use std::io::{Read, Write};

use bytes::{Bytes, BytesMut};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};

/// Splits a body into messages.
#[derive(Default)]
pub(super) struct Reader {
    held: BytesMut,
    /// Whether the last message was compressed.
    pub(super) packed: bool,
}

impl Reader {
    /// The next message, decompressed. `None` at the end, or if it cannot be decompressed.
    pub(super) async fn next(&mut self, body: &mut Incoming) -> Option<Bytes> {
        loop {
            if let Some(&[packed, a, b, c, d]) = self.held.first_chunk::<5>() {
                let length = u32::from_be_bytes([a, b, c, d]) as usize;
                if self.held.len() >= 5 + length {
                    let _ = self.held.split_to(5);
                    let message = self.held.split_to(length).freeze();
                    self.packed = packed != 0;
                    if !self.packed {
                        return Some(message);
                    }
                    let mut plain = Vec::new();
                    let read = GzDecoder::new(&message[..]).read_to_end(&mut plain);
                    return read.is_ok().then(|| plain.into());
                }
            }
            if body.is_end_stream() {
                return None;
            }
            let frame = body.frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                self.held.extend_from_slice(&data);
            }
        }
    }
}

/// An uncompressed message with its prefix.
pub(super) fn framed(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(message.len() + 5);
    framed.extend_from_slice(&[0]);
    framed.extend_from_slice(&(message.len() as u32).to_be_bytes());
    framed.extend_from_slice(message);
    framed.freeze()
}

/// A message compressed with gzip, with its prefix.
pub(super) fn packed(message: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(message);
    let body = encoder.finish().unwrap_or_default();
    let mut framed = BytesMut::from(&framed(&body)[..]);
    framed[0] = 1;
    framed.freeze()
}

/// A message with an integer in field 1.
pub(super) fn numbered(value: i64) -> Bytes {
    let mut message = vec![1 << 3];
    varint(&mut message, value as u64);
    message.into()
}

/// A message with a string in field 1.
pub(super) fn texted(text: &str) -> Bytes {
    let mut message = Vec::new();
    field(&mut message, 1, text.as_bytes());
    message.into()
}

/// Appends a length-delimited field.
pub(super) fn field(message: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    varint(message, number << 3 | 2);
    varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

fn varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

/// The fields of a message: field numbers with their bytes, or with the value of their varint.
pub(super) fn fields(message: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    let mut at = 0;
    let read = |at: &mut usize| {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = message.get(*at)?;
            *at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    };
    while let Some(key) = read(&mut at) {
        let bytes = match key & 7 {
            0 => {
                let Some(value) = read(&mut at) else { break };
                value.to_le_bytes().to_vec()
            }
            2 => {
                let Some(length) = read(&mut at) else { break };
                let end = at.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
                let Some(bytes) = message.get(at..end) else {
                    break;
                };
                at = end;
                bytes.to_vec()
            }
            _ => break,
        };
        found.push((key >> 3, bytes));
    }
    found
}

/// The bytes of a field. Empty if it is missing.
pub(super) fn bytes_of(message: &[u8], number: u64) -> Vec<u8> {
    let mut all = fields(message).into_iter();
    all.find(|field| field.0 == number)
        .map_or_else(Vec::new, |field| field.1)
}

/// The integer in a field, or 0 if it is missing.
pub(super) fn number(message: &[u8], field: u64) -> i64 {
    let bytes = bytes_of(message, field);
    let value = bytes
        .first_chunk::<8>()
        .map(|bytes| u64::from_le_bytes(*bytes));
    value.unwrap_or(0) as i64
}
