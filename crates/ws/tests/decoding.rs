//! The categories of a conformance suite that depend only on bytes: framing, pings and pongs,
//! reserved bits, opcodes, fragmentation, UTF-8, close frames, limits, compression.

use plimsoll_ws::{AgreedDeflate, CloseFrame, Decoder, Event, Limits, Violation};
use proptest::prelude::*;

const LAST: u8 = 0x80;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(length as u8),
        length @ 126..=0xffff => {
            frame.push(126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend(payload);
    frame
}

/// The events of `bytes` when they arrive in pieces of at most `piece` bytes.
fn decoded(
    bytes: &[u8],
    piece: usize,
    deflate: Option<AgreedDeflate>,
    limits: Limits,
) -> Result<Vec<Event>, Violation> {
    let mut decoder = Decoder::new(limits, deflate);
    let mut events = Vec::new();
    for mut input in bytes.chunks(piece) {
        while !input.is_empty() || decoder.is_inflating() {
            events.extend(decoder.feed(&mut input)?);
        }
    }
    Ok(events)
}

/// The events of `bytes`. They must be the same for every way to split the bytes.
fn events(bytes: &[u8]) -> Result<Vec<Event>, Violation> {
    let whole = decoded(bytes, bytes.len().max(1), None, Limits::default());
    for piece in [1, 2, 3, 7] {
        assert_eq!(
            decoded(bytes, piece, None, Limits::default()),
            whole,
            "in {piece}s"
        );
    }
    whole
}

fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

#[test]
fn messages_of_every_length_form_arrive() {
    for length in [0, 1, 125, 126, 127, 128, 65_535, 65_536, 200_000] {
        let payload = vec![b'*'; length];
        let all = [frame(LAST | TEXT, &payload), frame(LAST | BINARY, &payload)].concat();
        let expected = [
            Event::Text("*".repeat(length)),
            Event::Binary(payload.clone()),
        ];
        let whole = decoded(&all, all.len(), None, Limits::default()).unwrap();
        assert_eq!(whole, expected, "{length}");
        let pieces = decoded(&all, 997, None, Limits::default()).unwrap();
        assert_eq!(pieces, expected, "{length} in pieces");
    }
}

#[test]
fn control_frames_may_come_between_fragments_and_messages() {
    let all = [
        frame(LAST | PING, b""),
        frame(TEXT, b"one"),
        frame(LAST | PING, b"p"),
        frame(0, b" two"),
        frame(LAST | PONG, &[0xff; 125]),
        frame(LAST, b" three"),
        frame(LAST | TEXT, b"next"),
    ]
    .concat();
    assert_eq!(
        events(&all).unwrap(),
        [
            Event::Ping(vec![]),
            Event::Ping(b"p".to_vec()),
            Event::Pong(vec![0xff; 125]),
            text("one two three"),
            text("next"),
        ]
    );
}

#[test]
fn many_empty_fragments_are_accepted() {
    let mut all = frame(TEXT, b"");
    for _ in 0..500 {
        all.extend(frame(0, b""));
        all.extend(frame(0, b"x"));
    }
    all.extend(frame(LAST, b""));
    assert_eq!(events(&all).unwrap(), [text(&"x".repeat(500))]);
}

#[test]
fn fragments_out_of_order_are_refused() {
    assert_eq!(events(&frame(LAST, b"x")), Err(Violation::Continuation));
    assert_eq!(events(&frame(0, b"x")), Err(Violation::Continuation));
    for second in [TEXT, BINARY, LAST | TEXT, LAST | BINARY] {
        let all = [frame(TEXT, b"a"), frame(second, b"b")].concat();
        assert_eq!(events(&all), Err(Violation::Interleaved));
    }
    let all = [frame(LAST | TEXT, b"a"), frame(LAST, b"b")].concat();
    assert_eq!(events(&all), Err(Violation::Continuation));
}

#[test]
fn reserved_bits_and_opcodes_are_refused_in_every_frame() {
    for bits in [0x10, 0x20, 0x30] {
        for opcode in [TEXT, BINARY, CLOSE, PING, PONG] {
            let refused = events(&frame(LAST | bits | opcode, b""));
            assert_eq!(refused, Err(Violation::ReservedBits(bits >> 4)));
        }
    }
    for opcode in [TEXT, BINARY, CLOSE, PING, PONG] {
        let refused = events(&frame(LAST | 0x40 | opcode, b""));
        assert_eq!(refused, Err(Violation::ReservedBits(0b100)));
    }
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        assert_eq!(
            events(&frame(LAST | opcode, b"")),
            Err(Violation::Opcode(opcode))
        );
    }
}

