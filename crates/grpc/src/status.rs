//! The status of a call: from headers or trailers, or derived from an error of the stream.

use std::fmt;

use bytes::Bytes;
use http::HeaderMap;
use plimsoll_http2::{StreamFault, error_name};

use crate::base64;
use crate::code::Code;

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub code: Code,
    pub message: String,
    /// The serialized `google.rpc.Status` from the trailers; empty if there was none.
    pub details: Bytes,
    /// Whether the call failed because this machine had no free local port or file descriptor.
    pub is_exhausted: bool,
}

impl Status {
    pub fn new(code: Code, message: impl Into<String>) -> Status {
        Status {
            code,
            message: message.into(),
            details: Bytes::new(),
            is_exhausted: false,
        }
    }

    pub fn ok() -> Status {
        Status::new(Code::OK, "")
    }

    pub(crate) fn deadline() -> Status {
        Status::new(Code::DEADLINE_EXCEEDED, "context deadline exceeded")
    }

    /// The status in headers or trailers, if any.
    pub(crate) fn of_headers(headers: &HeaderMap) -> Option<Status> {
        let code = headers.get("grpc-status")?;
        let number = code.to_str().ok().and_then(|text| text.parse().ok());
        let Some(number) = number else {
            let shown = String::from_utf8_lossy(code.as_bytes()).into_owned();
            let message = format!("transport: malformed grpc-status: {shown:?}");
            return Some(Status::new(Code::INTERNAL, message));
        };
        let message = headers.get("grpc-message");
        let message = message.map_or_else(String::new, |text| unescape(text.as_bytes()));
        let details = headers
            .get("grpc-status-details-bin")
            .and_then(|text| base64::decode(text.as_bytes()))
            .unwrap_or_default();
        Some(Status::new(Code(number), message).with_details(details.into()))
    }

    /// The status for a stream that ended without a status.
    pub(crate) fn of_fault(fault: &StreamFault) -> Status {
        match fault {
            StreamFault::Reset { code, .. } => Status::new(
                Code::of_reset(*code),
                format!(
                    "stream terminated by RST_STREAM with error code: {}",
                    error_name(*code)
                ),
            ),
            StreamFault::GoAway {
                code, debug_data, ..
            } => {
                let debug_data = if debug_data.is_empty() {
                    String::new()
                } else {
                    format!(", debug data: {debug_data:?}")
                };
                Status::new(
                    Code::UNAVAILABLE,
                    format!(
                        "closing transport due to: connection error: received GOAWAY, error code: {}{debug_data}",
                        error_name(*code)
                    ),
                )
            }
            StreamFault::Connection { .. } | StreamFault::NotHttp2 { .. } => {
                Status::new(Code::UNAVAILABLE, format!("connection error: {fault}"))
            }
            StreamFault::Broken { error, .. } => Status::new(
                Code::UNAVAILABLE,
                format!(
                    "error reading from server: {}",
                    plimsoll_net::describe(error)
                ),
            ),
            StreamFault::Ended => Status::new(Code::UNAVAILABLE, "error reading from server: EOF"),
            StreamFault::Other(what) => Status::new(Code::INTERNAL, what.clone()),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rpc error: code = {} desc = {}", self.code, self.message)
    }
}

/// Decodes a percent-encoded message. Invalid escapes stay unchanged, because "gRPC over HTTP2"
/// forbids dropping an error because of its encoding.
fn unescape(text: &[u8]) -> String {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte == b'%'
            && let (Some(high), Some(low)) = (digit(text.get(at)), digit(text.get(at + 1)))
        {
            plain.push((high * 16 + low) as u8);
            at += 2;
        } else {
            plain.push(byte);
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_percent_decoded_and_other_text_is_unchanged() {
        assert_eq!(unescape(b"a%20b%E2%98%BA"), "a b\u{263a}");
        assert_eq!(unescape(b"100% sure %zz %4"), "100% sure %zz %4");
        assert_eq!(unescape(b"%ff"), "\u{fffd}");
    }

    #[test]
    fn a_status_that_is_not_a_number_is_an_error() {
        let mut headers = HeaderMap::new();
        assert_eq!(Status::of_headers(&headers), None);
        headers.insert("grpc-status", "five".parse().unwrap());
        assert_eq!(Status::of_headers(&headers).unwrap().code, Code::INTERNAL);
        headers.insert("grpc-status", "5".parse().unwrap());
        headers.insert("grpc-message", "not%20here".parse().unwrap());
        headers.insert(
            "grpc-status-details-bin",
            "CAUSCG5vdCBoZXJl".parse().unwrap(),
        );
        let status = Status::of_headers(&headers).unwrap();
        assert_eq!(
            status.to_string(),
            "rpc error: code = NotFound desc = not here"
        );
        assert_eq!(&status.details[..], b"\x08\x05\x12\x08not here");
    }
}
