//! The part of protobuf's wire format that the built-in services need: reflection and health
//! checks.

use bytes::Buf;

/// A field of a message: its number and its value.
pub(crate) enum Field<'a> {
    Number(u32, u64),
    Bytes(u32, &'a [u8]),
}

/// Appends a field that contains bytes, a string or a nested message.
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

/// The fields of a message in order. Ends early if the message is malformed.
pub(crate) fn fields(message: &[u8]) -> impl Iterator<Item = Field<'_>> {
    let mut message = message;
    std::iter::from_fn(move || next(&mut message).ok().flatten())
}

/// Whether the bytes are one complete message.
pub(crate) fn is_message(mut bytes: &[u8]) -> bool {
    loop {
        match next(&mut bytes) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(Broken) => return false,
        }
    }
}

struct Broken;

/// The next field. Fixed-size fields are skipped, because no caller needs them.
fn next<'a>(message: &mut &'a [u8]) -> Result<Option<Field<'a>>, Broken> {
    while !message.is_empty() {
        let key = varint(message).ok_or(Broken)?;
        let number = u32::try_from(key >> 3).map_err(|_| Broken)?;
        match key & 7 {
            0 => {
                let value = varint(message).ok_or(Broken)?;
                return Ok(Some(Field::Number(number, value)));
            }
            1 => {
                take(message, 8)?;
            }
            2 => {
                let length = varint(message).ok_or(Broken)?;
                let length = usize::try_from(length).map_err(|_| Broken)?;
                return Ok(Some(Field::Bytes(number, take(message, length)?)));
            }
            5 => {
                take(message, 4)?;
            }
            _ => return Err(Broken),
        }
    }
    Ok(None)
}

fn take<'a>(message: &mut &'a [u8], length: usize) -> Result<&'a [u8], Broken> {
    let (taken, rest) = message.split_at_checked(length).ok_or(Broken)?;
    *message = rest;
    Ok(taken)
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

/// The first field with the given number that contains bytes.
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
    fn written_values_are_read_back() {
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
    fn malformed_messages_end_early() {
        for message in [
            &[0x0a, 5, 1][..],
            &[0xff; 20],
            &[0xff; 2],
            &[0x0b],
            &[0x09, 1],
        ] {
            assert_eq!(fields(message).count(), 0);
            assert!(!is_message(message));
        }
        let cut = [8, 1, 0x0a, 5, 1];
        assert_eq!((fields(&cut).count(), is_message(&cut)), (1, false));
        assert!(is_message(&[]) && is_message(&[8, 1]));
    }
}
