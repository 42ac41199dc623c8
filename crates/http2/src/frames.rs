//! The wire format of frames (RFC 9113, sections 4 and 6).

/// Length of a frame's header.
pub(crate) const HEAD: usize = 9;
/// The largest payload that we allow. Every peer must accept this size (section 4.2).
pub(crate) const MAX_FRAME: usize = 16_384;
/// The connection preface (section 3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The largest window (section 6.9.1).
pub(crate) const MAX_WINDOW: i64 = (1 << 31) - 1;

pub(crate) mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

pub(crate) mod flag {
    pub const END_STREAM: u8 = 1;
    pub const ACK: u8 = 1;
    pub const END_HEADERS: u8 = 4;
    pub const PADDED: u8 = 8;
    pub const PRIORITY: u8 = 32;
}

pub(crate) mod setting {
    pub const HEADER_TABLE_SIZE: u16 = 1;
    pub const ENABLE_PUSH: u16 = 2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    pub const MAX_FRAME_SIZE: u16 = 5;
    pub const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHead {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl FrameHead {
    /// Parses a header; `None` if it is incomplete.
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<FrameHead> {
        let &[a, b, c, kind, flags, w, x, y, z] = bytes.first_chunk::<HEAD>()?;
        Some(FrameHead {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes([w, x, y, z]) & 0x7fff_ffff,
        })
    }

    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [w, x, y, z] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind, self.flags, w, x, y, z]);
    }
}

/// Appends a frame with this payload.
pub(crate) fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let head = FrameHead {
        length: payload.len(),
        kind,
        flags,
        stream,
    };
    head.write(out);
    out.extend_from_slice(payload);
}

/// Appends a frame whose payload is one number, for example WINDOW_UPDATE or RST_STREAM.
pub(crate) fn put_number(out: &mut Vec<u8>, kind: u8, stream: u32, number: u32) {
    put(out, kind, 0, stream, &number.to_be_bytes());
}

/// The payload of a HEADERS or DATA frame without padding and priority (sections 6.1 and 6.2).
/// `None` if it is shorter than declared.
pub(crate) fn unpadded(head: FrameHead, payload: &[u8]) -> Option<&[u8]> {
    let mut payload = payload;
    let mut padding = 0;
    if head.has(flag::PADDED) {
        let (length, rest) = payload.split_first()?;
        (padding, payload) = (usize::from(*length), rest);
    }
    if head.kind == kind::HEADERS && head.has(flag::PRIORITY) {
        payload = payload.get(5..)?;
    }
    payload.get(..payload.len().checked_sub(padding)?)
}

/// The payload as a number, if it contains nothing else.
pub(crate) fn number(payload: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(payload.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_headers_round_trip() {
        let head = FrameHead {
            length: 0x01_02_03,
            kind: kind::DATA,
            flags: flag::END_STREAM,
            stream: 0x7fff_ffff,
        };
        let mut out = Vec::new();
        head.write(&mut out);
        assert_eq!(FrameHead::read(&out), Some(head));
        assert_eq!(FrameHead::read(&out[..8]), None);
        // The first bit of the stream number is reserved.
        out[5] |= 0x80;
        assert_eq!(FrameHead::read(&out), Some(head));
    }

    #[test]
    fn only_padding_is_removed() {
        let head = |flags, kind| FrameHead {
            length: 0,
            kind,
            flags,
            stream: 1,
        };
        let padded = head(flag::PADDED, kind::DATA);
        assert_eq!(unpadded(padded, b"\x02hi.."), Some(&b"hi"[..]));
        assert_eq!(unpadded(padded, b"\x03hi"), None);
        assert_eq!(unpadded(padded, b""), None);
        let both = head(flag::PADDED | flag::PRIORITY, kind::HEADERS);
        assert_eq!(unpadded(both, b"\x01.....x."), Some(&b"x"[..]));
        assert_eq!(unpadded(both, b"\x00..."), None);
    }
}
