//! Just enough of protobuf's wire format to speak with the services that are always the same:
//! reflection and health checks.

use bytes::Buf;

/// A field of a message: its number and value.
pub(crate) enum Field<'a> {
    Number(u32, u64),
    Bytes(u32, &'a [u8]),
}

/// Appends a field of bytes or text, or a message within the message.
pub(crate) fn put_bytes(message: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(message, u64::from(number) << 3 | 2);
    put_varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

fn put_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

/// The fields of a message in their order; ends early where the message is broken.
pub(crate) fn fields(mut message: &[u8]) -> impl Iterator<Item = Field<'_>> {
    std::iter::from_fn(move || {
        loop {
            if message.is_empty() {
                return None;
            }
            let key = varint(&mut message)?;
            let number = u32::try_from(key >> 3).ok()?;
            match key & 7 {
                0 => return Some(Field::Number(number, varint(&mut message)?)),
                1 => message = message.get(8..)?,
                2 => {
                    let length = usize::try_from(varint(&mut message)?).ok()?;
                    let bytes = message.get(..length)?;
                    message = &message[length..];
                    return Some(Field::Bytes(number, bytes));
                }
                5 => message = message.get(4..)?,
                _ => return None,
            }
        }
    })
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        if !bytes.has_remaining() {
            return None;
        }
        let byte = bytes.get_u8();
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The first field of that number that is bytes.
pub(crate) fn bytes_of(message: &[u8], wanted: u32) -> Option<&[u8]> {
    fields(message).find_map(|field| match field {
        Field::Bytes(number, bytes) if number == wanted => Some(bytes),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut message = Vec::new();
        put_bytes(&mut message, 1, b"one");
        put_bytes(&mut message, 1000, &[0; 300]);
        message.extend([3 << 3, 0x96, 1]);
        let read: Vec<_> = fields(&message)
            .map(|field| match field {
                Field::Number(number, value) => (number, value as usize),
                Field::Bytes(number, bytes) => (number, bytes.len()),
            })
            .collect();
        assert_eq!(read, [(1, 3), (1000, 300), (3, 150)]);
        assert_eq!(bytes_of(&message, 1), Some(&b"one"[..]));
    }

    #[test]
    fn broken_messages_end_early() {
        for message in [&[0x0a, 5, 1][..], &[0xff; 20], &[0x0b], &[0x09, 1]] {
            assert_eq!(fields(message).count(), 0);
        }
    }
}
