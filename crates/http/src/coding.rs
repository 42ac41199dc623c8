//! Content codings: RFC 9110, section 8.4.1.

use std::io::{self, Read, Write};

use bytes::Bytes;

use crate::error::{ErrorInfo, code};
use crate::head::Head;
use crate::request::Encoding;

/// Applies `encodings` to a body, one after the other.
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

/// Undoes the codings that `head` names, the last applied first. A coding we do
/// not know leaves the body as it came, as in k6.
pub(crate) fn decode(head: &Head, body: Bytes, max: u64) -> Result<Bytes, ErrorInfo> {
    let mut encodings = Vec::new();
    for value in head.all("content-encoding") {
        for name in String::from_utf8_lossy(value).split(',') {
            match Encoding::parse(name) {
                Some(encoding) => encodings.push(encoding),
                None => return Ok(body),
            }
        }
    }
    let mut body = body;
    for encoding in encodings.into_iter().rev() {
        body = decode_one(&body, encoding, max)?.into();
    }
    Ok(body)
}

/// Undoes gzip. What of a body that was cut can be decoded, is.
pub(crate) fn gunzip(body: &[u8], max: u64) -> Result<Vec<u8>, ErrorInfo> {
    let mut decoder = flate2::read::MultiGzDecoder::new(body).take(max);
    let mut out = Vec::new();
    match decoder.read_to_end(&mut out) {
        Ok(_) => Ok(out),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(out),
        Err(error) => Err(broken(&error.to_string())),
    }
}

fn decode_one(body: &[u8], encoding: Encoding, max: u64) -> Result<Vec<u8>, ErrorInfo> {
    match encoding {
        Encoding::Gzip => bounded(flate2::read::MultiGzDecoder::new(body), max),
        // RFC 9110 means zlib's format; some servers send the bare stream.
        Encoding::Deflate if is_zlib(body) => bounded(flate2::read::ZlibDecoder::new(body), max),
        Encoding::Deflate => bounded(flate2::read::DeflateDecoder::new(body), max),
        Encoding::Brotli => bounded(brotli::Decompressor::new(body, 4096), max),
        Encoding::Zstd => match ruzstd::decoding::StreamingDecoder::new(body) {
            Ok(decoder) => bounded(decoder, max),
            Err(error) if format!("{error:?}").contains("UnexpectedEof") => {
                Err(broken("unexpected EOF"))
            }
            Err(_) => Err(broken("no zstd frame")),
        },
    }
}

/// RFC 1950, section 2.2: method 8, and a check value over both bytes.
fn is_zlib(body: &[u8]) -> bool {
    match body {
        [method, flags, ..] => {
            method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0
        }
        _ => false,
    }
}

/// Reads a decoder out, up to `max` bytes: a small body can hide a huge one.
fn bounded(decoder: impl Read, max: u64) -> Result<Vec<u8>, ErrorInfo> {
    let mut out = Vec::new();
    let read = decoder.take(max.saturating_add(1)).read_to_end(&mut out);
    match read {
        Ok(length) if length as u64 > max => Err(broken(&format!(
            "it grows beyond the {max} bytes that are kept"
        ))),
        Ok(_) => Ok(out),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(broken("unexpected EOF")),
        Err(error) => Err(broken(&error.to_string())),
    }
}

fn broken(why: &str) -> ErrorInfo {
    ErrorInfo::new(
        code::DECOMPRESSION,
        format!("error decompressing response body ({why})"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::Proto;

    fn head(codings: &str) -> Head {
        let fields = [("Content-Encoding", codings.as_bytes())];
        Head::from_parts(Proto::Http11, 200, fields.into_iter()).unwrap()
    }

    const ALL: [Encoding; 4] = [
        Encoding::Gzip,
        Encoding::Deflate,
        Encoding::Brotli,
        Encoding::Zstd,
    ];

    #[test]
    fn what_is_encoded_decodes_again() {
        let plain = b"data data data ".repeat(1000);
        for encoding in ALL {
            let wire = encode(&plain, &[encoding]).unwrap();
            assert!(wire.len() < plain.len(), "{encoding:?}");
            let back = decode(&head(encoding.as_str()), wire.into(), 1 << 20).unwrap();
            assert_eq!(back, plain, "{encoding:?}");
        }
        let chained = encode(&plain, &ALL).unwrap();
        let back = decode(&head("gzip, deflate, br, zstd"), chained.into(), 1 << 20).unwrap();
        assert_eq!(back, plain);
    }

    #[test]
    fn a_bare_deflate_stream_is_read_and_unknown_codings_stay() {
        let mut writer =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        writer.write_all(b"hello").unwrap();
        let bare = writer.finish().unwrap();
        assert_eq!(decode(&head("deflate"), bare.into(), 100).unwrap(), "hello");
        let odd = Bytes::from_static(b"xyz");
        assert_eq!(decode(&head("foo"), odd.clone(), 100).unwrap(), odd);
    }

    #[test]
    fn bombs_and_garbage_are_errors() {
        let bomb = encode(&vec![0; 1 << 20], &[Encoding::Gzip]).unwrap();
        let error = decode(&head("gzip"), bomb.into(), 1000).unwrap_err();
        assert_eq!(error.code, code::DECOMPRESSION);
        assert!(error.message.contains("1000 bytes"));
        for encoding in ALL {
            let garbage = Bytes::from_static(b"abc");
            let error = decode(&head(encoding.as_str()), garbage, 1000).unwrap_err();
            assert_eq!(error.code, code::DECOMPRESSION, "{encoding:?}");
        }
    }
}
