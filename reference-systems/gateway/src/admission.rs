//! Checks whether a request may be forwarded at all.
//!
//! hyper has parsed it and knows its framing. This module rejects everything else that two servers
//! might interpret differently (RFC 9112, sections 3.2 and 11.2).

use hyper::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode, Version};

use crate::forwarding::tokens;
use crate::refusal::Refusal;

/// The parts of a request that routing needs.
pub struct CheckedHead {
    /// The host with its port, as the client wrote it; `None` only for HTTP/1.0.
    pub host: Option<HeaderValue>,
    /// The announced length.
    pub length: Option<u64>,
}

/// Checks a request's headers.
pub fn check(head: &Parts) -> Result<CheckedHead, Refusal> {
    if head.method == Method::CONNECT || head.method == Method::TRACE {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        return Err(Refusal::new(status, "this method is not forwarded"));
    }
    let host = host(head)?;
    check_coding(head)?;
    let mut lengths = head.headers.get_all(CONTENT_LENGTH).iter();
    let length = match (lengths.next(), lengths.next()) {
        (None, _) => None,
        (Some(length), None) => {
            let digits = length.to_str().ok();
            let digits = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let length = digits.and_then(|digits| digits.parse().ok());
            Some(length.ok_or(Refusal::bad("Content-Length is not a number"))?)
        }
        _ => return Err(Refusal::bad("there are several Content-Lengths")),
    };
    Ok(CheckedHead { host, length })
}

/// The host of the request: from its target if that contains one, otherwise from its single Host
/// field (RFC 9112, section 3.2; RFC 9113, section 8.3.1).
fn host(head: &Parts) -> Result<Option<HeaderValue>, Refusal> {
    let mut fields = head.headers.get_all(HOST).iter();
    let field = fields.next();
    if fields.next().is_some() {
        return Err(Refusal::bad("there are several Hosts"));
    }
    let host = match (head.uri.authority(), field) {
        (Some(authority), _) => {
            if authority.as_str().contains('@') {
                return Err(Refusal::bad("the target names a user"));
            }
            // Every valid authority is also a valid header value.
            HeaderValue::from_str(authority.as_str()).map_err(|_| Refusal::bad("no such host"))?
        }
        (None, Some(host)) => host.clone(),
        (None, None) if head.version == Version::HTTP_10 => return Ok(None),
        (None, None) => return Err(Refusal::bad("there is no Host")),
    };
    let letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:[]~%".contains(byte);
    if !host.is_empty() && host.as_bytes().iter().all(letter) {
        Ok(Some(host))
    } else {
        Err(Refusal::bad("Host is not a host"))
    }
}

/// Besides Content-Length, this accepts only the framing that all servers interpret in the same way;
/// nginx also rejects others (RFC 9112, section 6.1).
fn check_coding(head: &Parts) -> Result<(), Refusal> {
    let mut codings = head.headers.get_all(TRANSFER_ENCODING).iter();
    let Some(coding) = codings.next() else {
        return Ok(());
    };
    let wrong = if codings.next().is_some() {
        "there are several Transfer-Encodings"
    } else if head.version == Version::HTTP_10 {
        "HTTP/1.0 has no Transfer-Encoding"
    } else if head.headers.contains_key(CONTENT_LENGTH) {
        "there are Transfer-Encoding and Content-Length"
    } else if !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
        let what = "Transfer-Encoding may be 'chunked' alone";
        return Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, what));
    } else {
        return Ok(());
    };
    Err(Refusal::bad(wrong))
}

/// Whether the client asks to switch to WebSocket (RFC 9110, section 7.8). Other upgrades are not
/// forwarded: with `h2c` an upstream would accept further requests that were not routed.
pub fn wants_upgrade(version: Version, headers: &HeaderMap) -> bool {
    let mut protocols = headers.get_all(UPGRADE).iter();
    let is_websocket = protocols
        .next()
        .is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(b"websocket"));
    version == Version::HTTP_11
        && is_websocket
        && protocols.next().is_none()
        && tokens(headers, &CONNECTION).any(|token| token.eq_ignore_ascii_case("upgrade"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    #[test]
    fn upgrades_are_recognized() {
        let wants = |connection: &str, protocol: &str| {
            let request = Request::get("/").header(CONNECTION, connection);
            let request = request.header(UPGRADE, protocol).body(()).unwrap();
            wants_upgrade(request.version(), request.headers())
        };
        assert!(wants("keep-alive, Upgrade", "WebSocket"));
        assert!(!wants("keep-alive", "websocket"));
        for other in ["h2c", "websocket, h2c", "h2c, websocket", ""] {
            assert!(!wants("Upgrade", other), "{other}");
        }
    }
}
