//! Packets of the MySQL protocol from the server (MySQL and MariaDB manuals, "Client/Server Protocol").

/// Reads the values of a packet. Each method returns `None` if the packet is too short.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// An integer with this number of bytes.
    pub fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.number().map(u8::from_le_bytes)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.number().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.number().map(u32::from_le_bytes)
    }

    /// An integer of one to nine bytes. The first byte determines how many follow.
    pub fn length(&mut self) -> Option<u64> {
        match self.u8()? {
            small @ 0..=0xFA => Some(small.into()),
            0xFC => self.u16().map(u64::from),
            0xFD => {
                let [low, middle, high] = self.number()?;
                Some(u32::from_le_bytes([low, middle, high, 0]).into())
            }
            0xFE => self.number().map(u64::from_le_bytes),
            _ => None,
        }
    }

    /// Bytes with their length before them.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// Bytes up to a zero byte, or up to the end.
    pub fn until_zero(&mut self) -> &'a [u8] {
        let zero = self.0.iter().position(|byte| *byte == 0);
        let end = zero.unwrap_or(self.0.len());
        let (found, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        found
    }
}

/// The first packet from a server.
#[derive(Debug, PartialEq, Eq)]
pub struct Greeting {
    pub capabilities: u32,
    /// Random bytes that are used to hide the password.
    pub nonce: Vec<u8>,
    /// The authentication method.
    pub plugin: String,
}

/// The number of random bytes.
pub const NONCE: usize = 20;

/// Reads the first packet from a server. `None` if it is malformed.
pub fn greeting(packet: &[u8]) -> Option<Greeting> {
    const FIRST_PART: usize = 8;
    let mut reader = Reader(packet);
    if reader.u8()? != 10 {
        return None;
    }
    reader.until_zero();
    reader.u32()?;
    let mut nonce = reader.bytes(FIRST_PART)?.to_vec();
    reader.u8()?;
    let low = reader.u16()?;
    // The character set and the status.
    reader.bytes(3)?;
    let high = reader.u16()?;
    // The length of the random bytes, which is always the same, and reserved bytes.
    reader.bytes(11)?;
    nonce.extend_from_slice(reader.bytes(NONCE - FIRST_PART)?);
    reader.u8()?;
    Some(Greeting {
        capabilities: u32::from(low) | u32::from(high) << 16,
        nonce,
        plugin: lossy(reader.until_zero()),
    })
}

/// A server's request to use another authentication method: the method, and random bytes.
pub fn other_plugin(packet: &[u8]) -> Option<(String, Vec<u8>)> {
    let mut reader = Reader(packet.get(1..)?);
    let plugin = lossy(reader.until_zero());
    let nonce = reader.0.get(..NONCE).unwrap_or(reader.0);
    (!plugin.is_empty()).then(|| (plugin, nonce.to_vec()))
}

/// The outcome of a statement without rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    pub rows: u64,
    pub last_id: u64,
    /// Whether the outcome of another statement follows.
    pub has_more: bool,
}

const MORE_RESULTS: u16 = 0x0008;

pub fn done(packet: &[u8]) -> Option<Done> {
    let mut reader = Reader(packet.get(1..)?);
    Some(Done {
        rows: reader.length()?,
        last_id: reader.length()?,
        has_more: reader.u16()? & MORE_RESULTS != 0,
    })
}

/// Whether a packet ends a list of columns or rows. If so, whether another result follows.
pub fn end(packet: &[u8]) -> Option<bool> {
    let mut reader = Reader(packet);
    // A longer packet is a row that begins with a long value.
    if packet.len() >= 9 || reader.u8()? != 0xFE {
        return None;
    }
    reader.u16();
    Some(reader.u16().unwrap_or_default() & MORE_RESULTS != 0)
}

/// A server's error message, in the format of Go's driver.
pub fn failure(packet: &[u8]) -> String {
    let mut reader = Reader(packet.get(1..).unwrap_or_default());
    let code = reader.u16().unwrap_or_default();
    let state = match reader.0.first() {
        Some(b'#') => reader.bytes(6).and_then(|state| state.get(1..)),
        _ => None,
    };
    let text = lossy(reader.0);
    match state {
        Some(state) => format!("Error {code} ({}): {text}", lossy(state)),
        None => format!("Error {code}: {text}"),
    }
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: u8,
    pub is_unsigned: bool,
    /// The number of decimal places of a time.
    pub decimals: u8,
}

