//! Whole exchanges over HTTP/2 with a server that sends arbitrary bytes, split anywhere: plain requests, an
//! upload, a body that is only counted, and HEAD.

use super::{Target, halves};

pub const TARGET: Target = Target {
    name: "http2_frames",
    run,
    seeds: &[
        b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x02\0\x01\0\0\0\x01hi",
        b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\x03\0\0\x05\x01\x05\0\0\0\x01\x40\x01a\x01b",
        b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\x01\0\0\0\x0b",
        // An informational response, padded data, trailers; a counted body; the response to HEAD.
        b"\0\0\0\x04\0\0\0\0\0\0\0\x05\x01\x04\0\0\0\x01\x08\x03103\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x05\0\x08\0\0\0\x01\x02hi..\0\0\x05\x01\x05\0\0\0\x01\0\x01a\x01b\0\0\x01\x01\x04\0\0\0\x05\x88\0\0\x02\0\x01\0\0\0\x05ok\0\0\x01\x01\x05\0\0\0\x07\x89",
        b"\0\0\0\x04\0\0\0\0\0\0\0\x04\x08\0\0\0\0\x01\0\0\0\x05\0\0\x04\x03\0\0\0\0\x03\0\0\0\x07",
    ],
    words: &["\0\0", "\u{1}", "\u{4}", "\u{9}", "\u{8}", "@"],
};

fn run(data: &[u8]) {
    let (one, other) = halves(data);
    for pieces in [&[data][..], &[one, other]] {
        let exchanged = plimsoll_http2::in_memory::exchange(pieces);
        assert!(exchanged.complete <= exchanged.responses && exchanged.responses <= 4);
        assert!(exchanged.body as usize <= data.len());
        assert!(exchanged.trailers <= exchanged.responses);
    }
}
