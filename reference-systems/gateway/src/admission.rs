//! Checks whether a request may be forwarded at all.
//!
//! hyper has parsed it and knows its framing. This module rejects everything else that two servers
//! might interpret differently (RFC 9112, sections 3.2 and 11.2).

use hyper::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::{Method, Version};

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
        return Err(Refusal::Method);
    }
    let host = host(head)?;
    check_coding(head)?;
    let mut lengths = head.headers.get_all(CONTENT_LENGTH).iter();
    let length = match (lengths.next(), lengths.next()) {
        (None, _) => None,
        (Some(length), None) => Some(
            length
                .to_str()
                .ok()
                .filter(|length| length.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|length| length.parse().ok())
                .ok_or(Refusal::Bad("Content-Length is not a number"))?,
        ),
        _ => return Err(Refusal::Bad("there are several Content-Lengths")),
    };
    Ok(CheckedHead { host, length })
}

/// The host of the request: from its target if that contains one, otherwise from its single Host
/// field (RFC 9112, section 3.2; RFC 9113, section 8.3.1).
fn host(head: &Parts) -> Result<Option<HeaderValue>, Refusal> {
    let mut fields = head.headers.get_all(HOST).iter();
    let field = fields.next();
    if fields.next().is_some() {
        return Err(Refusal::Bad("there are several Hosts"));
    }
    let host = match (head.uri.authority(), field) {
        (Some(authority), _) => {
            if authority.as_str().contains('@') {
                return Err(Refusal::Bad("the target names a user"));
            }
            // Every valid authority is also a valid header value.
            HeaderValue::from_str(authority.as_str()).map_err(|_| Refusal::Bad("no such host"))?
        }
        (None, Some(host)) => host.clone(),
        (None, None) if head.version == Version::HTTP_10 => return Ok(None),
        (None, None) => return Err(Refusal::Bad("there is no Host")),
    };
    let letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:[]~%".contains(byte);
    if !host.is_empty() && host.as_bytes().iter().all(letter) {
        Ok(Some(host))
    } else {
        Err(Refusal::Bad("Host is not a host"))
    }
}

/// Besides Content-Length, only the one framing is accepted that all servers interpret the same
/// way; nginx rejects others too (RFC 9112, section 6.1).
fn check_coding(head: &Parts) -> Result<(), Refusal> {
    let mut codings = head.headers.get_all(TRANSFER_ENCODING).iter();
    let Some(coding) = codings.next() else {
        return Ok(());
    };
    if codings.next().is_some() {
        return Err(Refusal::Bad("there are several Transfer-Encodings"));
    }
    if head.version == Version::HTTP_10 {
        return Err(Refusal::Bad("HTTP/1.0 has no Transfer-Encoding"));
    }
    if head.headers.contains_key(CONTENT_LENGTH) {
        return Err(Refusal::Bad(
            "there are Transfer-Encoding and Content-Length",
        ));
    }
    if !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
        return Err(Refusal::Coding);
    }
    Ok(())
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
        && headers.get_all(CONNECTION).iter().any(|value| {
            let Ok(value) = value.to_str() else {
                return false;
            };
            value
                .split(',')
                .any(|token| token.trim().eq_ignore_ascii_case("upgrade"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn head(target: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::get(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn the_target_names_the_host_before_the_field() {
        let head = head("http://a.test:80/x", &[("host", "b.test")]);
        assert_eq!(check(&head).unwrap().host.unwrap(), "a.test:80");
    }

    #[test]
    fn ambiguous_requests_are_refused() {
        for (target, headers) in [
            ("/", &[][..]),
            ("/", &[("host", "a"), ("host", "b")]),
            ("/", &[("host", "")]),
            ("/", &[("host", "a/b")]),
            ("/", &[("host", "a b")]),
            ("http://u@a/", &[]),
            (
                "/",
                &[("host", "a"), ("transfer-encoding", "gzip, chunked")],
            ),
            (
                "/",
                &[
                    ("host", "a"),
                    ("transfer-encoding", "chunked"),
                    ("content-length", "5"),
                ],
            ),
            ("/", &[("host", "a"), ("content-length", "+5")]),
            (
                "/",
                &[
                    ("host", "a"),
                    ("content-length", "5"),
                    ("content-length", "6"),
                ],
            ),
        ] {
            assert!(
                check(&head(target, headers)).is_err(),
                "{target} {headers:?}"
            );
        }
    }

    #[test]
    fn upgrades_are_recognized() {
        let wants = |connection: &str, protocol: &str| {
            let head = head("/", &[("connection", connection), ("upgrade", protocol)]);
            wants_upgrade(head.version, &head.headers)
        };
        assert!(wants("keep-alive, Upgrade", "WebSocket"));
        assert!(!wants("keep-alive", "websocket"));
        for other in ["h2c", "websocket, h2c", "h2c, websocket", ""] {
            assert!(!wants("Upgrade", other), "{other}");
        }
    }
}