pub fn column(packet: &[u8]) -> Option<Column> {
    const UNSIGNED: u16 = 0x20;
    let mut reader = Reader(packet);
    // The names of the catalog, of the schema, and of the table (twice).
    for _ in 0..4 {
        reader.text()?;
    }
    let name = lossy(reader.text()?);
    reader.text()?;
    // The length of the following fields, the character set, and the width.
    reader.length()?;
    reader.bytes(6)?;
    let kind = reader.u8()?;
    let flags = reader.u16()?;
    Some(Column {
        name,
        kind,
        is_unsigned: flags & UNSIGNED != 0,
        decimals: reader.u8()?,
    })
}

/// A prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub id: u32,
    pub columns: u16,
    pub parameters: u16,
}

pub fn prepared(packet: &[u8]) -> Option<Prepared> {
    let mut reader = Reader(packet);
    if reader.u8()? != 0 {
        return None;
    }
    Some(Prepared {
        id: reader.u32()?,
        columns: reader.u16()?,
        parameters: reader.u16()?,
    })
}

pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_to_nine_bytes() {
        for (bytes, expected) in [
            (&[5][..], Some(5)),
            (&[0xFA], Some(250)),
            (&[0xFC, 1, 2], Some(513)),
            (&[0xFD, 1, 2, 3], Some(197_121)),
            (
                &[0xFE, 1, 0, 0, 0, 0, 0, 0, 1],
                Some(72_057_594_037_927_937),
            ),
            (&[0xFB], None),
            (&[0xFF], None),
            (&[0xFC, 1], None),
            (&[], None),
        ] {
            assert_eq!(Reader(bytes).length(), expected, "{bytes:?}");
        }
        assert_eq!(Reader(&[2, 65, 66, 67]).text(), Some(&b"AB"[..]));
        assert_eq!(Reader(&[9, 65]).text(), None);
        assert_eq!(Reader(b"ab\0c").until_zero(), b"ab");
        assert_eq!(Reader(b"ab").until_zero(), b"ab");
    }

    #[test]
    fn the_first_packet_is_parsed() {
        let mut packet = b"\x0a11.8.1-MariaDB\0\x01\0\0\0abcdefgh\0".to_vec();
        packet.extend([0xFE, 0xF7, 45, 2, 0, 0xFF, 0x81, 21]);
        packet.extend([0; 10]);
        packet.extend(b"ijklmnopqrst\0mysql_native_password\0");
        let found = greeting(&packet).unwrap();
        assert_eq!(found.nonce, b"abcdefghijklmnopqrst");
        assert_eq!(found.plugin, "mysql_native_password");
        assert_eq!(found.capabilities, 0x81FF_F7FE);
        for end in 0..56 {
            let cut = packet.get(..end).unwrap();
            assert!(greeting(cut).is_none_or(|g| g.plugin.is_empty()), "{end}");
        }
        assert_eq!(greeting(b"HTTP/1.1 400 Bad Request\r\n\r\n"), None);
    }

    #[test]
    fn outcomes_and_errors_are_read() {
        let found = done(b"\0\x02\x07\x08\0\0\0");
        let expected = Done {
            rows: 2,
            last_id: 7,
            has_more: true,
        };
        assert_eq!(found, Some(expected));
        assert_eq!(done(b"\0"), None);
        assert_eq!(end(b"\xfe\0\0\x02\0"), Some(false));
        assert_eq!(end(b"\xfe\0\0\x08\0"), Some(true));
        assert_eq!(end(b"\xfe\0\0\0\0\0\0\0\0"), None);
        assert_eq!(
            failure(b"\xff\x7a\x04#42S02Table 'x.none' doesn't exist"),
            "Error 1146 (42S02): Table 'x.none' doesn't exist"
        );
        assert_eq!(failure(b"\xff\x10\x04Too many"), "Error 1040: Too many");
        assert_eq!(failure(b"\xff"), "Error 0: ");
    }
}
