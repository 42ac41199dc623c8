//! Chunked bodies.

use crate::error::{ErrorInfo, code};

/// Maximum length of a chunk-size line with its extensions, and of the trailer section.
const MAX_CHUNK_LINE: usize = 4096;
const MAX_TRAILERS: usize = 1 << 16;

/// Decodes chunked bodies (RFC 9112, section 7.1) from a byte stream that arrives in pieces of any
/// size.
#[derive(Debug)]
pub(crate) struct Dechunker {
    state: State,
}

#[derive(Debug)]
enum State {
    /// In the hexadecimal chunk size.
    Size {
        size: u64,
        digits: u32,
    },
    /// In a chunk extension, until the end of the line.
    Extension {
        size: u64,
        length: usize,
    },
    Data {
        left: u64,
    },
    /// At the line break after a chunk's data.
    DataEnd,
    /// In the trailer section; `line` counts the bytes of the current line.
    Trailers {
        line: usize,
        total: usize,
    },
    Done,
}

impl Dechunker {
    pub(crate) fn new() -> Self {
        Dechunker {
            state: State::Size { size: 0, digits: 0 },
        }
    }

    /// Whether the last chunk and the trailers have been read.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Reads `input` and passes the data in it to `sink`. Returns the number of bytes read: all of
    /// them, unless the body ends earlier.
    pub(crate) fn feed(
        &mut self,
        input: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), ErrorInfo>,
    ) -> Result<usize, ErrorInfo> {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            match &mut self.state {
                State::Size { size, digits } => match char::from(byte).to_digit(16) {
                    Some(digit) => {
                        *digits += 1;
                        if *digits > 16 {
                            return Err(malformed("http chunk length too large"));
                        }
                        *size = *size << 4 | u64::from(digit);
                        at += 1;
                    }
                    None if *digits == 0 => {
                        return Err(malformed("invalid byte in chunk length"));
                    }
                    None if matches!(byte, b';' | b' ' | b'\t' | b'\r' | b'\n') => {
                        self.state = State::Extension {
                            size: *size,
                            length: 0,
                        };
                    }
                    None => return Err(malformed("invalid byte in chunk length")),
                },
                State::Extension { size, length } => {
                    at += 1;
                    *length += 1;
                    if byte == b'\n' {
                        self.state = match *size {
                            0 => State::Trailers { line: 0, total: 0 },
                            left => State::Data { left },
                        };
                    } else if *length > MAX_CHUNK_LINE {
                        return Err(malformed("header line too long"));
                    }
                }
                State::Data { left } => {
                    let here = (input.len() - at) as u64;
                    let take = here.min(*left) as usize;
                    sink(input.get(at..at + take).unwrap_or_default())?;
                    at += take;
                    *left -= take as u64;
                    if *left == 0 {
                        self.state = State::DataEnd;
                    }
                }
                State::DataEnd => {
                    at += 1;
                    match byte {
                        b'\r' => {}
                        b'\n' => self.state = State::Size { size: 0, digits: 0 },
                        _ => return Err(malformed("malformed chunked encoding")),
                    }
                }
                State::Trailers { line, total } => {
                    at += 1;
                    *total += 1;
                    match byte {
                        b'\n' if *line == 0 => {
                            self.state = State::Done;
                            return Ok(at);
                        }
                        b'\n' => *line = 0,
                        b'\r' => {}
                        _ => *line += 1,
                    }
                    if *total > MAX_TRAILERS {
                        return Err(malformed(
                            "http: suspiciously long trailer after chunked body",
                        ));
                    }
                }
                State::Done => return Ok(at),
            }
        }
        Ok(at)
    }
}

fn malformed(message: &str) -> ErrorInfo {
    ErrorInfo::new(code::DEFAULT, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect(pieces: &[&[u8]]) -> Result<(Vec<u8>, usize, bool), ErrorInfo> {
        let mut dechunker = Dechunker::new();
        let mut out = Vec::new();
        let mut read = 0;
        for piece in pieces {
            read += dechunker.feed(piece, &mut |data| {
                out.extend_from_slice(data);
                Ok(())
            })?;
        }
        Ok((out, read, dechunker.is_done()))
    }

    #[test]
    fn chunks_extensions_and_trailers_are_parsed() {
        let wire = b"5;a=b\r\nhello\r\n6 \r\n world\r\n0\r\nX-Sum: 1\r\n\r\nrest";
        let (body, read, done) = collect(&[wire]).unwrap();
        assert_eq!(body, b"hello world");
        assert_eq!(read, wire.len() - 4);
        assert!(done);
    }

    #[test]
    fn garbage_is_rejected() {
        for bad in [
            &b"zz\r\n"[..],
            b"\r\n",
            b"5x\r\n",
            b"2\r\nabX",
            b"11111111111111111\r\n",
        ] {
            assert!(collect(&[bad]).is_err(), "{bad:?}");
        }
        let endless_line = [b"5;".to_vec(), vec![b'x'; 5000]].concat();
        assert!(collect(&[&endless_line]).is_err());
        let endless_trailers = [b"0\r\n".to_vec(), b"A: b\r\n".repeat(20_000)].concat();
        assert!(collect(&[&endless_trailers]).is_err());
    }

    proptest! {
        #[test]
        fn the_result_does_not_depend_on_the_pieces(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 0..6),
            cuts in proptest::collection::vec(0usize..300, 0..6),
        ) {
            let mut wire = Vec::new();
            for chunk in &chunks {
                wire.extend_from_slice(format!("{:X}\r\n", chunk.len()).as_bytes());
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(wire.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&wire[from..cut]);
                from = cut;
            }
            pieces.push(&wire[from..]);
            let (body, read, done) = collect(&pieces).unwrap();
            prop_assert_eq!(body, chunks.concat());
            prop_assert_eq!(read, wire.len());
            prop_assert!(done);
        }
    }
}
