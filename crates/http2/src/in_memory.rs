//! Entry point for fuzz targets: requests on a connection without a socket and a clock. Not for
//! other callers.
//! other callers.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use plimsoll_units::Moment;

use crate::connection::Connection;
use crate::request_head::RequestHead;
use crate::stream::Stream;
use crate::waiting::Registration;

/// Larger than the windows of a connection whose peer never extends them.
const UPLOAD: usize = 100_000;

/// The results of four requests to a server.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ExchangeResult {
    /// Number of responses whose headers arrived.
    pub responses: usize,
    /// Number of responses that arrived completely.
    pub complete: usize,
    /// Bytes of bodies that were read or counted.
    pub body: u64,
    pub trailers: usize,
    /// Bytes of the upload that the windows allowed us to send.
    pub uploaded: usize,
}

/// Makes four requests: a GET, a POST with a body, a GET whose response body is only counted, and a
/// HEAD. The server's bytes arrive in the given pieces, and then the connection closes.
///
/// # Panics
/// If a request still waits after that, or if the HEAD request received a body.
pub fn exchange(pieces: &[&[u8]]) -> ExchangeResult {
    let mut cx = Context::from_waker(Waker::noop());
    let mut connection = Connection::new();
    let mut exchanged = ExchangeResult::default();
    let mut upload = Bytes::from_static(&[b'u'; UPLOAD]);
    let mut streams: Vec<Rc<RefCell<Stream>>> = Vec::new();
    for (method, is_upload) in [
        ("GET", false),
        ("POST", true),
        ("GET", false),
        ("HEAD", false),
    ] {
        let mut head = RequestHead::new(method, "http", "h", "/");
        head.add("X-A", b"b");
        let mut registration = Registration::default();
        let opened = connection.poll_open(&mut cx, &mut registration, &Rc::new(head), !is_upload);
        if let Poll::Ready(Ok(stream)) = opened {
            streams.push(stream);
        }
    }
    for (place, piece) in pieces.iter().enumerate() {
        connection.feed(piece, Moment::from_nanos(place as u64));
        for (number, stream) in streams.iter().enumerate() {
            let stream = &mut *stream.borrow_mut();
            stream.discards = number == 2;
            if number == 1 {
                let _ = connection.poll_send(&mut cx, stream, &mut upload, true);
            }
            exchanged.responses += usize::from(stream.take_head().is_some());
            while stream.take_piece().is_some() {
                connection.give_back(stream);
            }
            exchanged.trailers += usize::from(stream.take_trailers().is_some());
        }
        connection.wrote(connection.unwritten().len());
    }
    connection.end();
    for (number, stream) in streams.iter().enumerate() {
        let stream = &mut *stream.borrow_mut();
        assert!(
            stream.fault.is_some() || stream.has_received_all,
            "a request still waits on a closed connection"
        );
        exchanged.complete += usize::from(stream.has_received_all);
        exchanged.body += stream.received;
        assert!(
            number < 3 || stream.received == 0,
            "the HEAD request received a body"
        );
    }
    exchanged.uploaded = UPLOAD - upload.len();
    exchanged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_receives_its_response_however_the_bytes_are_split() {
        let bytes: &[u8] = b"\0\0\0\x04\0\0\0\0\0\
            \0\0\x05\x01\x04\0\0\0\x01\x08\x03103\
            \0\0\x01\x01\x04\0\0\0\x01\x88\
            \0\0\x05\0\x08\0\0\0\x01\x02hi..\
            \0\0\x05\x01\x05\0\0\0\x01\0\x01a\x01b\
            \0\0\x01\x01\x04\0\0\0\x05\x88\
            \0\0\x02\0\x01\0\0\0\x05ok\
            \0\0\x01\x01\x05\0\0\0\x07\x89";
        let expected = ExchangeResult {
            responses: 3,
            complete: 3,
            body: 4,
            trailers: 1,
            uploaded: 65_535,
        };
        let (one, other) = bytes.split_at(50);
        for pieces in [&[bytes][..], &[one, other]] {
            let exchanged = exchange(pieces);
            assert_eq!(exchanged, expected);
            assert!(exchanged.body as usize <= bytes.len());
        }
    }
}
