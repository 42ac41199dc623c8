//! Frame headers: RFC 6455, section 5.2.

use crate::close::MAX_CONTROL;
use crate::violation::Violation;

/// Maximum length of a frame header.
pub(crate) const MAX_HEADER: usize = 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    fn of(bits: u8) -> Result<Self, Violation> {
        Ok(match bits {
            0 => Opcode::Continuation,
            1 => Opcode::Text,
            2 => Opcode::Binary,
            8 => Opcode::Close,
            9 => Opcode::Ping,
            10 => Opcode::Pong,
            other => return Err(Violation::Opcode(other)),
        })
    }

    pub(crate) fn is_control(self) -> bool {
        self as u8 >= Opcode::Close as u8
    }
}

/// The header of a frame from a server. It is valid on its own, without regard to other frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) is_last: bool,
    /// RSV1: the message is compressed (RFC 7692, section 6).
    pub(crate) is_compressed: bool,
    pub(crate) opcode: Opcode,
    pub(crate) length: u64,
}

impl Header {
    /// Parses a header at the start of `bytes`, and returns it with its length; `None` if it is
    /// incomplete. An error in the first bytes is reported without waiting for the rest.
    #[inline]
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Header, usize)>, Violation> {
        let &[first, second, ref rest @ ..] = bytes else {
            return Ok(None);
        };
        let opcode = Opcode::of(first & 0x0f)?;
        if first & 0x30 != 0 {
            return Err(Violation::ReservedBits(first >> 4 & 7));
        }
        if second & 0x80 != 0 {
            return Err(Violation::Masked);
        }
        let (length, used, shortest) = match second {
            126 => match rest.first_chunk() {
                Some(length) => (u64::from(u16::from_be_bytes(*length)), 4, 126),
                None => return Ok(None),
            },
            127 => match rest.first_chunk() {
                Some(length) => (u64::from_be_bytes(*length), 10, 1 << 16),
                None => return Ok(None),
            },
            length => (u64::from(length), 2, 0),
        };
        if length < shortest {
            return Err(Violation::LengthForm(length));
        }
        if length >> 63 != 0 {
            return Err(Violation::Length(length));
        }
        let header = Header {
            is_last: first & 0x80 != 0,
            is_compressed: first & 0x40 != 0,
            opcode,
            length,
        };
        if opcode.is_control() {
            if length > MAX_CONTROL as u64 {
                return Err(Violation::LongControl(length));
            }
            if !header.is_last {
                return Err(Violation::FragmentedControl);
            }
        }
        Ok(Some((header, used)))
    }
}

/// Appends the header of a masked frame with a payload of `length` bytes.
#[inline]
pub(crate) fn write_header(
    out: &mut Vec<u8>,
    opcode: Opcode,
    is_compressed: bool,
    length: usize,
    key: [u8; 4],
) {
    let first = 0x80 | if is_compressed { 0x40 } else { 0 } | opcode as u8;
    match length {
        0..=125 => out.extend_from_slice(&[first, 0x80 | length as u8]),
        126..=0xffff => {
            out.extend_from_slice(&[first, 0x80 | 126]);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            out.extend_from_slice(&[first, 0x80 | 127]);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&key);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> Violation {
        Header::parse(bytes).unwrap_err()
    }

    #[test]
    fn lengths_have_three_forms_and_the_shortest_is_used() {
        let parse = |bytes: &[u8]| {
            let (header, used) = Header::parse(bytes).unwrap().unwrap();
            (header.length, used)
        };
        assert_eq!(parse(&[0x81, 125]), (125, 2));
        assert_eq!(parse(&[0x81, 126, 0, 126]), (126, 4));
        assert_eq!(parse(&[0x81, 126, 0xff, 0xff]), (65_535, 4));
        assert_eq!(parse(&[0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]), (65_536, 10));
        assert_eq!(refused(&[0x81, 126, 0, 125]), Violation::LengthForm(125));
        let long = [0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
        assert_eq!(refused(&long), Violation::LengthForm(65_535));
        let endless = [0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(refused(&endless), Violation::Length(1 << 63));
    }

    #[test]
    fn incomplete_frame_headers_wait_for_more_bytes() {
        let whole = [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0];
        for cut in 0..whole.len() {
            assert_eq!(Header::parse(&whole[..cut]), Ok(None), "{cut}");
        }
    }

    #[test]
    fn errors_in_the_first_two_bytes_are_rejected_immediately() {
        assert_eq!(refused(&[0x81, 0x80]), Violation::Masked);
        assert_eq!(refused(&[0xa1, 0]), Violation::ReservedBits(0b010));
        assert_eq!(refused(&[0x91, 0]), Violation::ReservedBits(0b001));
        for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
            assert_eq!(refused(&[0x80 | opcode, 0]), Violation::Opcode(opcode));
        }
        for opcode in [8, 9, 10] {
            let long = [0x80 | opcode, 126, 0, 126];
            assert_eq!(refused(&long), Violation::LongControl(126));
            assert_eq!(refused(&[opcode, 0]), Violation::FragmentedControl);
        }
    }

    #[test]
    fn written_frame_headers_are_masked_and_shortest() {
        let written = |length| {
            let mut out = Vec::new();
            write_header(&mut out, Opcode::Binary, false, length, [1, 2, 3, 4]);
            out
        };
        assert_eq!(written(0), [0x82, 0x80, 1, 2, 3, 4]);
        assert_eq!(written(125), [0x82, 0xfd, 1, 2, 3, 4]);
        assert_eq!(written(126), [0x82, 0xfe, 0, 126, 1, 2, 3, 4]);
        assert_eq!(written(65_535), [0x82, 0xfe, 0xff, 0xff, 1, 2, 3, 4]);
        let long = [0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4];
        assert_eq!(written(65_536), long);
        assert!(long.len() <= MAX_HEADER);
    }
}
