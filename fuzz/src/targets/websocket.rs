//! WebSocket frames from a server, with and without permessage-deflate. The messages do not depend on how the
//! frames are split, and no message exceeds the limit.

use plimsoll_ws::{AgreedDeflate, Decoder, Event, Limits, Violation};

use super::Target;

pub const TARGET: Target = Target {
    name: "websocket",
    run,
    seeds: &[
        b"\x00\x81\x05hello",
        b"\x01\x01\x03one\x89\x01p\x80\x04 two\x82\x00\x88\x05\x03\xe8bye",
        b"\x02\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00",
        b"\x03\x82\x7e\x00\x80\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00",
        // A kilobyte of zeros compressed to a few bytes, repeated.
        b"\x02\xc2\x09\x62\x60\x18\x05\xa3\x60\x14\x00\x00\xc2\x09\x62\x60\x18\x05\xa3\x60\x14\x00\x00",
    ],
    words: &["\u{1}", "\u{2}", "\u{9}", "\u{a}", "\u{0}\u{0}", "~", "\u{7f}"],
};

const LIMITS: Limits = Limits {
    max_message: 1 << 16,
};

/// The first byte selects how the rest is cut, and whether compression is negotiated.
fn run(data: &[u8]) {
    let Some((&how, bytes)) = data.split_first() else {
        return;
    };
    let deflate = (how & 2 != 0).then_some(AgreedDeflate {
        server_no_context_takeover: how & 4 != 0,
        client_no_context_takeover: how & 4 != 0,
    });
    let piece = usize::from(how >> 3) + 1;
    let whole = decode(bytes, bytes.len().max(1), deflate);
    assert_eq!(decode(bytes, piece, deflate), whole);
    for event in whole.iter().flatten() {
        let length = match event {
            Event::Text(text) => text.len(),
            Event::Binary(bytes) => bytes.len(),
            Event::Ping(bytes) | Event::Pong(bytes) => {
                assert!(bytes.len() <= 125);
                0
            }
            Event::Close(frame) => {
                assert!(frame.reason.len() <= 123);
                0
            }
        };
        assert!(length <= LIMITS.max_message);
    }
}

fn decode(
    bytes: &[u8],
    piece: usize,
    deflate: Option<AgreedDeflate>,
) -> Result<Vec<Event>, Violation> {
    let mut decoder = Decoder::new(LIMITS, deflate);
    let mut events = Vec::new();
    for mut input in bytes.chunks(piece) {
        // While a message is decompressed, calls make progress without consuming input.
        while !input.is_empty() || decoder.is_inflating() {
            events.extend(decoder.feed(&mut input)?);
        }
    }
    Ok(events)
}
