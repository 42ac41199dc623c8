//! DNS messages (RFC 1035, section 4): the query for a name's addresses, and the response. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address family of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

/// The response of a name server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The response did not fit into a datagram: repeat the query over TCP.
    pub truncated: bool,
    /// 0 for success, 3 for a name that does not exist (section 4.1.1).
    pub code: u8,
    /// Addresses of the requested family, in the order of the message.
    pub addresses: Vec<IpAddr>,
}

/// Why a message is not a usable response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The message responds to another query. It is ignored, even if it came from the queried server.
    NotOurs,
    /// The message ends too early or contains a wrong length.
    Broken,
}

/// "Name does not exist": a value of the response's four-bit code.
pub const NO_SUCH_NAME: u8 = 3;

/// Sizes of the fixed parts, in bytes.
const HEADER: usize = 12;
/// Type, class, time to live, and data length of a record.
const RECORD: usize = 10;
/// The class of the Internet.
const INTERNET: u16 = 1;

impl Family {
    /// The type of a record with an address: A (RFC 1035), AAAA (RFC 3596).
    fn record_type(self) -> u16 {
        match self {
            Family::V4 => 1,
            Family::V6 => 28,
        }
    }
}

/// Builds a query for the addresses of `host`, with recursion desired. `None` if `host` cannot be a
/// DNS name: labels have 1 to 63 bytes, and a name has at most 255 (section 2.3.4).
pub fn question(id: u16, host: &str, family: Family) -> Option<Vec<u8>> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let mut message = Vec::with_capacity(HEADER + host.len() + 6);
    message.extend(id.to_be_bytes());
    message.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in host.split('.') {
        let length = u8::try_from(label.len()).ok()?;
        if !(1..=63).contains(&length) {
            return None;
        }
        message.push(length);
        message.extend(label.as_bytes());
    }
    message.push(0);
    if message.len() - HEADER > 255 {
        return None;
    }
    message.extend(family.record_type().to_be_bytes());
    message.extend(INTERNET.to_be_bytes());
    Some(message)
}

/// Parses `message` as the response to `question`, which [`question`] built for `family`.
///
/// # Errors
/// If it is not a response to this query, or is malformed.
pub fn reply(question: &[u8], family: Family, message: &[u8]) -> Result<Reply, Unreadable> {
    use Unreadable::{Broken, NotOurs};
    let header = message.get(..HEADER).ok_or(NotOurs)?;
    let &[
        id_high,
        id_low,
        flags,
        more_flags,
        _,
        questions,
        answers_high,
        answers_low,
        ..,
    ] = header
    else {
        return Err(NotOurs);
    };
    let is_answer = flags & 0x80 != 0;
    if question.get(..2) != Some(&[id_high, id_low]) || !is_answer {
        return Err(NotOurs);
    }
    let code = more_flags & 0x0f;
    let truncated = flags & 0x02 != 0;
    let mut at = HEADER;
    if questions == 1 {
        // RFC 5452, section 9.1: a response must repeat the query, but may change the case of letters.
        let query = question.get(HEADER..).unwrap_or_default();
        let repeated = message.get(HEADER..question.len()).ok_or(Broken)?;
        if !query.eq_ignore_ascii_case(repeated) {
            return Err(NotOurs);
        }
        at = question.len();
    } else if code == 0 {
        return Err(NotOurs);
    }
    let mut addresses = Vec::new();
    if code == 0 && !truncated {
        for _ in 0..u16::from_be_bytes([answers_high, answers_low]) {
            let (address, next) = record(message, at, family).ok_or(Broken)?;
            addresses.extend(address);
            at = next;
        }
    }
    Ok(Reply {
        truncated,
        code,
        addresses,
    })
}

/// The address in the record at `at`, if it is of that family, and the position of the next record.
/// `None` if the message ends too early. CNAME records are skipped, because a recursive server
/// follows them itself.
fn record(message: &[u8], at: usize, family: Family) -> Option<(Option<IpAddr>, usize)> {
    let at = after_name(message, at)?;
    let fixed = message.get(at..at.checked_add(RECORD)?)?;
    let &[
        type_high,
        type_low,
        class_high,
        class_low,
        _,
        _,
        _,
        _,
        length_high,
        length_low,
    ] = fixed
    else {
        return None;
    };
    let length = usize::from(u16::from_be_bytes([length_high, length_low]));
    let begin = at + RECORD;
    let end = begin.checked_add(length)?;
    let data = message.get(begin..end)?;
    let is_asked = u16::from_be_bytes([type_high, type_low]) == family.record_type()
        && u16::from_be_bytes([class_high, class_low]) == INTERNET;
    let address = match (is_asked, family) {
        (false, _) => None,
        (true, Family::V4) => Some(Ipv4Addr::from(<[u8; 4]>::try_from(data).ok()?).into()),
        (true, Family::V6) => Some(Ipv6Addr::from(<[u8; 16]>::try_from(data).ok()?).into()),
    };
    Some((address, end))
}

