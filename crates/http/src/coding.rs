//! Content codings (RFC 9110, section 8.4.1).

use std::io::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use plimsoll_units::Moment;

use crate::decoded::{Decoded, Full};
use crate::decompressor::{Decompressor, Step};
use crate::encoding::Encoding;
use crate::error::{ErrorInfo, code};
use crate::fault;
use crate::head::Head;
use crate::memory_budget::MemoryBudget;

/// Applies `encodings` to a body, one after another.
pub(crate) fn encode(body: &[u8], encodings: &[Encoding]) -> io::Result<Vec<u8>> {
    let mut body = body.to_vec();
    for encoding in encodings {
        body = encode_one(&body, *encoding)?;
    }
    Ok(body)
}

fn encode_one(body: &[u8], encoding: Encoding) -> io::Result<Vec<u8>> {
    let level = flate2::Compression::default();
    match encoding {
        Encoding::Gzip => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), level);
            writer.write_all(body)?;
            writer.finish()
        }
        Encoding::Deflate => {
            let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), level);
            writer.write_all(body)?;
            writer.finish()
        }
        Encoding::Brotli => {
            let mut out = Vec::new();
            let mut writer = brotli::CompressorWriter::new(&mut out, 4096, 6, 22);
            writer.write_all(body)?;
            writer.flush()?;
            drop(writer);
            Ok(out)
        }
        Encoding::Zstd => Ok(ruzstd::encoding::compress_to_vec(
            body,
            ruzstd::encoding::CompressionLevel::Fastest,
        )),
    }
}

/// Duration of one slice of decompression. Between slices, other users of the worker run.
const SLICE: Duration = Duration::from_micros(250);

/// Maximum output of one step. The clock is checked after each step.
const STEP: usize = 64 << 10;

/// Limits for the decompression of a body.
#[derive(Clone, Copy, Debug)]
pub struct DecodeLimits {
    /// Maximum length of the decompressed body, in bytes.
    pub max: u64,
    /// Whether a longer body is truncated to `max` instead of causing an error.
    pub cut: bool,
    pub memory: &'static MemoryBudget,
}

/// Reasons why a body could not be decompressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The body is incomplete.
    Cut,
    Corrupt(String),
    Full(Full),
}

/// A body that is being decompressed, one slice at a time.
pub struct Decoding {
    limits: DecodeLimits,
    /// Codings that are not removed yet, in the order in which they were applied.
    encodings: Vec<Encoding>,
    /// `None` when its coding is removed and the output is being joined.
    decompressor: Option<Decompressor>,
    output: Decoded,
}

impl Decoding {
    /// Starts to remove `encodings`, the last one first. `None` if there are none.
    ///
    /// # Errors
    /// If the start of the body is invalid.
    pub(crate) fn new(
        body: Bytes,
        mut encodings: Vec<Encoding>,
        limits: DecodeLimits,
    ) -> Result<Option<Self>, DecodeError> {
        let Some(encoding) = encodings.pop() else {
            return Ok(None);
        };
        let compressed = body.len();
        let decompressor = Decompressor::new(body, encoding).map_err(DecodeError::Corrupt)?;
        let max = usize::try_from(limits.max).unwrap_or(usize::MAX - 1);
        let window = decompressor.window();
        Ok(Some(Decoding {
            limits,
            encodings,
            decompressor: Some(decompressor),
            output: Decoded::new(max, compressed, window, limits.memory),
        }))
    }

    /// Decompresses gzip.
    ///
    /// # Errors
    /// Never: later steps report errors in the body.
    pub fn gzip(body: Bytes, limits: DecodeLimits) -> Result<Option<Self>, DecodeError> {
        Decoding::new(body, vec![Encoding::Gzip], limits)
    }

    /// Decompresses one slice. `None` if another slice is needed; other tasks should run before it.
    ///
    /// # Errors
    /// If the body cannot be decoded. The error is returned as soon as that is certain.
    pub fn advance(&mut self) -> Result<Option<Bytes>, DecodeError> {
        let started = plimsoll_clock::now();
        loop {
            let done = match &mut self.decompressor {
                Some(decompressor) => {
                    if step(decompressor, &mut self.output, self.limits)? {
                        self.decompressor = None;
                    }
                    None
                }
                None => self.output.join().map_err(DecodeError::Full)?,
            };
            if let Some(body) = done {
                let encodings = std::mem::take(&mut self.encodings);
                let body = Bytes::from(body);
                match Decoding::new(body.clone(), encodings, self.limits)? {
                    Some(next) => *self = next,
                    None => return Ok(Some(body)),
                }
            }
            if plimsoll_clock::now().since(started) >= SLICE {
                return Ok(None);
            }
        }
    }

    /// Stops here. The body is what has been decompressed so far.
    pub(crate) fn cut(&mut self) {
        self.decompressor = None;
    }
}

/// Returns true when the body is complete.
fn step(
    decompressor: &mut Decompressor,
    output: &mut Decoded,
    limits: DecodeLimits,
) -> Result<bool, DecodeError> {
    if limits.cut && output.len() as u64 >= limits.max {
        return Ok(true);
    }
    let mut most = STEP;
    if limits.cut {
        let left = limits.max - output.len() as u64;
        most = most.min(usize::try_from(left).unwrap_or(STEP));
    }
    let space = output.space().map_err(DecodeError::Full)?;
    let length = space.len().min(most);
    match decompressor.step(space.get_mut(..length).unwrap_or_default()) {
        Ok(Step::End) => Ok(true),
        Ok(Step::Made(made)) => {
            output.advance(made).map_err(DecodeError::Full)?;
            Ok(false)
        }
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(DecodeError::Cut),
        Err(error) => Err(DecodeError::Corrupt(error.to_string())),
    }
}

