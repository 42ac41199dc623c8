//! Responses that end only their own stream, by section of RFC 9113.

mod scripted_peer;

use plimsoll_http2::StreamFault;
use scripted_peer::two_requests::*;
use scripted_peer::*;

#[test]
fn a_malformed_response_ends_only_its_stream() {
    let no_status = literal(b"a", b"b");
    let after = |block: &[u8]| [STATUS_200, block].concat();
    let data = |flags, payload: &[u8]| frame(DATA, flags, 1, payload);
    let announced = |length: &str| {
        frame(
            HEADERS,
            END_HEADERS,
            1,
            &block(&[("content-length", length)]),
        )
    };
    let cases: Vec<(&str, &str, Vec<u8>, u32)> = vec![
        (
            "6.3",
            "a PRIORITY frame of four bytes",
            frame(PRIORITY, 0, 1, &[0; 4]),
            FRAME_SIZE,
        ),
        (
            "6.9",
            "a window increment of 0",
            frame(WINDOW_UPDATE, 0, 1, &[0; 4]),
            PROTOCOL,
        ),
        (
            "6.9.1",
            "a window above the maximum",
            frame(WINDOW_UPDATE, 0, 1, &[0x7f, 0xff, 0xff, 0xff]),
            FLOW_CONTROL,
        ),
        (
            "8.1",
            "data before headers",
            data(END_STREAM, b"x"),
            PROTOCOL,
        ),
        (
            "8.1",
            "headers twice",
            [response_start(), response_start()].concat(),
            PROTOCOL,
        ),
        (
            "8.1",
            "trailers that do not end the stream",
            [response_start(), frame(HEADERS, END_HEADERS, 1, &no_status)].concat(),
            PROTOCOL,
        ),
        (
            "8.1",
            "an informational response at the end",
            with_block(b"\x08\x03103"),
            PROTOCOL,
        ),
        (
            "8.6",
            "switching protocols",
            frame(HEADERS, END_HEADERS, 1, b"\x08\x03101"),
            PROTOCOL,
        ),
        (
            "8.1.1",
            "a body shorter than announced",
            [announced("2"), data(END_STREAM, b"x")].concat(),
            PROTOCOL,
        ),
        (
            "8.1.1",
            "none of the announced bytes",
            with_fields(&[("content-length", "2")]),
            PROTOCOL,
        ),
        (
            "8.1.1",
            "a body longer than announced",
            [announced("1"), data(END_STREAM, b"xx")].concat(),
            PROTOCOL,
        ),
        (
            "8.1.1",
            "trailers instead of the rest of the body",
            [
                announced("2"),
                data(0, b"x"),
                frame(HEADERS, 5, 1, &no_status),
            ]
            .concat(),
            PROTOCOL,
        ),
        (
            "8.1.1",
            "a content-length that is not a number",
            with_fields(&[("content-length", "+2")]),
            PROTOCOL,
        ),
        (
            "8.1.1",
            "an empty content-length",
            with_fields(&[("content-length", "")]),
            PROTOCOL,
        ),
        (
            "8.1.1",
            "two lengths",
            with_fields(&[("content-length", "0"), ("content-length", "2")]),
            PROTOCOL,
        ),
        (
            "8.2.1",
            "an upper-case name",
            with_fields(&[("X-A", "b")]),
            PROTOCOL,
        ),
        (
            "8.2.1",
            "a name with a space",
            with_fields(&[("x a", "b")]),
            PROTOCOL,
        ),
        (
            "8.2.1",
            "a name with a colon",
            with_fields(&[("x:a", "b")]),
            PROTOCOL,
        ),
        (
            "8.2.1",
            "an empty name",
            with_fields(&[("", "b")]),
            PROTOCOL,
        ),
        (
            "8.2.1",
            "a value with a line break",
            with_fields(&[("a", "b\r\nc: d")]),
            PROTOCOL,
        ),
        (
            "8.2.1",
            "a value with a zero byte",
            with_fields(&[("a", "b\0")]),
            PROTOCOL,
        ),
        (
            "8.2.2",
            "connection",
            with_fields(&[("connection", "close")]),
            PROTOCOL,
        ),
        (
            "8.2.2",
            "keep-alive",
            with_fields(&[("keep-alive", "1")]),
            PROTOCOL,
        ),
        (
            "8.2.2",
            "proxy-connection",
            with_fields(&[("proxy-connection", "x")]),
            PROTOCOL,
        ),
        (
            "8.2.2",
            "transfer-encoding",
            with_fields(&[("transfer-encoding", "chunked")]),
            PROTOCOL,
        ),
        (
            "8.2.2",
            "upgrade",
            with_fields(&[("upgrade", "h2c")]),
            PROTOCOL,
        ),
        ("8.2.2", "te", with_fields(&[("te", "gzip")]), PROTOCOL),
        (
            "8.3",
            "an unknown pseudo-field",
            with_block(&[literal(b":x", b""), STATUS_200.to_vec()].concat()),
            PROTOCOL,
        ),
        (
            "8.3",
            "a pseudo-field of requests",
            with_block(b"\x88\x84"),
            PROTOCOL,
        ),
        (
            "8.3",
            "a pseudo-field after others",
            with_block(&[&no_status, STATUS_200].concat()),
            PROTOCOL,
        ),
        (
            "8.3",
            "a pseudo-field in trailers",
            [response_start(), with_block(STATUS_200)].concat(),
            PROTOCOL,
        ),
        ("8.3.2", "no status", with_block(&no_status), PROTOCOL),
        (
            "8.3.2",
            "two statuses",
            with_block(&after(STATUS_200)),
            PROTOCOL,
        ),
        (
            "8.3.2",
            "a status of two digits",
            with_block(b"\x08\x0220"),
            PROTOCOL,
        ),
        (
            "8.3.2",
            "a status with letters",
            with_block(b"\x08\x03two"),
            PROTOCOL,
        ),
    ];
    for (section, what, bytes, code) in cases {
        let ([one, other], sent) = outcome(&bytes);
        let by_peer = false;
        assert_eq!(
            one,
            Err(StreamFault::Reset { code, by_peer }),
            "{section}: {what}"
        );
        assert_eq!(other, whole(b"", 0), "{section}: {what}");
        let reset = (RST_STREAM, 0, 1, code.to_be_bytes().to_vec());
        assert!(sent.contains(&reset), "{section}: {what}: {sent:?}");
    }
}