#[test]
fn complete_messages_before_a_violation_are_delivered() {
    let all = [frame(LAST | TEXT, b"good"), frame(LAST | 5, b"")].concat();
    let mut decoder = Decoder::new(Limits::default(), None);
    let mut input = all.as_slice();
    assert_eq!(decoder.feed(&mut input).unwrap(), Some(text("good")));
    assert_eq!(decoder.feed(&mut input), Err(Violation::Opcode(5)));
}

#[test]
fn control_frames_must_be_short_and_unfragmented() {
    for opcode in [CLOSE, PING, PONG] {
        let long = events(&frame(LAST | opcode, &[b'a'; 126]));
        assert_eq!(long, Err(Violation::LongControl(126)));
        assert_eq!(
            events(&frame(opcode, b"")),
            Err(Violation::FragmentedControl)
        );
    }
}

/// Invalid UTF-8: bare continuations, incomplete and overlong forms, surrogates, and code points
/// above U+10FFFF.
const NO_UTF8: [&[u8]; 16] = [
    &[0x80],
    &[0xbf],
    &[0xc0, 0x80],
    &[0xc1, 0xbf],
    &[0xc3, 0x28],
    &[0xe0, 0x80, 0x80],
    &[0xe0, 0x9f, 0xbf],
    &[0xed, 0xa0, 0x80],
    &[0xed, 0xbf, 0xbf],
    &[0xf0, 0x80, 0x80, 0x80],
    &[0xf4, 0x90, 0x80, 0x80],
    &[0xf5, 0x80, 0x80, 0x80],
    &[0xf8, 0x88, 0x80, 0x80, 0x80],
    &[0xfe],
    &[0xff],
    &[0xce, 0xba, 0xe1, 0xbd, 0xb9, 0xed, 0xa0, 0x80, 0x65],
];

#[test]
fn text_must_be_utf8_however_it_is_split() {
    for bytes in NO_UTF8 {
        assert_eq!(
            events(&frame(LAST | TEXT, bytes)),
            Err(Violation::Utf8),
            "{bytes:x?}"
        );
        // Send one frame per byte.
        let mut all = frame(TEXT, b"ok");
        for byte in bytes {
            all.extend(frame(0, &[*byte]));
        }
        all.extend(frame(LAST, b""));
        assert_eq!(
            events(&all),
            Err(Violation::Utf8),
            "{bytes:x?} in fragments"
        );
        assert!(events(&frame(LAST | BINARY, bytes)).is_ok());
    }
    for whole in [
        "\u{0}",
        "\u{7f}",
        "\u{80}",
        "\u{7ff}",
        "\u{800}",
        "\u{ffff}",
        "\u{10000}",
        "\u{10ffff}",
        "κόσμε",
    ] {
        let mut all = frame(TEXT, b"");
        for byte in whole.bytes() {
            all.extend(frame(0, &[byte]));
        }
        all.extend(frame(LAST, b""));
        assert_eq!(events(&all).unwrap(), [text(whole)]);
    }
    // An incomplete character.
    for cut in [&[0xc3][..], &[0xe1, 0xbd], &[0xf0, 0x9f, 0x98]] {
        assert_eq!(events(&frame(LAST | TEXT, cut)), Err(Violation::Utf8));
    }
}

#[test]
fn invalid_data_fails_before_the_end_of_the_message() {
    let mut decoder = Decoder::new(Limits::default(), None);
    let mut head: &[u8] = &[TEXT, 127, 0, 0, 0, 0, 0, 0x10, 0, 0, b'a', 0xff];
    assert_eq!(decoder.feed(&mut head), Err(Violation::Utf8));
}

#[test]
fn close_frames_are_parsed_and_checked() {
    let close = |payload: &[u8]| events(&frame(LAST | CLOSE, payload));
    let closed = |code, reason: &str| {
        let reason = reason.to_owned();
        Ok(vec![Event::Close(CloseFrame { code, reason })])
    };
    assert_eq!(close(b""), closed(1005, ""));
    assert_eq!(close(&[3]), Err(Violation::CloseOfOneByte));
    assert_eq!(close(&[3, 0xe8, b'b', b'y', b'e']), closed(1000, "bye"));
    for code in [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000,
        4999u16,
    ] {
        assert_eq!(close(&code.to_be_bytes()), closed(code, ""));
    }
    for code in [
        0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535u16,
    ] {
        assert_eq!(close(&code.to_be_bytes()), Err(Violation::CloseCode(code)));
    }
    assert_eq!(close(&[3, 0xe8, 0xff]), Err(Violation::CloseReason));
    assert_eq!(
        close(&[&[3, 0xe8][..], &[b'r'; 123]].concat()),
        closed(1000, &"r".repeat(123))
    );
}

