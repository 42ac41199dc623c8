//! What a request must be to be passed on at all.
//!
//! hyper has parsed it and knows its framing; here is what else could make two servers
//! understand one request differently (RFC 9112, sections 3.2 and 11.2).

use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, UPGRADE};
use hyper::http::request::Parts;
use hyper::{Method, Version};

use crate::refusal::Refusal;

/// What a request asks for, as far as it matters to route it.
pub struct Asked {
    /// The host with its port, as the client wrote it; `None` with HTTP/1.0 alone.
    pub host: Option<HeaderValue>,
    /// The length that the client promised.
    pub length: Option<u64>,
}

/// Checks a request's head.
pub fn check(head: &Parts) -> Result<Asked, Refusal> {
    if head.method == Method::CONNECT || head.method == Method::TRACE {
        return Err(Refusal::Method);
    }
    let host = host(head)?;
    check_path(head.uri.path())?;
    let mut lengths = head.headers.get_all(CONTENT_LENGTH).iter();
    let length = match (lengths.next(), lengths.next()) {
        (None, _) => None,
        (Some(length), None) => Some(
            length
                .to_str()
                .ok()
                .filter(|length| length.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|length| length.parse().ok())
                .ok_or(Refusal::Bad("Content-Length is no number"))?,
        ),
        _ => return Err(Refusal::Bad("there are several Content-Lengths")),
    };
    Ok(Asked { host, length })
}

/// The one host that the request is for: of its target where that names one, else of
/// the one field Host (RFC 9112, section 3.2; RFC 9113, section 8.3.1).
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
            // What makes an authority also makes a value.
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
        Err(Refusal::Bad("Host is no host"))
    }
}

/// A path with `.` or `..` as a segment, also when written with `%2e`, or with `\`,
/// would lead elsewhere at a server that resolves it than the route that it matched.
fn check_path(path: &str) -> Result<(), Refusal> {
    if !path.starts_with('/') {
        // `OPTIONS *` is for the gateway itself, which has nothing to say.
        return Err(Refusal::Bad("the target is no path"));
    }
    let suspicious =
        path.contains("/.") || path.contains("%2e") || path.contains("%2E") || path.contains('\\');
    if !suspicious {
        return Ok(());
    }
    let dots = |segment: &str| {
        let segment = segment.replace("%2e", ".").replace("%2E", ".");
        segment == "." || segment == ".."
    };
    if path.split(['/', '\\']).any(dots) || path.contains('\\') {
        return Err(Refusal::Bad("the path has '.' or '..' in it"));
    }
    Ok(())
}

/// Whether the client asks to go on in another protocol (RFC 9110, section 7.8).
pub fn wants_upgrade(version: Version, headers: &HeaderMap) -> bool {
    version == Version::HTTP_11
        && headers.contains_key(UPGRADE)
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
    fn what_can_be_understood_twice_is_refused() {
        for (target, headers) in [
            ("/", &[][..]),
            ("/", &[("host", "a"), ("host", "b")]),
            ("/", &[("host", "")]),
            ("/", &[("host", "a/b")]),
            ("/", &[("host", "a b")]),
            ("http://u@a/", &[]),
            ("/a/../b", &[("host", "a")]),
            ("/a/%2E./b", &[("host", "a")]),
            ("/a/.", &[("host", "a")]),
            ("*", &[("host", "a")]),
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
        for target in [
            "/.well-known/x",
            "/a..b",
            "/a/...",
            "/%2ehidden",
            "/?a=../b",
        ] {
            assert!(check(&head(target, &[("host", "a")])).is_ok(), "{target}");
        }
    }

    #[test]
    fn upgrades_are_recognised() {
        let wants = |connection: &str| {
            let head = head("/", &[("connection", connection), ("upgrade", "websocket")]);
            wants_upgrade(head.version, &head.headers)
        };
        assert!(wants("keep-alive, Upgrade"));
        assert!(!wants("keep-alive"));
    }
}
