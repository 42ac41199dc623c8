//! The frames of a stream (RFC 9114, section 7).

use bytes::Bytes;

use crate::varint;

pub(crate) const DATA: u64 = 0x0;
pub(crate) const HEADERS: u64 = 0x1;
pub(crate) const CANCEL_PUSH: u64 = 0x3;
pub(crate) const SETTINGS: u64 = 0x4;
pub(crate) const PUSH_PROMISE: u64 = 0x5;
pub(crate) const GOAWAY: u64 = 0x7;
pub(crate) const MAX_PUSH_ID: u64 = 0xd;

/// Longest frame in bytes that is buffered completely. Most such frames contain headers.
pub(crate) const MAX_WHOLE: usize = 1 << 20;

/// Splits a stream into frames, however the stream is divided into pieces. Buffers at most one
/// frame.
#[derive(Debug, Default)]
pub struct Frames {
    place: Place,
    /// The bytes of a frame's type and length, or of a frame that is buffered completely.
    held: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Place {
    /// Before or within the type and length of a frame.
    #[default]
    Head,
    Whole {
        kind: u64,
        length: usize,
    },
    Data {
        left: u64,
    },
    Skipped {
        left: u64,
    },
}

/// A part of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// A piece of a body.
    Data(Bytes),
    /// A complete frame of this type.
    Whole(u64, Vec<u8>),
}

impl Frames {
    /// Takes the next piece from `input`; `None` when `input` is used up.
    ///
    /// # Errors
    /// The reason why the frame is invalid.
    pub fn next(&mut self, input: &mut Bytes) -> Result<Option<Piece>, String> {
        while !input.is_empty() || self.is_complete() {
            match self.place {
                Place::Head => self.head(input)?,
                Place::Whole { kind, length } => {
                    let missing = length - self.held.len();
                    let part = input.split_to(missing.min(input.len()));
                    self.held.extend_from_slice(&part);
                    if self.held.len() == length {
                        self.place = Place::Head;
                        return Ok(Some(Piece::Whole(kind, std::mem::take(&mut self.held))));
                    }
                }
                Place::Data { left } => {
                    let part = split(input, left);
                    self.advance(left - part.len() as u64, |left| Place::Data { left });
                    return Ok(Some(Piece::Data(part)));
                }
                Place::Skipped { left } => {
                    let part = split(input, left);
                    self.advance(left - part.len() as u64, |left| Place::Skipped { left });
                }
            }
        }
        Ok(None)
    }

    /// Whether the stream may end here, which is not inside a frame.
    pub fn is_between(&self) -> bool {
        matches!(self.place, Place::Head) && self.held.is_empty()
    }

    /// An empty frame needs no more input.
    fn is_complete(&self) -> bool {
        matches!(self.place, Place::Whole { length: 0, .. })
    }

    fn advance(&mut self, left: u64, place: impl Fn(u64) -> Place) {
        self.place = match left {
            0 => Place::Head,
            left => place(left),
        };
    }

    /// Reads type and length byte by byte, because they are short and rarely split.
    fn head(&mut self, input: &mut Bytes) -> Result<(), String> {
        while let Some(byte) = input.first().copied() {
            let _ = input.split_to(1);
            self.held.push(byte);
            let Some((kind, used)) = varint::read(&self.held) else {
                continue;
            };
            let Some((length, _)) = varint::read(self.held.get(used..).unwrap_or_default()) else {
                continue;
            };
            self.held.clear();
            self.place = place_of(kind, length)?;
            return Ok(());
        }
        Ok(())
    }
}

fn split(input: &mut Bytes, most: u64) -> Bytes {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    input.split_to(most.min(input.len()))
}

fn place_of(kind: u64, length: u64) -> Result<Place, String> {
    Ok(match kind {
        DATA if length == 0 => Place::Head,
        DATA => Place::Data { left: length },
        HEADERS | CANCEL_PUSH | SETTINGS | PUSH_PROMISE | GOAWAY | MAX_PUSH_ID => {
            match usize::try_from(length) {
                Ok(length) if length <= MAX_WHOLE => Place::Whole { kind, length },
                _ => {
                    return Err(format!(
                        "a frame of type {kind} is {length} bytes long; at most {MAX_WHOLE} are read"
                    ));
                }
            }
        }
        // HTTP/2 has these types; in HTTP/3 they are an error (RFC 9114, section 7.2.8).
        0x2 | 0x6 | 0x8 | 0x9 => {
            return Err(format!("a frame of type {kind}, which HTTP/3 forbids"));
        }
        // Unknown types are skipped with their contents (section 9).
        _ if length == 0 => Place::Head,
        _ => Place::Skipped { left: length },
    })
}

/// Appends the type and length of a frame.
pub(crate) fn head(out: &mut Vec<u8>, kind: u64, length: usize) {
    varint::write(out, kind);
    varint::write(out, length as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Vec<u8> {
        let mut out = Vec::new();
        head(&mut out, HEADERS, 3);
        out.extend_from_slice(b"abc");
        head(&mut out, 0x21, 70);
        out.extend_from_slice(&[7; 70]);
        head(&mut out, DATA, 300);
        out.extend_from_slice(&[1; 300]);
        head(&mut out, DATA, 0);
        head(&mut out, SETTINGS, 0);
        out
    }

    /// The frames must not depend on how the stream is split into pieces.
    #[test]
    fn frames_do_not_depend_on_how_the_stream_is_split() {
        for size in 1..80 {
            let mut frames = Frames::default();
            let (mut body, mut whole) = (Vec::new(), Vec::new());
            for piece in stream().chunks(size) {
                let mut input = Bytes::copy_from_slice(piece);
                while let Some(piece) = frames.next(&mut input).unwrap() {
                    match piece {
                        Piece::Data(part) => body.extend_from_slice(&part),
                        Piece::Whole(kind, bytes) => whole.push((kind, bytes)),
                    }
                }
            }
            assert!(frames.is_between());
            assert_eq!(body, [1; 300]);
            assert_eq!(whole, [(HEADERS, b"abc".to_vec()), (SETTINGS, Vec::new())]);
        }
    }

    #[test]
    fn a_stream_must_not_end_within_a_frame() {
        let mut frames = Frames::default();
        let mut input = Bytes::from_static(&[0, 5, 1, 2]);
        while frames.next(&mut input).unwrap().is_some() {}
        assert!(!frames.is_between());
    }

    #[test]
    fn long_and_forbidden_frames_are_rejected() {
        let refused = |kind: u64, length: usize| {
            let mut out = Vec::new();
            head(&mut out, kind, length);
            Frames::default().next(&mut out.into()).unwrap_err()
        };
        assert!(refused(HEADERS, MAX_WHOLE + 1).contains("at most"));
        assert!(refused(0x9, 1).contains("forbids"));
    }
}
