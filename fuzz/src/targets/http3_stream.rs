//! Data on a request stream of an HTTP/3 server, cut anywhere, and the headers in it.

use plimsoll_http3::{Frames, Piece, decode_fields};

use super::{Target, halves};

pub const TARGET: Target = Target {
    name: "http3_stream",
    run,
    seeds: &[
        b"\x01\x03\0\0\xd9\0\x02hi",
        b"\x04\0\x07\x01\x04\x21\x02ab",
        b"\x01\x0f\0\0\x51\x0b/index.html",
        b"\x01\x0a\0\0\x51\x86\xa8\xeb\x10\x64\x9c\xbf",
    ],
    words: &["\0\0", "\u{1}", "\u{4}", "Q", " ", "/"],
};

fn run(data: &[u8]) {
    const LIMIT: usize = 1 << 14;
    let _ = decode_fields(data, LIMIT);
    let (one, other) = halves(data);
    let mut frames = Frames::default();
    for piece in [one, other] {
        let mut input = bytes::Bytes::copy_from_slice(piece);
        while let Ok(Some(piece)) = frames.next(&mut input) {
            if let Piece::Whole(_, bytes) = piece {
                let _ = decode_fields(&bytes, LIMIT);
            }
        }
    }
    let _ = frames.is_between();
}
