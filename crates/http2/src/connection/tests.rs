use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::*;
use crate::frames::MAX_FRAME;
use crate::request_head::RequestHead;
use crate::waiting::Registration;

/// An empty SETTINGS frame, which a server sends first.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

fn cx() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// A connection that has received SETTINGS, with a stream that waits for its response.
fn with_request() -> (Connection, Rc<RefCell<Stream>>) {
    let mut connection = Connection::new();
    connection.feed(SETTINGS, Moment::default());
    let stream = open(&mut connection, true);
    connection.wrote(connection.unwritten().len());
    (connection, stream)
}

fn open(connection: &mut Connection, last: bool) -> Rc<RefCell<Stream>> {
    let head = RequestHead::new("POST", "http", "h", "/a");
    match poll_open(connection, head, last) {
        Poll::Ready(Ok(stream)) => stream,
        other => panic!("{other:?}"),
    }
}

fn poll_open(
    connection: &mut Connection,
    head: RequestHead,
    last: bool,
) -> Poll<Result<Rc<RefCell<Stream>>, StreamFault>> {
    connection.poll_open(
        &mut cx(),
        &mut Registration::default(),
        &Rc::new(head),
        last,
    )
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, kind, flags, stream, payload);
    out
}

fn written(connection: &mut Connection) -> Vec<u8> {
    let bytes = connection.unwritten().to_vec();
    connection.wrote(bytes.len());
    bytes
}

#[test]
fn a_response_is_read_in_pieces_of_any_length() {
    let mut response = SETTINGS.to_vec();
    response.extend(frame(kind::HEADERS, flag::END_HEADERS, 1, b"\x88"));
    response.extend(frame(kind::DATA, flag::PADDED, 1, b"\x02hi.."));
    response.extend(frame(0x42, 0xff, 77, b"an unknown frame"));
    response.extend(frame(kind::HEADERS, 5, 1, b"\0\x01a\x01b"));
    for step in [1, 2, 7, response.len()] {
        let mut connection = Connection::new();
        let stream = open(&mut connection, true);
        for piece in response.chunks(step) {
            connection.feed(piece, Moment::default());
        }
        let stream = &mut *stream.borrow_mut();
        assert_eq!(stream.take_head().unwrap().status.unwrap(), 200);
        assert_eq!(stream.take_piece().unwrap(), "hi");
        assert_eq!(stream.take_trailers().unwrap().fields["a"], "b");
        assert!(stream.is_read() && stream.is_over() && stream.fault.is_none());
        assert!(connection.streams.is_empty());
    }
}

#[test]
fn headers_and_a_message_are_sent_together_within_the_window() {
    let (mut connection, _) = with_request();
    connection.set(setting::INITIAL_WINDOW_SIZE, 3).unwrap();
    let stream = open(&mut connection, false);
    let mut bytes = Bytes::from_static(b"hello");
    let mut send = |connection: &mut Connection| {
        connection.poll_send(&mut cx(), &mut stream.borrow_mut(), &mut bytes, true)
    };
    assert!(send(&mut connection).is_pending());
    assert!(written(&mut connection).ends_with(&frame(kind::DATA, 0, 3, b"hel")));
    connection.feed(
        &frame(kind::WINDOW_UPDATE, 0, 3, &[0, 0, 0, 2]),
        Moment::default(),
    );
    assert_eq!(send(&mut connection), Poll::Ready(Ok(())));
    assert_eq!(
        written(&mut connection),
        frame(kind::DATA, flag::END_STREAM, 3, b"lo")
    );
    assert!(matches!(send(&mut connection), Poll::Ready(Err(_))));
}

