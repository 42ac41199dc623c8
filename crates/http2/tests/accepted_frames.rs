//! Frames that the client must accept from a server, by section of RFC 9113.

mod scripted_peer;

use scripted_peer::two_requests::*;
use scripted_peer::*;

/// The section, what it allows, the server's bytes, and the body and number of trailers that they
/// contain.
type Accepted<'a> = (&'a str, &'a str, Vec<u8>, &'a [u8], usize);

#[test]
fn input_that_the_standard_allows_is_accepted() {
    let ping = frame(PING, 0, 0, &[7; 8]);
    let body = |flags, payload: &[u8]| [response_start(), frame(DATA, flags, 1, payload)].concat();
    let cases: Vec<Accepted<'_>> = vec![
        (
            "4.1",
            "unknown frames",
            [frame(0x42, 0xff, 9, b"x"), response(1)].concat(),
            b"",
            0,
        ),
        (
            "4.1",
            "undefined flags",
            [frame(PING, 0xfe, 0, &[7; 8]), response(1)].concat(),
            b"",
            0,
        ),
        (
            "4.1",
            "a reserved bit that is set",
            response(0x8000_0001),
            b"",
            0,
        ),
        (
            "4.2",
            "the largest frame",
            body(END_STREAM, &[b'x'; 16_384]),
            &[b'x'; 16_384],
            0,
        ),
        (
            "6.1",
            "padding",
            body(END_STREAM | PADDED, b"\x02hi.."),
            b"hi",
            0,
        ),
        (
            "6.1",
            "nothing but padding",
            body(END_STREAM | PADDED, b"\x03..."),
            b"",
            0,
        ),
        (
            "6.1",
            "empty frames",
            [
                response_start(),
                frame(DATA, 0, 1, b"").repeat(100),
                frame(DATA, 1, 1, b"x"),
            ]
            .concat(),
            b"x",
            0,
        ),
        (
            "6.2",
            "padding of headers",
            frame(HEADERS, 5 | PADDED, 1, b"\x01\x88."),
            b"",
            0,
        ),
        (
            "6.2",
            "priority in headers",
            frame(HEADERS, 5 | PRIORITY_FIELDS, 1, b"\0\0\0\0\x10\x88"),
            b"",
            0,
        ),
        (
            "6.3",
            "a priority",
            [frame(PRIORITY, 0, 1, b"\0\0\0\0\x10"), response(1)].concat(),
            b"",
            0,
        ),
        (
            "6.3",
            "a priority of a stream that is not open",
            [frame(PRIORITY, 0, 1, &[0; 5]), response(1)].concat(),
            b"",
            0,
        ),
        (
            "6.5.2",
            "unknown settings",
            [setting(0x99, 7), response(1)].concat(),
            b"",
            0,
        ),
        (
            "6.5.2",
            "all limits",
            [
                setting(1, 0),
                setting(3, 0),
                setting(4, 0),
                setting(5, (1 << 24) - 1),
                setting(6, 1),
                response(1),
            ]
            .concat(),
            b"",
            0,
        ),
        (
            "6.5.3",
            "an acknowledgement",
            [frame(SETTINGS, ACK, 0, &[]), response(1)].concat(),
            b"",
            0,
        ),
        (
            "6.7",
            "a ping",
            [
                ping.clone(),
                response_start(),
                ping,
                frame(DATA, 1, 1, b"x"),
            ]
            .concat(),
            b"x",
            0,
        ),
        (
            "6.10",
            "headers in several frames",
            [
                frame(HEADERS, END_STREAM, 1, b""),
                frame(CONTINUATION, 0, 1, b""),
                frame(CONTINUATION, END_HEADERS, 1, STATUS_200),
            ]
            .concat(),
            b"",
            0,
        ),
        (
            "8.1",
            "informational responses",
            [
                frame(HEADERS, END_HEADERS, 1, b"\x08\x03100").repeat(3),
                response(1),
            ]
            .concat(),
            b"",
            0,
        ),
        (
            "8.1",
            "trailers",
            [
                response_start(),
                frame(DATA, 0, 1, b"x"),
                frame(HEADERS, 5, 1, &literal(b"a", b"b")),
            ]
            .concat(),
            b"x",
            1,
        ),
        (
            "8.1.1",
            "an announced length",
            [
                frame(HEADERS, END_HEADERS, 1, &block(&[("content-length", "2")])),
                frame(DATA, 0, 1, b"h"),
                frame(DATA, 1, 1, b"i"),
            ]
            .concat(),
            b"hi",
            0,
        ),
        (
            "8.2.2",
            "te: trailers",
            with_fields(&[("te", "trailers")]),
            b"",
            0,
        ),
    ];
    for (section, what, bytes, body, trailers) in cases {
        let ([one, other], sent) = outcome(&bytes);
        assert_eq!(one, whole(body, trailers), "{section}: {what}");
        assert_eq!(other, whole(b"", 0), "{section}: {what}");
        let is_error = |frame: &&Frame| frame.0 == RST_STREAM;
        assert_eq!(sent.iter().find(is_error), None, "{section}: {what}");
    }
}
