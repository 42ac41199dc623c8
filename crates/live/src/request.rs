//! Reads the requests of viewers.

use std::io::{Error, ErrorKind, Read};
use std::time::Duration;

/// Longest request line and headers, in bytes.
const LONGEST_HEADERS: usize = 16 * 1024;
/// Longest body, in bytes.
const LONGEST_BODY: usize = 64 * 1024;
/// Time limit for a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request.
#[derive(Debug, Default)]
pub struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: String,
    pub host: String,
    pub origin: Option<String>,
    pub authorization: Option<String>,
    pub body: Vec<u8>,
}

impl Request {
    /// Reads a request. Reads of `stream` must have a time limit of their own.
    ///
    /// # Errors
    /// If the peer is too slow, closes the connection, or sends something else.
    pub fn read(stream: &mut impl Read) -> Result<Request, Error> {
        let give_up = plimsoll_clock::now() + PATIENCE;
        let mut bytes = Vec::new();
        let mut piece = [0; 2048];
        loop {
            let read = stream.read(&mut piece)?;
            bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
            if let Some((request, missing)) = parse(&bytes)?
                && missing == 0
            {
                return Ok(request);
            }
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if plimsoll_clock::now() > give_up {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }

    /// The value of a parameter in the query. Percent-encoding is not decoded.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// The request, and how many bytes of its body are missing; `None` if its headers are incomplete.
fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Error> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let end = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) if bytes.len() <= LONGEST_HEADERS => return Ok(None),
        _ => return Err(ErrorKind::InvalidData.into()),
    };
    let (path, query) = match parsed.path.unwrap_or("/").split_once('?') {
        Some((path, query)) => (path, query),
        None => (parsed.path.unwrap_or("/"), ""),
    };
    let header = |name: &str| {
        let mut headers = parsed.headers.iter();
        let found = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(found.value).trim().to_owned())
    };
    let length = match header("content-length").map(|length| length.parse::<usize>()) {
        None => 0,
        Some(Ok(length)) if length <= LONGEST_BODY => length,
        Some(_) => return Err(ErrorKind::InvalidData.into()),
    };
    let rest = bytes.get(end..).unwrap_or_default();
    let body = rest.get(..length.min(rest.len())).unwrap_or_default();
    Ok(Some((
        Request {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            host: header("host").unwrap_or_default(),
            origin: header("origin"),
            authorization: header("authorization"),
            body: body.to_vec(),
        },
        length - body.len(),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delivers one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                return Ok(0);
            };
            self.0 = rest;
            into[0] = *first;
            Ok(1)
        }
    }

    #[test]
    fn a_request_in_pieces_is_read_whole() {
        let text = b"PATCH /v1/status?token=abc&x= HTTP/1.1\r\nHost: localhost:1\r\n\
                     Authorization: Bearer abc\r\nContent-Length: 4\r\n\r\nbodymore";
        let request = Request::read(&mut Slow(text)).unwrap();
        assert_eq!(request.method, "PATCH");
        assert_eq!(request.path, "/v1/status");
        assert_eq!(request.parameter("token"), Some("abc"));
        assert_eq!(request.parameter("y"), None);
        assert_eq!(request.host, "localhost:1");
        assert_eq!(request.authorization.as_deref(), Some("Bearer abc"));
        assert_eq!(request.body, b"body");
    }

    #[test]
    fn anything_else_is_refused() {
        let endless = [b"GET / HTTP/1.1\r\n".as_slice(), &b"a: b\r\n".repeat(5_000)].concat();
        for text in [
            b"GET / HTTP/1.1\r\nHost: a".as_slice(),
            b"\x16\x03\x01 hello",
            b"GET / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
            b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            endless.as_slice(),
        ] {
            assert!(Request::read(&mut &*text).is_err());
        }
    }
}
