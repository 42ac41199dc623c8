//! Decompressors for HTTP's content codings with one common interface: each call does a bounded
//! amount of work.

use std::io::{self, BufRead, Read};

use bytes::{Buf, Bytes};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, DEFAULT_MAX_WINDOW_SIZE, FrameDecoder};

use crate::encoding::Encoding;

/// Maximum number of compressed bytes that one step reads. A limit on output alone does not bound a
/// step, because some input expands to nothing.
const INPUT: usize = 64 << 10;

/// Largest window that Brotli allows (RFC 7932, section 9.1).
const BROTLI_WINDOW: usize = 1 << 24;

/// A compressed body that is being decompressed.
pub(crate) enum Decompressor {
    Gzip(flate2::bufread::MultiGzDecoder<Input>),
    Zlib(flate2::bufread::ZlibDecoder<Input>),
    Deflate(flate2::bufread::DeflateDecoder<Input>),
    Brotli(Box<brotli::Decompressor<Input>>),
    Zstd(Box<Zstd>),
}

/// A single frame (RFC 8878, section 3.1.1).
pub(crate) struct Zstd {
    decoder: FrameDecoder,
    window: usize,
    input: Bytes,
}

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Number of bytes written, possibly 0.
    Made(usize),
    End,
}

impl Decompressor {
    /// Starts to decompress a body.
    ///
    /// # Errors
    /// If the start of the body is invalid.
    pub(crate) fn new(body: Bytes, encoding: Encoding) -> Result<Self, String> {
        let is_zlib = is_zlib(&body);
        if encoding == Encoding::Zstd {
            return Ok(Decompressor::Zstd(Box::new(Zstd::new(body)?)));
        }
        let input = Input {
            body,
            allowed: INPUT,
        };
        Ok(match encoding {
            Encoding::Gzip => Decompressor::Gzip(flate2::bufread::MultiGzDecoder::new(input)),
            // RFC 9110 defines "deflate" as zlib's format, but some servers send the bare deflate stream.
            Encoding::Deflate if is_zlib => {
                Decompressor::Zlib(flate2::bufread::ZlibDecoder::new(input))
            }
            Encoding::Deflate => Decompressor::Deflate(flate2::bufread::DeflateDecoder::new(input)),
            _ => Decompressor::Brotli(Box::new(brotli::Decompressor::new(input, 4096))),
        })
    }

    /// Upper limit of the output that the decompressor itself keeps. Deflate's window is too small to
    /// count.
    pub(crate) fn window(&self) -> usize {
        match self {
            Decompressor::Gzip(_) | Decompressor::Zlib(_) | Decompressor::Deflate(_) => 0,
            Decompressor::Brotli(_) => BROTLI_WINDOW,
            Decompressor::Zstd(zstd) => zstd.window,
        }
    }

    /// Decompresses into `out`, as far as is possible with a bounded amount of input.
    ///
    /// # Errors
    /// If the body is invalid.
    pub(crate) fn step(&mut self, out: &mut [u8]) -> io::Result<Step> {
        let made = match self {
            Decompressor::Gzip(decoder) => {
                decoder.get_mut().allowed = INPUT;
                decoder.read(out)
            }
            Decompressor::Zlib(decoder) => {
                decoder.get_mut().allowed = INPUT;
                decoder.read(out)
            }
            Decompressor::Deflate(decoder) => {
                decoder.get_mut().allowed = INPUT;
                decoder.read(out)
            }
            Decompressor::Brotli(decoder) => {
                decoder.get_mut().allowed = INPUT;
                decoder.read(out)
            }
            Decompressor::Zstd(zstd) => return zstd.step(out),
        };
        match made {
            Ok(0) => Ok(Step::End),
            Ok(made) => Ok(Step::Made(made)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Step::Made(0)),
            Err(error) => Err(error),
        }
    }
}

impl Zstd {
    fn new(mut body: Bytes) -> Result<Self, String> {
        let mut decoder = FrameDecoder::new();
        let window = zstd_window(&body);
        let mut rest = &body[..];
        match decoder.init(&mut rest) {
            Ok(()) => {
                let used = body.len() - rest.len();
                body.advance(used);
                Ok(Zstd {
                    decoder,
                    window,
                    input: body,
                })
            }
            Err(FrameDecoderError::ReadFrameHeaderError(
                ReadFrameHeaderError::MagicNumberReadError(error)
                | ReadFrameHeaderError::FrameDescriptorReadError(error)
                | ReadFrameHeaderError::WindowDescriptorReadError(error)
                | ReadFrameHeaderError::DictionaryIdReadError(error)
                | ReadFrameHeaderError::FrameContentSizeReadError(error),
            )) if error.kind() == io::ErrorKind::UnexpectedEof => Err("unexpected EOF".to_owned()),
            Err(_) => Err("no zstd frame".to_owned()),
        }
    }

    /// Decodes one block of at most 128 KiB (RFC 8878, section 3.1.1.2.4), or reads a part of the
    /// decoded data.
    fn step(&mut self, out: &mut [u8]) -> io::Result<Step> {
        if self.decoder.can_collect() == 0 {
            if self.decoder.is_finished() {
                return Ok(Step::End);
            }
            let mut rest = &self.input[..];
            self.decoder
                .decode_blocks(&mut rest, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(io::Error::other)?;
            let used = self.input.len() - rest.len();
            self.input.advance(used);
        }
        self.decoder.read(out).map(Step::Made)
    }
}

/// The window size that a frame declares (RFC 8878, section 3.1.1.1). Without a window, the
/// complete content is kept.
fn zstd_window(frame: &[u8]) -> usize {
    const SINGLE_SEGMENT: u8 = 0x20;
    let most = DEFAULT_MAX_WINDOW_SIZE as usize;
    match frame.get(4..6) {
        Some(&[descriptor, window]) if descriptor & SINGLE_SEGMENT == 0 => {
            let base = 1_usize << (10 + (window >> 3));
            (base + base / 8 * usize::from(window & 7)).min(most)
        }
        _ => most,
    }
}

/// Whether the bytes are a zlib header: method 8, and a valid checksum of both bytes (RFC 1950,
/// section 2.2).
fn is_zlib(body: &[u8]) -> bool {
    match body {
        [method, flags, ..] => {
            method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0
        }
        _ => false,
    }
}

/// A body that is readable only up to a limit. Each step raises the limit.
pub(crate) struct Input {
    body: Bytes,
    allowed: usize,
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let length = self.body.len().min(self.allowed);
        if length == 0 && !self.body.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(self.body.get(..length).unwrap_or_default())
    }

    fn consume(&mut self, bytes: usize) {
        self.body.advance(bytes.min(self.body.len()));
        self.allowed = self.allowed.saturating_sub(bytes);
    }
}
