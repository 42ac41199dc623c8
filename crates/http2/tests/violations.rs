//! Frames that end the connection, by section of RFC 9113, or of RFC 7541 for header blocks.

mod scripted_peer;

use plimsoll_http2::StreamFault;
use scripted_peer::two_requests::*;
use scripted_peer::*;

#[test]
fn a_violation_of_the_protocol_ends_the_connection() {
    let max = [0x7f, 0xff, 0xff, 0xff];
    let long = frame(CONTINUATION, 0, 1, &[0; 16_000]).repeat(70);
    let empty = frame(CONTINUATION, 0, 1, &[]).repeat(120_000);
    let part = frame(HEADERS, 0, 1, STATUS_200);
    let cases: Vec<(&str, &str, Vec<u8>, u32)> = vec![
        (
            "4.2",
            "a frame above the limit",
            frame(DATA, 0, 1, &[0; 16_385]),
            FRAME_SIZE,
        ),
        (
            "4.3",
            "a header block that cannot be decoded",
            with_block(&[0xff; 40]),
            COMPRESSION,
        ),
        (
            "4.3",
            "another frame within a header block",
            [part.clone(), frame(PING, 0, 0, &[0; 8])].concat(),
            PROTOCOL,
        ),
        (
            "4.3",
            "another stream's headers within a header block",
            [part.clone(), response(3)].concat(),
            PROTOCOL,
        ),
        (
            "5.1",
            "data on a stream that was not opened",
            frame(DATA, 0, 9, b"x"),
            PROTOCOL,
        ),
        (
            "5.1",
            "headers on a stream that was not opened",
            response(9),
            PROTOCOL,
        ),
        (
            "5.1",
            "a reset of a stream that was not opened",
            frame(RST_STREAM, 0, 9, &[0; 4]),
            PROTOCOL,
        ),
        (
            "5.1",
            "a WINDOW_UPDATE of a stream that was not opened",
            frame(WINDOW_UPDATE, 0, 9, &[0, 0, 0, 1]),
            PROTOCOL,
        ),
        (
            "5.1.1",
            "a stream with an even number",
            response(2),
            PROTOCOL,
        ),
        (
            "5.5",
            "an unknown frame within a header block",
            [part.clone(), frame(0x42, 0, 1, b"")].concat(),
            PROTOCOL,
        ),
        (
            "6.1",
            "data without a stream",
            frame(DATA, 0, 0, b"x"),
            PROTOCOL,
        ),
        (
            "6.1",
            "padding longer than the frame",
            frame(DATA, PADDED, 1, b"\x02x"),
            PROTOCOL,
        ),
        ("6.2", "headers without a stream", response(0), PROTOCOL),
        (
            "6.2",
            "padding longer than the headers",
            frame(HEADERS, 5 | PADDED, 1, b"\x02\x88"),
            PROTOCOL,
        ),
        (
            "6.3",
            "a PRIORITY without a stream",
            frame(PRIORITY, 0, 0, &[0; 5]),
            PROTOCOL,
        ),
        (
            "6.4",
            "a reset without a stream",
            frame(RST_STREAM, 0, 0, &[0; 4]),
            PROTOCOL,
        ),
        (
            "6.4",
            "a reset of three bytes",
            frame(RST_STREAM, 0, 1, &[0; 3]),
            FRAME_SIZE,
        ),
        (
            "6.5",
            "an acknowledgement with settings",
            frame(SETTINGS, ACK, 0, &[0; 6]),
            FRAME_SIZE,
        ),
        (
            "6.5",
            "SETTINGS on a stream",
            frame(SETTINGS, 0, 1, &[]),
            PROTOCOL,
        ),
        (
            "6.5",
            "half a setting",
            frame(SETTINGS, 0, 0, &[0; 3]),
            FRAME_SIZE,
        ),
        (
            "6.5.2",
            "a server that enables push",
            setting(2, 1),
            PROTOCOL,
        ),
        (
            "6.5.2",
            "a window above the maximum",
            setting(4, 1 << 31),
            FLOW_CONTROL,
        ),
        (
            "6.5.2",
            "a frame size below the minimum",
            setting(5, 16_383),
            PROTOCOL,
        ),
        (
            "6.5.2",
            "a frame size above the maximum",
            setting(5, 1 << 24),
            PROTOCOL,
        ),
        (
            "6.6",
            "a push promise",
            frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\x02\x82"),
            PROTOCOL,
        ),
        (
            "6.7",
            "a PING on a stream",
            frame(PING, 0, 1, &[0; 8]),
            PROTOCOL,
        ),
        (
            "6.7",
            "a ping of six bytes",
            frame(PING, 0, 0, &[0; 6]),
            FRAME_SIZE,
        ),
        (
            "6.8",
            "a GOAWAY on a stream",
            frame(GOAWAY, 0, 1, &[0; 8]),
            PROTOCOL,
        ),
        (
            "6.8",
            "a GOAWAY of four bytes",
            frame(GOAWAY, 0, 0, &[0; 4]),
            FRAME_SIZE,
        ),
        (
            "6.9",
            "a window increment of 0",
            frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
            PROTOCOL,
        ),
        (
            "6.9",
            "a WINDOW_UPDATE of three bytes",
            frame(WINDOW_UPDATE, 0, 0, &[0; 3]),
            FRAME_SIZE,
        ),
        (
            "6.9.1",
            "a window above the maximum",
            frame(WINDOW_UPDATE, 0, 0, &max),
            FLOW_CONTROL,
        ),
        (
            "6.9.2",
            "SETTINGS that raise a window above the maximum",
            [
                frame(WINDOW_UPDATE, 0, 1, &[0x7f, 0xfe, 0, 0]),
                setting(4, 200_000),
            ]
            .concat(),
            FLOW_CONTROL,
        ),
        (
            "6.10",
            "a continuation without headers",
            frame(CONTINUATION, END_HEADERS, 1, STATUS_200),
            PROTOCOL,
        ),
        (
            "6.10",
            "a CONTINUATION on another stream",
            [part.clone(), frame(CONTINUATION, END_HEADERS, 3, b"")].concat(),
            PROTOCOL,
        ),
        (
            "6.10",
            "a CONTINUATION after the end",
            [response_start(), frame(CONTINUATION, END_HEADERS, 1, b"")].concat(),
            PROTOCOL,
        ),
        (
            "10.5.1",
            "headers without an end",
            [part.clone(), long].concat(),
            CALM,
        ),
        (
            "10.5.1",
            "endless empty CONTINUATION frames",
            [part, empty].concat(),
            CALM,
        ),
        (
            "RFC 7541, 2.3.3",
            "index 0",
            with_block(&[0xff, 0x7f]),
            COMPRESSION,
        ),
        (
            "RFC 7541, 4.2",
            "a table size above the limit",
            with_block(&[0x3f, 0xe2, 0x1f, 0x88]),
            COMPRESSION,
        ),
        (
            "RFC 7541, 4.2",
            "a table size after a field",
            with_block(&[0x88, 0x20]),
            COMPRESSION,
        ),
        (
            "RFC 7541, 5.1",
            "an endless integer",
            with_block(&[0xff; 12]),
            COMPRESSION,
        ),
        (
            "RFC 7541, 5.2",
            "a string longer than the block",
            with_block(&[0, 1, b'a', 9, b'b']),
            COMPRESSION,
        ),
        (
            "RFC 7541, 5.2",
            "a full byte of padding",
            with_block(&[0, 1, b'a', 0x82, 0x1f, 0xff]),
            COMPRESSION,
        ),
        (
            "RFC 7541, 5.2",
            "padding of zeros",
            with_block(&[0, 1, b'a', 0x81, 0x18]),
            COMPRESSION,
        ),
        (
            "RFC 7541, 5.2",
            "the end of a string within it",
            with_block(&[0, 1, b'a', 0x84, 0xff, 0xff, 0xff, 0xff]),
            COMPRESSION,
        ),
        (
            "RFC 7541, 6.1",
            "the index 0",
            with_block(&[0x80]),
            COMPRESSION,
        ),
    ];
    for (section, what, bytes, code) in cases {
        let ([one, other], sent) = outcome(&bytes);
        assert_eq!(
            one,
            Err(StreamFault::Connection { code }),
            "{section}: {what}"
        );
        assert_eq!(one, other, "{section}: {what}");
        // The server receives the reason (section 5.4.1).
        let last = sent.last().unwrap();
        assert_eq!((last.0, last.2), (GOAWAY, 0), "{section}: {what}");
        assert_eq!(last.3[4..], code.to_be_bytes(), "{section}: {what}");
    }
}

/// The server must begin with SETTINGS (section 3.4).
#[test]
fn another_protocol_is_named() {
    let begins_with = |bytes: &'static [u8], ends: bool| {
        run(async move {
            let (streams, mut peer) = connect();
            let (_outgoing, mut incoming) = streams.open(&head("GET"), true).await.unwrap();
            peer.send(bytes).await;
            if ends {
                peer.close().await;
            }
            read(&mut incoming).await.unwrap_err()
        })
    };
    for (bytes, ends) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], false),
        (b"220 mail.example.com ESMTP\r\n", false),
        (b"no", true),
        (b"\0\0\x08\x06\0\0\0\0\0", false),
        (b"\0\0\0\x04\x01\0\0\0\0", false),
    ] {
        let fault = begins_with(bytes, ends);
        assert!(matches!(fault, StreamFault::NotHttp2 { .. }), "{fault:?}");
        let shown = bytes[..bytes.len().min(9)].escape_ascii().to_string();
        assert!(fault.to_string().contains(&shown), "{fault}");
    }
    assert_eq!(begins_with(b"", true), StreamFault::Ended);
}
