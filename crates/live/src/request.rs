//! Reads HTTP requests.

use std::io::{Error, ErrorKind, Read};
use std::time::Duration;

/// Maximum length of the request line and the headers, in bytes.
const MAX_HEADER_LENGTH: usize = 16 * 1024;
/// Maximum length of a body, in bytes.
const MAX_BODY_LENGTH: usize = 1 << 20;
/// Time limit for a request.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub struct Request {
    pub method: String,
    /// The path without the query.
    pub path: String,
    pub query: String,
    pub host: String,
    pub origin: Option<String>,
    pub authorization: Option<String>,
    pub body: Vec<u8>,
}

impl Request {
    /// Reads a request. Reads of `stream` must have a time limit.
    ///
    /// # Errors
    /// If the peer is too slow, closes the connection, or sends an invalid request. A body that is too long has its own
    /// [`ErrorKind`], `FileTooLarge`.
    pub fn read(stream: &mut impl Read) -> Result<Request, Error> {
        let give_up = plimsoll_clock::now() + TIMEOUT;
        let mut piece = [0; 2048];
        let mut read_more = |bytes: &mut Vec<u8>| {
            let read = stream.read(&mut piece)?;
            if read == 0 {
                return Err(Error::from(ErrorKind::UnexpectedEof));
            }
            if plimsoll_clock::now() > give_up {
                return Err(ErrorKind::TimedOut.into());
            }
            bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
            Ok(())
        };
        let mut bytes = Vec::new();
        loop {
            read_more(&mut bytes)?;
            if let Some((mut request, length)) = parse(&bytes)? {
                while request.body.len() < length {
                    read_more(&mut request.body)?;
                }
                request.body.truncate(length);
                return Ok(request);
            }
        }
    }

    /// The value of a parameter in the query, without decoding percent-encoding.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// The request with the part of its body that has arrived, and the length of the body. `None` if its headers are
/// incomplete.
fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Error> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let end = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) if bytes.len() <= MAX_HEADER_LENGTH => return Ok(None),
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
        Some(Ok(length)) if length <= MAX_BODY_LENGTH => length,
        Some(Ok(_)) => return Err(ErrorKind::FileTooLarge.into()),
        Some(_) => return Err(ErrorKind::InvalidData.into()),
    };
    Ok(Some((
        Request {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            host: header("host").unwrap_or_default(),
            origin: header("origin"),
            authorization: header("authorization"),
            body: bytes.get(end..).unwrap_or_default().to_vec(),
        },
        length,
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
    fn requests_are_read_alike_however_they_are_split() {
        let text = b"PUT /v1/setup?token=a%20b HTTP/1.1\r\nHost: [::1]:1\r\nOrigin: http://a\r\n\
                     Content-Length: 12\r\n\r\n{\"a\": [1,2]}";
        let mut state = 1_u64;
        let mut next = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut read = 0;
        for _ in 0..3_000 {
            let mut changed = text.to_vec();
            for _ in 0..next(4) {
                let at = next(changed.len());
                match next(3) {
                    0 => changed[at] = next(256) as u8,
                    1 => changed.truncate(at + 1),
                    _ => changed.insert(at, b"\r\n :0%"[next(6)]),
                }
            }
            let whole = Request::read(&mut &*changed).ok();
            let pieces = Request::read(&mut Slow(&changed)).ok();
            assert_eq!(format!("{whole:?}"), format!("{pieces:?}"));
            read += usize::from(whole.is_some());
        }
        assert!((500..2_900).contains(&read), "{read} were read");
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

    #[test]
    fn a_long_body_is_read_and_a_longer_one_refused() {
        let of = |length: usize| {
            let mut text = format!("PUT / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
            text.extend(std::iter::repeat_n('x', length));
            Request::read(&mut text.as_bytes())
        };
        assert_eq!(of(MAX_BODY_LENGTH).unwrap().body.len(), MAX_BODY_LENGTH);
        let refused = of(MAX_BODY_LENGTH + 1).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::FileTooLarge);
    }
}
