//! A text that other programs compressed with each content coding.

/// The decompressed text of every body.
#[cfg(test)]
pub const PLAIN: &str = concat!(
    r#"{"packed":true,"text":""#,
    "plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll ",
    "plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll plimsoll ",
    r#""}"#
);

pub const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xabV*HL\xceNMQ\xb2*)*M\xd5Q*I\xad(Q\xb2R*\xc8\xc9\xcc-\xce\xcf\xc9Q\x18B\x0c\xa5Z\x00k\xac\x7f\x9b\xcd\x00\x00\x00";
pub const DEFLATE: &[u8] = b"x\x9c\xabV*HL\xceNMQ\xb2*)*M\xd5Q*I\xad(Q\xb2R*\xc8\xc9\xcc-\xce\xcf\xc9Q\x18B\x0c\xa5Z\x00\x97=OB";
pub const BROTLI: &[u8] = b"\x1b\xcc\x00\xe0\x15\xa1\xd2\xa16\x97\xaa\\\x89\xb6\xacAxQ0\x8e\xc1\x06\x1c\xb0\xc6a\xa0#\xd9\xb9\x18\xa9\n\xb1\xeaq\xb5\x0c<Y*N\xc9\xaa\xfaF2\xf1\x01";
pub const ZSTD: &[u8] =
    b"(\xb5/\xfd \xcdU\x01\x00$\x02{\"packed\":true,\"text\":\"plimsoll \"}\x01\x00@\x91*O";

#[cfg(test)]
mod tests {
    /// The checksum at the end of a zlib stream is computed from the decompressed text (RFC 1950,
    /// section 2.2).
    #[test]
    fn the_deflated_body_contains_the_plain_text() {
        let (mut low, mut high) = (1_u32, 0_u32);
        for byte in super::PLAIN.bytes() {
            low = (low + u32::from(byte)) % 65_521;
            high = (high + low) % 65_521;
        }
        let checksum = (high << 16 | low).to_be_bytes();
        assert!(super::DEFLATE.ends_with(&checksum));
    }
}
