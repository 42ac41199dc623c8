//! The encoding of samples that processes exchange: numbers of variable length, strings, and a reader for untrusted
//! input.
//!
//! The reader never allocates more than a fixed multiple of the bytes that it was given. It compares each count with
//! the number of remaining bytes before it reserves memory.

use std::fmt;
use std::time::Duration;

/// Maximum length of a string, in bytes.
const TEXT_LIMIT: usize = 64 * 1024;
/// Maximum count: a million per second for nine years.
const AMOUNT_LIMIT: u64 = 1 << 48;

/// Appends values to bytes.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

/// Reads the values of a [`Writer`] in the same order.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

/// Why bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The bytes end in the middle of a value.
    Short,
    /// A value that no writer produces. The string names the value.
    Invalid(&'static str),
    /// More than the limit of something. The string names it.
    TooMany(&'static str),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Short => f.write_str("the bytes end too early"),
            WireError::Invalid(what) => write!(f, "invalid {what}"),
            WireError::TooMany(what) => write!(f, "too many {what}"),
        }
    }
}

impl std::error::Error for WireError {}

impl Writer {
    /// Creates an empty writer.
    pub fn new() -> Writer {
        Writer::default()
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Writes a number in groups of seven bits, the lowest first (LEB128).
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Writes a signed number. Numbers with a small magnitude are short.
    pub fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)) as u64);
    }

    pub fn float(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    pub fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    /// Writes a duration in whole nanoseconds, up to 584 years.
    pub fn duration(&mut self, duration: Duration) {
        self.number(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Writes a string. Cuts it off after 64 KiB.
    pub fn text(&mut self, text: &str) {
        let mut end = text.len().min(TEXT_LIMIT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.bytes(&text.as_bytes()[..end]);
    }

    /// Writes bytes, preceded by their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Writes bytes whose length the reader knows.
    pub fn exactly(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// Whether no bytes are left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails if there are remaining bytes.
    ///
    /// # Errors
    /// [`WireError::Invalid`].
    pub fn end(&self) -> Result<(), WireError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(WireError::Invalid("bytes after the end"))
        }
    }

    pub fn byte(&mut self) -> Result<u8, WireError> {
        let (&byte, rest) = self.0.split_first().ok_or(WireError::Short)?;
        self.0 = rest;
        Ok(byte)
    }

    /// Reads a number. Accepts only its shortest form, so that equal contents have equal bytes.
    pub fn number(&mut self) -> Result<u64, WireError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 || shift > 0 && byte == 0 {
                return Err(WireError::Invalid("number"));
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(WireError::Invalid("number"))
    }

    /// Reads a count of events, at most 2^48, so that sums of counts do not overflow.
    pub fn amount(&mut self) -> Result<u64, WireError> {
        let amount = self.number()?;
        if amount > AMOUNT_LIMIT {
            return Err(WireError::Invalid("count"));
        }
        Ok(amount)
    }

    pub fn signed(&mut self) -> Result<i64, WireError> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    pub fn small(&mut self) -> Result<u32, WireError> {
        u32::try_from(self.number()?).map_err(|_| WireError::Invalid("number"))
    }

    pub fn float(&mut self) -> Result<f64, WireError> {
        let bytes = self.array()?;
        Ok(f64::from_bits(u64::from_le_bytes(bytes)))
    }

    pub fn flag(&mut self) -> Result<bool, WireError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError::Invalid("flag")),
        }
    }

    pub fn duration(&mut self) -> Result<Duration, WireError> {
        Ok(Duration::from_nanos(self.number()?))
    }

    pub fn text(&mut self) -> Result<&'a str, WireError> {
        let bytes = self.bytes()?;
        if bytes.len() > TEXT_LIMIT {
            return Err(WireError::TooMany("bytes in a text"));
        }
        std::str::from_utf8(bytes).map_err(|_| WireError::Invalid("text"))
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = usize::try_from(self.number()?).map_err(|_| WireError::Short)?;
        self.exactly(length)
    }

    /// Reads the next `length` bytes.
    pub fn exactly(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(WireError::Short)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Reads a number of bytes known at compile time.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let bytes = self.exactly(N)?;
        bytes.try_into().map_err(|_| WireError::Short)
    }

    /// Reads the length of a list whose entries take at least `least` bytes each.
    pub fn count(&mut self, least: usize) -> Result<usize, WireError> {
        let count = usize::try_from(self.number()?).map_err(|_| WireError::Short)?;
        if count > self.0.len() / least.max(1) {
            return Err(WireError::Short);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_exactly_one_encoding() {
        for bytes in [&[0x80, 0x00][..], &[0x80; 10], &[0xff; 11], &[0x80]] {
            assert!(Reader::new(bytes).number().is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_count_is_checked_before_memory_is_reserved() {
        let mut writer = Writer::new();
        writer.number(1 << 40);
        writer.number(0);
        let bytes = writer.into_bytes();
        assert_eq!(Reader::new(&bytes).count(1), Err(WireError::Short));
    }

    #[test]
    fn a_long_string_is_cut_between_characters() {
        let mut writer = Writer::new();
        writer.text(&"é".repeat(TEXT_LIMIT));
        writer.text(&format!("a{}", "é".repeat(TEXT_LIMIT)));
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.text().map(str::len), Ok(TEXT_LIMIT));
        assert_eq!(reader.text().map(str::len), Ok(TEXT_LIMIT - 1));
        assert_eq!(reader.end(), Ok(()));
    }

    proptest! {
        #[test]
        fn values_are_read_as_written(number: u64, signed: i64, float: f64, text in ".*") {
            let mut writer = Writer::new();
            writer.number(number);
            writer.signed(signed);
            writer.float(float);
            writer.text(&text);
            let bytes = writer.into_bytes();
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.number(), Ok(number));
            prop_assert_eq!(reader.signed(), Ok(signed));
            prop_assert_eq!(reader.float().map(f64::to_bits), Ok(float.to_bits()));
            prop_assert_eq!(reader.text(), Ok(&*text));
            prop_assert_eq!(reader.end(), Ok(()));
        }
    }
}
