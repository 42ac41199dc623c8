//! Durations in options, flags and scripts.

use plimsoll_units::duration::{format, parse};

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "duration",
    run,
    seeds: &[
        b"1m30s",
        b"300",
        b"1.5h",
        b"1d12h",
        b"10us",
        b"-5s",
        b"0",
        b"1h2m3.5s4ms",
        b"106751d",
    ],
    words: &[
        "ns", "us", "\u{b5}s", "ms", "s", "m", "h", "d", ".", "-", "+", "1e3", " ",
    ],
};

fn run(data: &[u8]) {
    if let Ok(duration) = parse(&text(data)) {
        // A printed duration is parsed as the same duration.
        assert_eq!(parse(&format(duration)), Ok(duration));
    }
}