/// The codings that `head` names, in the order in which they were applied. Empty if it names an
/// unknown coding: then the body stays as received, as in k6.
pub(crate) fn codings(head: &Head) -> Vec<Encoding> {
    let mut encodings = Vec::new();
    for value in head.all("content-encoding") {
        for name in String::from_utf8_lossy(value).split(',') {
            match Encoding::parse(name) {
                Some(encoding) => encodings.push(encoding),
                None => return Vec::new(),
            }
        }
    }
    encodings
}

/// Removes `encodings`, the last applied first. Lets other tasks run between slices.
pub(crate) async fn decode(
    body: Bytes,
    encodings: Vec<Encoding>,
    limits: DecodeLimits,
    deadline: Moment,
) -> Result<Bytes, ErrorInfo> {
    match Decoding::new(body.clone(), encodings, limits)? {
        Some(mut decoding) => {
            drop(body);
            finish(&mut decoding, deadline).await
        }
        None => Ok(body),
    }
}

/// Decompresses gzip. A truncated body is decompressed as far as possible.
pub(crate) async fn gunzip(
    body: Bytes,
    limits: DecodeLimits,
    deadline: Moment,
) -> Result<Bytes, ErrorInfo> {
    let Some(mut decoding) = Decoding::gzip(body, limits)? else {
        return Ok(Bytes::new());
    };
    match finish(&mut decoding, deadline).await {
        Err(error) if error == DecodeError::Cut.into() => {
            decoding.cut();
            finish(&mut decoding, deadline).await
        }
        outcome => outcome,
    }
}

async fn finish(decoding: &mut Decoding, deadline: Moment) -> Result<Bytes, ErrorInfo> {
    loop {
        if let Some(body) = decoding.advance()? {
            return Ok(body);
        }
        if plimsoll_clock::now() >= deadline {
            return Err(fault::timeout_of_decompression());
        }
        tokio::task::yield_now().await;
    }
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DecodeError::Cut => f.write_str("unexpected EOF"),
            DecodeError::Corrupt(why) => f.write_str(why),
            DecodeError::Full(Full::TooLong { max }) => {
                write!(f, "it grows beyond the {max} bytes that are kept")
            }
            DecodeError::Full(Full::OverBudget(over)) => over.fmt(f),
            DecodeError::Full(Full::NoMemory) => f.write_str("no memory left"),
        }
    }
}

impl std::error::Error for DecodeError {}

impl From<DecodeError> for ErrorInfo {
    fn from(error: DecodeError) -> Self {
        let mut info = ErrorInfo::new(
            code::DECOMPRESSION,
            format!("error decompressing response body ({error})"),
        );
        // The response may be valid, but this machine does not have enough memory for it.
        info.is_local = matches!(
            error,
            DecodeError::Full(Full::OverBudget(_) | Full::NoMemory)
        );
        info
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Proto;

    fn head(codings: &str) -> Head {
        let fields = [("Content-Encoding", codings.as_bytes())];
        Head::from_parts(Proto::Http11, 200, fields.into_iter()).unwrap()
    }

    fn decode_all(names: &str, body: impl Into<Bytes>, max: u64) -> Result<Bytes, ErrorInfo> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let limits = DecodeLimits {
            max,
            cut: false,
            memory: MemoryBudget::process(),
        };
        let deadline = plimsoll_clock::now() + Duration::from_secs(60);
        runtime.block_on(decode(body.into(), codings(&head(names)), limits, deadline))
    }

    const ALL: [Encoding; 4] = [
        Encoding::Gzip,
        Encoding::Deflate,
        Encoding::Brotli,
        Encoding::Zstd,
    ];

    #[test]
    fn encoding_and_decoding_round_trip() {
        let plain = b"data data data ".repeat(1000);
        for encoding in ALL {
            let wire = encode(&plain, &[encoding]).unwrap();
            assert!(wire.len() < plain.len(), "{encoding:?}");
            let back = decode_all(encoding.as_str(), wire, 1 << 20).unwrap();
            assert_eq!(back, plain, "{encoding:?}");
        }
        let chained = encode(&plain, &ALL).unwrap();
        let back = decode_all("gzip, deflate, br, zstd", chained, 1 << 20).unwrap();
        assert_eq!(back, plain);
    }

    #[test]
    fn a_bare_deflate_stream_is_decoded_and_unknown_codings_stay() {
        let mut writer =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        writer.write_all(b"hello").unwrap();
        let bare = writer.finish().unwrap();
        assert_eq!(decode_all("deflate", bare, 100).unwrap(), "hello");
        let odd = Bytes::from_static(b"xyz");
        assert_eq!(decode_all("foo", odd.clone(), 100).unwrap(), odd);
    }

    #[test]
    fn decompression_bombs_and_garbage_are_errors() {
        let bomb = encode(&vec![0; 1 << 20], &[Encoding::Gzip]).unwrap();
        let error = decode_all("gzip", bomb, 1000).unwrap_err();
        assert_eq!(error.code, code::DECOMPRESSION);
        assert!(error.message.contains("1000 bytes"));
        for encoding in ALL {
            let garbage = Bytes::from_static(b"abc");
            let error = decode_all(encoding.as_str(), garbage, 1000).unwrap_err();
            assert_eq!(error.code, code::DECOMPRESSION, "{encoding:?}");
        }
    }
}