#[test]
fn settings_and_pings_are_acknowledged_and_a_flood_ends_the_connection() {
    let (mut connection, _) = with_request();
    connection.feed(&frame(kind::PING, 0, 0, b"12345678"), Moment::default());
    assert_eq!(
        written(&mut connection),
        frame(kind::PING, flag::ACK, 0, b"12345678")
    );
    let ping = frame(kind::PING, 0, 0, b"12345678");
    for _ in 0..MAX_UNREAD / ping.len() + 2 {
        connection.feed(&ping, Moment::default());
    }
    assert_eq!(
        connection.over,
        Some(StreamFault::Connection {
            code: code::ENHANCE_YOUR_CALM
        })
    );
    assert!(connection.unwritten().len() < MAX_UNREAD + 100);
}

#[test]
fn the_peer_limits_the_number_of_streams() {
    let (mut connection, first) = with_request();
    connection.set(setting::MAX_CONCURRENT_STREAMS, 1).unwrap();
    let head = RequestHead::new("GET", "http", "h", "/");
    assert!(poll_open(&mut connection, head.clone(), true).is_pending());
    connection.feed(
        &frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 7]),
        Moment::default(),
    );
    let fault = first.borrow().fault.clone().unwrap();
    assert!(fault.is_unprocessed(), "{fault}");
    assert!(poll_open(&mut connection, head, true).is_ready());
}

#[test]
fn goaway_ends_only_the_streams_after_its_last_one() {
    let (mut connection, first) = with_request();
    let second = open(&mut connection, true);
    connection.feed(
        &frame(kind::GOAWAY, 0, 0, b"\0\0\0\x01\0\0\0\x0bcalm"),
        Moment::default(),
    );
    assert!(!connection.is_open());
    let fault = second.borrow().fault.clone().unwrap();
    assert!(fault.is_unprocessed());
    assert!(fault.to_string().contains("calm"), "{fault}");
    assert_eq!(first.borrow().fault, None);
    connection.feed(&frame(kind::HEADERS, 5, 1, b"\x88"), Moment::default());
    assert!(first.borrow().is_over());
    assert!(connection.is_unwanted());
}

#[test]
fn flow_control_windows_are_refilled_on_reading_and_cannot_be_exceeded() {
    let (mut connection, stream) = with_request();
    connection.feed(
        &frame(kind::HEADERS, flag::END_HEADERS, 1, b"\x88"),
        Moment::default(),
    );
    let piece = frame(kind::DATA, 0, 1, &[7; MAX_FRAME]);
    let pieces = stream::WINDOW as usize / MAX_FRAME;
    for _ in 0..pieces / 2 {
        connection.feed(&piece, Moment::default());
    }
    assert_eq!(written(&mut connection), b"");
    let mut read = 0;
    while let Some(piece) = stream.borrow_mut().take_piece() {
        read += piece.len();
    }
    assert_eq!(read, pieces / 2 * MAX_FRAME);
    connection.give_back(&mut stream.borrow_mut());
    let owed = (read as u32).to_be_bytes();
    assert_eq!(
        written(&mut connection),
        frame(kind::WINDOW_UPDATE, 0, 1, &owed)
    );
    for _ in 0..=pieces {
        connection.feed(&piece, Moment::default());
    }
    let fault = stream.borrow().fault.clone();
    let (code, by_peer) = (code::FLOW_CONTROL_ERROR, false);
    assert_eq!(fault, Some(StreamFault::Reset { code, by_peer }));
    assert_eq!(connection.over, None);
}

#[test]
fn many_small_pieces_are_merged() {
    let (mut connection, stream) = with_request();
    connection.feed(
        &frame(kind::HEADERS, flag::END_HEADERS, 1, b"\x88"),
        Moment::default(),
    );
    let piece = frame(kind::DATA, 0, 1, b"x");
    for _ in 0..10_000 {
        connection.feed(&piece, Moment::default());
    }
    let stream = &mut *stream.borrow_mut();
    let mut taken = Vec::new();
    while let Some(piece) = stream.take_piece() {
        taken.push(piece.len());
    }
    assert_eq!(taken.iter().sum::<usize>(), 10_000);
    assert!(taken.len() < 100, "{}", taken.len());
}

