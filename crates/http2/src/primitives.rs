//! The primitives of HPACK (RFC 7541, section 5) and QPACK (RFC 9204, section 4.1): integers that
//! start within a byte, and strings that may be Huffman-coded.

/// Appends an integer with a prefix of `bits` bits. The bits of `mark` are above the prefix
/// (section 5.1).
pub fn put_integer(out: &mut Vec<u8>, mark: u8, bits: u32, value: usize) {
    let most = (1usize << bits) - 1;
    if value < most {
        out.push(mark | value as u8);
        return;
    }
    out.push(mark | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// The bytes that are not read yet.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads an integer that starts in the last `bits` bits of a byte (section 5.1). `None` if it is
    /// incomplete or unreasonably large.
    pub fn integer(&mut self, bits: u32) -> Option<usize> {
        let most = (1usize << bits) - 1;
        let mut value = usize::from(self.byte()?) & most;
        if value < most {
            return Some(value);
        }
        for shift in (0..28).step_by(7) {
            let byte = self.byte()?;
            value = value.checked_add((usize::from(byte) & 0x7f) << shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// The bytes of a string whose length has a prefix of `bits` bits, and whether they are
    /// Huffman-coded, which the bit above the prefix states (section 5.2). `None` if the string is
    /// incomplete.
    pub fn string(&mut self, bits: u32) -> Option<(&'a [u8], bool)> {
        let is_coded = self.0.first()? & (1 << bits) != 0;
        let length = self.integer(bits)?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some((text, is_coded))
    }
}
