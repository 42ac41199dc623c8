//! The subset of CBOR that a token needs (RFC 8949), in deterministic encoding.

/// Bytes that are being written.
#[derive(Debug, Default)]
pub struct Cbor(Vec<u8>);

impl Cbor {
    /// The start of a map with this number of pairs.
    pub fn map(mut self, pairs: u64) -> Cbor {
        self.head(5, pairs);
        self
    }

    /// The start of an array with this number of items.
    pub fn array(mut self, items: u64) -> Cbor {
        self.head(4, items);
        self
    }

    pub fn tag(mut self, tag: u64) -> Cbor {
        self.head(6, tag);
        self
    }

    pub fn number(mut self, number: i64) -> Cbor {
        match u64::try_from(number) {
            Ok(number) => self.head(0, number),
            // -1 is written as 0, -2 as 1, and so on: the complement.
            Err(_) => self.head(1, !number as u64),
        }
        self
    }

    pub fn text(mut self, text: &str) -> Cbor {
        self.head(3, text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Cbor {
        self.head(2, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    /// Writes a type and its argument, in as few bytes as possible (RFC 8949, section 3).
    fn head(&mut self, kind: u8, argument: u64) {
        let bytes = argument.to_be_bytes();
        let [.., fourth, third, second, last] = bytes;
        let kind = kind << 5;
        match argument {
            0..=23 => self.0.push(kind | last),
            24..=0xFF => self.0.extend([kind | 24, last]),
            0x100..=0xFFFF => self.0.extend([kind | 25, second, last]),
            0x1_0000..=0xFFFF_FFFF => self.0.extend([kind | 26, fourth, third, second, last]),
            _ => {
                self.0.push(kind | 27);
                self.0.extend(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of RFC 8949, appendix A.
    #[test]
    fn the_examples_of_the_rfc() {
        let number = |number| Cbor::default().number(number).finish();
        assert_eq!(number(0), [0x00]);
        assert_eq!(number(23), [0x17]);
        assert_eq!(number(24), [0x18, 0x18]);
        assert_eq!(number(1000), [0x19, 0x03, 0xe8]);
        assert_eq!(number(1_000_000), [0x1a, 0x00, 0x0f, 0x42, 0x40]);
        assert_eq!(
            number(1_000_000_000_000),
            [0x1b, 0x00, 0x00, 0x00, 0xe8, 0xd4, 0xa5, 0x10, 0x00]
        );
        assert_eq!(number(-1), [0x20]);
        assert_eq!(number(-1000), [0x39, 0x03, 0xe7]);
        let map = Cbor::default()
            .map(2)
            .text("a")
            .number(1)
            .text("b")
            .array(2)
            .number(2)
            .number(3);
        assert_eq!(
            map.finish(),
            [0xa2, 0x61, 0x61, 0x01, 0x61, 0x62, 0x82, 0x02, 0x03]
        );
        assert_eq!(
            Cbor::default().tag(1).bytes(&[1, 2]).finish(),
            [0xc1, 0x42, 1, 2]
        );
    }
}