/// The position after the name that begins at `at`. A name ends with an empty label, or with a
/// pointer, which is not followed (section 4.1.4).
fn after_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return at.checked_add(1),
            length @ 1..=63 => at = at.checked_add(1 + usize::from(length))?,
            0xc0.. => return at.checked_add(2),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A response to `question` with these flags and records, each preceded by a pointer to the
    /// name in the query.
    fn answer(question: &[u8], flags: [u8; 2], records: &[(u16, &[u8])]) -> Vec<u8> {
        let mut message = question.to_vec();
        message[2..4].copy_from_slice(&flags);
        message[7] = records.len() as u8;
        for (kind, data) in records {
            message.extend([0xc0, 12]);
            message.extend(kind.to_be_bytes());
            message.extend([0, 1, 0, 0, 0, 9]);
            message.extend((data.len() as u16).to_be_bytes());
            message.extend(*data);
        }
        message
    }

    #[test]
    fn a_query_has_the_standard_format() {
        let query = question(0x1234, "a.test.", Family::V6).unwrap();
        assert_eq!(
            query,
            b"\x12\x34\x01\x00\x00\x01\0\0\0\0\0\0\x01a\x04test\x00\x00\x1c\x00\x01"
        );
        for host in ["", "a..b", &"x".repeat(64), &"x.".repeat(128)] {
            assert_eq!(question(1, host, Family::V4), None, "{host}");
        }
    }

    #[test]
    fn addresses_of_the_family_are_returned_and_aliases_skipped() {
        let query = question(7, "a.test", Family::V4).unwrap();
        let records: [(u16, &[u8]); 4] = [
            (5, b"\x01b\xc0\x0e"),
            (1, &[127, 0, 0, 3]),
            (28, &[0; 16]),
            (1, &[127, 0, 0, 2]),
        ];
        let mut message = answer(&query, [0x81, 0x80], &records);
        // Some servers respond with the upper and lower case of their zone files.
        message[13] = b'A';
        let read = reply(&query, Family::V4, &message).unwrap();
        let addresses: Vec<_> = read.addresses.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, ["127.0.0.3", "127.0.0.2"]);
        assert_eq!((read.code, read.truncated), (0, false));
        let read = reply(&query, Family::V4, &answer(&query, [0x81, 0x83], &[])).unwrap();
        assert_eq!(read.code, NO_SUCH_NAME);
        let read = reply(&query, Family::V4, &answer(&query, [0x83, 0x80], &records)).unwrap();
        assert!(read.truncated);
    }

    #[test]
    fn responses_to_other_queries_and_malformed_ones_are_distinguished() {
        let query = question(7, "a.test", Family::V4).unwrap();
        let complete = answer(&query, [0x81, 0x80], &[(1, &[127, 0, 0, 3])]);
        let other = |change: fn(&mut Vec<u8>)| {
            let mut message = complete.clone();
            change(&mut message);
            reply(&query, Family::V4, &message).unwrap_err()
        };
        assert_eq!(other(|m| m[0] = 9), Unreadable::NotOurs);
        assert_eq!(other(|m| m[2] = 1), Unreadable::NotOurs);
        assert_eq!(other(|m| m[13] = b'z'), Unreadable::NotOurs);
        assert_eq!(other(|m| m.truncate(5)), Unreadable::NotOurs);
        assert_eq!(other(|m| m[7] = 2), Unreadable::Broken);
        assert_eq!(other(|m| m.truncate(m.len() - 1)), Unreadable::Broken);
        // An address of three bytes.
        let short = answer(&query, [0x81, 0x80], &[(1, &[127, 0, 0])]);
        assert_eq!(reply(&query, Family::V4, &short), Err(Unreadable::Broken));
    }
}
