//! Base64 as in gRPC metadata (RFC 4648, section 4): written without padding, and read with or
//! without it ("gRPC over HTTP2", Custom-Metadata).

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Encodes without padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    LENIENT.encode(bytes)
}

/// Encodes with padding, as in JSON.
pub(crate) fn encode_padded(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Decodes. `None` if the text is not Base64.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    LENIENT.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_accepted_and_not_written() {
        for (plain, coded) in [("f", "Zg=="), ("foo", "Zm9v"), ("fooba", "Zm9vYmE=")] {
            let bare = coded.trim_end_matches('=');
            assert_eq!(encode(plain.as_bytes()), bare);
            assert_eq!(encode_padded(plain.as_bytes()), coded);
            assert_eq!(decode(coded.as_bytes()).unwrap(), plain.as_bytes());
            assert_eq!(decode(bare.as_bytes()).unwrap(), plain.as_bytes());
        }
        assert_eq!(decode(b"Zg=a"), None);
        assert_eq!(decode(b"A"), None);
    }
}