#[test]
fn protocol_violations_end_a_stream_or_the_connection() {
    let head = frame(kind::HEADERS, flag::END_HEADERS, 1, b"\x88");
    let of_stream: &[(&str, Vec<u8>)] = &[
        ("a body without headers", frame(kind::DATA, 0, 1, b"x")),
        (
            "headers without :status",
            frame(kind::HEADERS, 5, 1, b"\0\x01a\x01b"),
        ),
        (
            "an upper-case name",
            frame(kind::HEADERS, 5, 1, b"\x88\0\x01A\x01b"),
        ),
        ("second headers", [head.clone(), head.clone()].concat()),
        (
            "a window increment of 0",
            frame(kind::WINDOW_UPDATE, 0, 1, &[0; 4]),
        ),
    ];
    for (what, bytes) in of_stream {
        let (mut connection, stream) = with_request();
        connection.feed(bytes, Moment::default());
        let fault = stream.borrow().fault.clone();
        assert!(
            matches!(fault, Some(StreamFault::Reset { by_peer: false, .. })),
            "{what}: {fault:?}"
        );
        assert_eq!(connection.over, None, "{what}");
        assert_eq!(
            written(&mut connection).get(3),
            Some(&kind::RST_STREAM),
            "{what}"
        );
    }
    let of_connection: &[(&str, Vec<u8>)] = &[
        (
            "a stream that was not opened",
            frame(kind::HEADERS, 5, 9, b"\x88"),
        ),
        (
            "a stream that only a server may open",
            frame(kind::DATA, 0, 2, b"x"),
        ),
        (
            "padding longer than the frame",
            frame(kind::DATA, flag::PADDED, 1, b"\x09x"),
        ),
        (
            "a reference to index 0",
            frame(kind::HEADERS, 5, 1, b"\xff\x7f"),
        ),
        (
            "a reset of three bytes",
            frame(kind::RST_STREAM, 0, 1, b"123"),
        ),
        (
            "a frame within a header block",
            [frame(kind::HEADERS, 0, 1, b"\x88"), SETTINGS.to_vec()].concat(),
        ),
        (
            "a CONTINUATION without HEADERS",
            frame(kind::CONTINUATION, 4, 1, b"\x88"),
        ),
        (
            "a window above the maximum",
            frame(kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        ),
    ];
    for (what, bytes) in of_connection {
        let (mut connection, stream) = with_request();
        connection.feed(bytes, Moment::default());
        let over = connection.over.clone();
        assert!(
            matches!(over, Some(StreamFault::Connection { .. })),
            "{what}: {over:?}"
        );
        assert_eq!(stream.borrow().fault, over, "{what}");
        assert_eq!(
            written(&mut connection).get(3),
            Some(&kind::GOAWAY),
            "{what}"
        );
    }
}

#[test]
fn a_peer_that_does_not_begin_with_settings_is_rejected() {
    for words in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"\0\0\x08\x06\0\0\0\0\0",
    ] {
        let mut connection = Connection::new();
        connection.feed(words, Moment::default());
        let over = connection.over.clone();
        assert!(
            matches!(over, Some(StreamFault::NotHttp2 { .. })),
            "{words:?}"
        );
    }
}

#[test]
fn long_headers_are_sent_in_several_frames() {
    let mut connection = Connection::new();
    let value = "v".repeat(40_000);
    let mut head = RequestHead::new("GET", "http", "h", "/");
    head.add("x-long", value.as_bytes());
    connection.wrote(connection.unwritten().len());
    assert!(poll_open(&mut connection, head, true).is_ready());
    let bytes = written(&mut connection);
    let mut at = 0;
    let mut seen = Vec::new();
    while let Some(head) = bytes.get(at..).and_then(FrameHead::read) {
        seen.push((head.kind, head.flags));
        at += HEAD + head.length;
    }
    assert_eq!(at, bytes.len());
    assert_eq!(seen, [(1, 1), (9, 0), (9, 4)]);
}