#[test]
fn a_message_whose_announced_length_is_too_long_is_rejected() {
    let limits = Limits { max_message: 1000 };
    let decode = |bytes: &[u8]| decoded(bytes, bytes.len(), None, limits);
    assert!(decode(&frame(LAST | BINARY, &[0; 1000])).is_ok());
    // The header alone is enough to reject the message.
    assert_eq!(
        decode(&[LAST | BINARY, 126, 3, 0xe9]),
        Err(Violation::TooBig(1000))
    );
    let endless = [
        LAST | BINARY,
        127,
        0x7f,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
    ];
    assert_eq!(decode(&endless), Err(Violation::TooBig(1000)));
    let fragments = [
        frame(BINARY, &[0; 600]),
        frame(0, &[0; 400]),
        frame(0, &[0; 1]),
    ]
    .concat();
    assert_eq!(decode(&fragments), Err(Violation::TooBig(1000)));
}

const NO_TAKEOVER: AgreedDeflate = AgreedDeflate {
    server_no_context_takeover: true,
    client_no_context_takeover: true,
};
/// `Hello`, compressed separately (RFC 7692, section 7.2.3.1).
const HELLO: [u8; 7] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];

#[test]
fn compressed_messages_may_be_fragmented_and_mixed_with_plain_ones() {
    let all = [
        frame(LAST | 0x40 | TEXT, &HELLO),
        frame(LAST | TEXT, b"plain"),
        frame(0x40 | BINARY, &HELLO[..3]),
        frame(LAST | PING, b""),
        frame(0, b""),
        frame(LAST, &HELLO[3..]),
    ]
    .concat();
    for piece in [1, 5, all.len()] {
        assert_eq!(
            decoded(&all, piece, Some(NO_TAKEOVER), Limits::default()).unwrap(),
            [
                text("Hello"),
                text("plain"),
                Event::Ping(vec![]),
                Event::Binary(b"Hello".to_vec())
            ]
        );
    }
}

#[test]
fn compression_is_marked_on_first_frames_only() {
    let deflated = |bytes: &[u8]| decoded(bytes, bytes.len(), Some(NO_TAKEOVER), Limits::default());
    let second = [
        frame(0x40 | TEXT, &HELLO[..3]),
        frame(LAST | 0x40, &HELLO[3..]),
    ]
    .concat();
    assert_eq!(deflated(&second), Err(Violation::ReservedBits(0b100)));
    assert_eq!(
        deflated(&frame(LAST | 0x40 | PING, b"")),
        Err(Violation::ReservedBits(0b100))
    );
    let nonsense = frame(LAST | 0x40 | TEXT, &[0xff; 9]);
    assert_eq!(deflated(&nonsense), Err(Violation::Compressed));
    // Decompressed text is checked like any other text: this is a stored block of 0xff.
    let stored = [0x00, 0x01, 0x00, 0xfe, 0xff, 0xff, 0x00];
    assert_eq!(
        deflated(&frame(LAST | 0x40 | TEXT, &stored)),
        Err(Violation::Utf8)
    );
}

#[test]
fn a_bomb_is_refused_at_the_limit() {
    let mut engine = flate2::Compress::new(flate2::Compression::best(), false);
    let zeros = vec![0; 50 << 20];
    let mut bomb = Vec::with_capacity(1 << 20);
    engine
        .compress_vec(&zeros, &mut bomb, flate2::FlushCompress::Sync)
        .unwrap();
    assert!(bomb.len() < 200_000);
    let limits = Limits {
        max_message: 1 << 20,
    };
    let all = frame(LAST | 0x40 | BINARY, &bomb);
    assert_eq!(
        decoded(&all, all.len(), Some(NO_TAKEOVER), limits),
        Err(Violation::TooBig(1 << 20))
    );
}

proptest! {
    /// For all bytes and all splits: no panic, and the same result.
    #[test]
    fn the_result_does_not_depend_on_how_bytes_are_split(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        piece in 1usize..50,
        deflate: bool,
    ) {
        let deflate = deflate.then_some(NO_TAKEOVER);
        let limits = Limits { max_message: 4096 };
        let whole = decoded(&bytes, bytes.len().max(1), deflate, limits);
        prop_assert_eq!(decoded(&bytes, piece, deflate, limits), whole);
    }
}
