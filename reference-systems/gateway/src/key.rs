//! Keys that distinguish requests: for rate limits, and for the choice of a target by hash.

use std::net::IpAddr;

use hyper::header::{COOKIE, HeaderMap, HeaderValue};

use crate::config::Key;

impl Key {
    /// The key of a client's request.
    pub fn of(&self, address: IpAddr, headers: &HeaderMap) -> u64 {
        let found = match self {
            Key::All => Some(&b""[..]),
            Key::Address => None,
            Key::Header(name) => headers.get(name).map(HeaderValue::as_bytes),
            Key::Cookie(name) => cookie(headers, name),
        };
        match (found, address) {
            (Some(value), _) => hash(value),
            (None, IpAddr::V4(address)) => hash(&address.octets()),
            (None, IpAddr::V6(address)) => hash(&address.octets()),
        }
    }
}

/// The value of a cookie (RFC 6265, section 5.4).
fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h [u8]> {
    let fields = headers.get_all(COOKIE).iter();
    fields
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'))
        .map(<[u8]>::trim_ascii)
        .find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// A hash that is the same in every process: FNV-1a over the bytes, then the final step of
/// SplitMix64, which spreads short keys over the whole range.
pub fn hash(bytes: &[u8]) -> u64 {
    let folded = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |state, byte| {
        (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (folded ^ (folded >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
