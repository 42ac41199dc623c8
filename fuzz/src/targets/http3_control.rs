//! Data on the control stream of an HTTP/3 server: SETTINGS and GOAWAY.

use plimsoll_http3::in_memory::read_control_stream;

use super::{Target, halves};

pub const TARGET: Target = Target {
    name: "http3_control",
    run,
    seeds: &[
        b"\0\x04\x04\x01\0\x07\0\x07\x01\x08",
        b"\0\x04\0\x03\x01\x02\x21\x03abc",
        b"\x02abc",
        b"\x40\x01\x01",
        b"\0\x04\0\x0d\x01\x01",
    ],
    words: &["\0", "\u{4}\0", "\u{7}\u{1}", "\u{3}\u{1}", "@"],
};

fn run(data: &[u8]) {
    let whole = read_control_stream(&[data]);
    let (one, other) = halves(data);
    let cut = read_control_stream(&[one, &[0], other]);
    if data.contains(&0) {
        assert_eq!(cut, whole, "the result does not depend on the cuts");
    }
}
