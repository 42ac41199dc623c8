//! Responses of a name server, and the names to look up.

use plimsoll_net::dns_message::{Family, question, reply};

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "dns_message",
    run,
    seeds: &[
        b"a.test",
        b"\0\x07\x81\x80\0\x01\0\x01\0\0\0\0\x01a\x04test\0\0\x01\0\x01\xc0\x0c\0\x01\0\x01\0\0\0\x09\0\x04\x7f\0\0\x03",
        b"\0\x07\x81\x80\0\x01\0\x02\0\0\0\0\x01a\x04test\0\0\x1c\0\x01\x01b\xc0\x0c\0\x05\0\x01\0\0\0\x09\0\x02\xc0\x0c\xc0\
          \x0c\0\x1c\0\x01\0\0\0\x09\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01",
        b"\0\x07\x83\x83\0\x01\0\0\0\0\0\0\x01a\x04test\0\0\x01\0\x01",
    ],
    words: &["\0", "\0\x01", "\u{c}", "\x01", "test", ".", "\x7f"],
};

fn run(data: &[u8]) {
    for family in [Family::V4, Family::V6] {
        let host = text(data);
        if let Some(query) = question(7, &host, family) {
            // A name of 255 bytes, with the header before it and four bytes after it.
            assert!(query.len() <= 12 + 255 + 4, "{host}");
        }
        let query = question(7, "a.test", family).unwrap_or_default();
        if let Ok(parsed) = reply(&query, family, data) {
            // Each address has its own record with eleven further bytes.
            assert!(parsed.addresses.len() <= data.len() / 12);
            assert!(
                parsed
                    .addresses
                    .iter()
                    .all(|ip| ip.is_ipv6() == (family == Family::V6))
            );
        }
    }
}
