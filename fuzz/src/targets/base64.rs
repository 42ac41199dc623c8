//! Base64 in all of k6's variants.

use plimsoll_k6::pure::base64::{Dialect, decode, encode};

use super::Target;

pub const TARGET: Target = Target {
    name: "base64",
    run,
    seeds: &[
        b"aGVsbG8=",
        b"aGVsbG8",
        b"-_-_",
        b"++//",
        b"a\r\nGVs\nbG8=",
        b"====",
    ],
    words: &["=", "==", "\n", "\r", "-", "_", "+", "/"],
};

fn run(data: &[u8]) {
    for name in ["std", "rawstd", "url", "rawurl"] {
        let _ = decode(data, Dialect::named(name));
        let encoded = encode(data, Dialect::named(name));
        assert!(
            decode(encoded.as_bytes(), Dialect::named(name)).is_ok_and(|decoded| decoded == data)
        );
    }
}
