//! Random UUIDs (RFC 9562, version 4).

use super::digests::hex;

/// Formats random bytes as a UUID of version 4.
pub fn random_uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let mut text = hex(&bytes);
    for dash in [8, 13, 18, 23] {
        text.insert(dash, '-');
    }
    text
}
