//! What a server says on a connection of HTTP/2, cut anywhere.

use super::{Target, halves};

pub const TARGET: Target = Target {
    name: "http2_frames",
    run,
    seeds: &[
        b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x02\0\x01\0\0\0\x01hi",
        b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\x03\0\0\x05\x01\x05\0\0\0\x01\x40\x01a\x01b",
        b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\x01\0\0\0\x0b",
        b"\0\0\0\x04\0\0\0\0\0\0\0\x04\x08\0\0\0\0\x01\0\0\0\x05\0\0\x04\x03\0\0\0\0\x03\0\0\0\x07",
    ],
    words: &["\0\0", "\u{1}", "\u{4}", "\u{9}", "\u{8}", "@"],
};

fn run(data: &[u8]) {
    let (one, other) = halves(data);
    let whole = plimsoll_http2::hear(&[data]);
    let cut = plimsoll_http2::hear(&[one, other]);
    // Cuts mean nothing, but for a window given back in between.
    assert!(whole <= data.len() && cut <= data.len() + 4);
}
