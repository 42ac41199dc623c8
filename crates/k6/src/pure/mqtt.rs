//! MQTT 3.1.1 (OASIS standard): the packets that a client sends and receives.

/// The maximum length of a packet to read. A broker must not exhaust memory.
const MAX_PACKET: usize = 16 << 20;

/// A packet that a broker sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    /// 0 means that the connection is accepted.
    ConnAck(u8),
    Publish(Message),
    PubAck(u16),
    PubRec(u16),
    PubRel(u16),
    PubComp(u16),
    /// The granted QoS of each subscription; 128 means that it was refused.
    SubAck(u16, Vec<u8>),
    UnsubAck(u16),
    PingResp,
}

/// An application message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub topic: String,
    pub payload: Vec<u8>,
    pub qos: u8,
    pub retain: bool,
    /// 0 if the QoS is 0.
    pub id: u16,
}

/// The properties with which a client connects.
#[derive(Clone, Debug, Default)]
pub struct Connect {
    pub client_id: String,
    pub username: Option<String>,
    pub password: Option<String>,
    pub will: Option<Message>,
    /// In seconds.
    pub keep_alive: u16,
    pub clean_session: bool,
}

/// Why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Reads packets from a stream that arrives in pieces of any size.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    unread: Vec<u8>,
}

impl Decoder {
    /// Reads bytes, and passes each packet that they complete to `sink`.
    ///
    /// # Errors
    /// The protocol violation. Nothing can be read after it.
    pub fn read(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Packet)) -> Result<(), String> {
        self.unread.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            let rest = self.unread.get(at..).unwrap_or_default();
            if rest.first().is_some_and(|first| !is_known(*first)) {
                return Err("the peer does not respond like an MQTT broker".to_owned());
            }
            let Some((header, length)) = fixed_header(rest)? else {
                break;
            };
            let Some(body) = rest.get(header..header + length) else {
                break;
            };
            let first = rest.first().copied().unwrap_or_default();
            let packet = packet(first, body).ok_or_else(|| {
                format!("the broker sent a malformed packet of type {}", first >> 4)
            })?;
            sink(packet);
            at += header + length;
        }
        self.unread.drain(..at);
        Ok(())
    }
}

/// The length of the fixed header and of the rest (section 2.2). `None` if the header is incomplete.
fn fixed_header(bytes: &[u8]) -> Result<Option<(usize, usize)>, String> {
    let mut length = 0;
    for (at, byte) in bytes.iter().skip(1).take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return match length > MAX_PACKET {
                true => Err(format!(
                    "the broker sent a packet of {length} bytes; at most {MAX_PACKET} are read"
                )),
                false => Ok(Some((at + 2, length))),
            };
        }
    }
    match bytes.len() > 4 {
        true => Err(
            "the broker sent a packet with a malformed length: is it an MQTT broker?".to_owned(),
        ),
        false => Ok(None),
    }
}

/// Whether a broker may send a packet with this first byte.
fn is_known(first: u8) -> bool {
    // Section 2.2.2: only PUBLISH packets have flags.
    matches!(
        (first >> 4, first & 0x0f),
        (2 | 4 | 5 | 7 | 9 | 11 | 13, 0) | (3, _) | (6, 2)
    )
}

fn packet(first: u8, body: &[u8]) -> Option<Packet> {
    let id = || Some(u16::from_be_bytes(body.try_into().ok()?));
    Some(match (first >> 4, first & 0x0f) {
        (2, 0) => match body {
            [_, code] => Packet::ConnAck(*code),
            _ => return None,
        },
        (3, flags) => Packet::Publish(message(flags, body)?),
        (4, 0) => Packet::PubAck(id()?),
        (5, 0) => Packet::PubRec(id()?),
        (6, 2) => Packet::PubRel(id()?),
        (7, 0) => Packet::PubComp(id()?),
        (9, 0) => {
            let (id, codes) = body.split_first_chunk()?;
            Packet::SubAck(u16::from_be_bytes(*id), codes.to_vec())
        }
        (11, 0) => Packet::UnsubAck(id()?),
        (13, 0) if body.is_empty() => Packet::PingResp,
        _ => return None,
    })
}

fn message(flags: u8, body: &[u8]) -> Option<Message> {
    let (length, rest) = body.split_first_chunk()?;
    let (topic, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    let qos = flags >> 1 & 3;
    let (id, payload) = match qos {
        0 => (0, rest),
        1 | 2 => {
            let (id, payload) = rest.split_first_chunk()?;
            (u16::from_be_bytes(*id), payload)
        }
        _ => return None,
    };
    Some(Message {
        topic: std::str::from_utf8(topic).ok()?.to_owned(),
        payload: payload.to_vec(),
        qos,
        retain: flags & 1 != 0,
        id,
    })
}

/// CONNECT.
///
/// # Errors
/// If a string is longer than 65,535 bytes.
pub fn connect(connect: &Connect) -> Result<Vec<u8>, TooLong> {
    let mut flags = u8::from(connect.clean_session) << 1;
    let mut body = Vec::new();
    put(&mut body, b"MQTT")?;
    body.push(4);
    if let Some(will) = &connect.will {
        flags |= 0x04 | will.qos.min(2) << 3 | u8::from(will.retain) << 5;
    }
    flags |= u8::from(connect.username.is_some()) << 7;
    // Section 3.1.2.9: no password without a user name.
    let password = connect
        .password
        .as_ref()
        .filter(|_| connect.username.is_some());
    flags |= u8::from(password.is_some()) << 6;
    body.push(flags);
    body.extend(connect.keep_alive.to_be_bytes());
    put(&mut body, connect.client_id.as_bytes())?;
    if let Some(will) = &connect.will {
        put(&mut body, will.topic.as_bytes())?;
        put(&mut body, &will.payload)?;
    }
    for text in connect.username.iter().chain(password) {
        put(&mut body, text.as_bytes())?;
    }
    framed(0x10, &body)
}

/// PUBLISH.
///
/// # Errors
/// If the topic or the message is too long.
pub fn publish(message: &Message) -> Result<Vec<u8>, TooLong> {
    let qos = message.qos.min(2);
    let mut body = Vec::with_capacity(message.topic.len() + message.payload.len() + 4);
    put(&mut body, message.topic.as_bytes())?;
    if qos > 0 {
        body.extend(message.id.to_be_bytes());
    }
    body.extend_from_slice(&message.payload);
    framed(0x30 | qos << 1 | u8::from(message.retain), &body)
}

/// SUBSCRIBE.
///
/// # Errors
/// If a topic is too long.
pub fn subscribe(id: u16, topics: &[String], qos: u8) -> Result<Vec<u8>, TooLong> {
    let mut body = id.to_be_bytes().to_vec();
    for topic in topics {
        put(&mut body, topic.as_bytes())?;
        body.push(qos.min(2));
    }
    framed(0x82, &body)
}

/// UNSUBSCRIBE.
///
/// # Errors
/// If a topic is too long.
pub fn unsubscribe(id: u16, topics: &[String]) -> Result<Vec<u8>, TooLong> {
    let mut body = id.to_be_bytes().to_vec();
    for topic in topics {
        put(&mut body, topic.as_bytes())?;
    }
    framed(0xa2, &body)
}

/// An acknowledgement: PUBACK (4), PUBREC (5), PUBREL (6) or PUBCOMP (7).
pub fn acknowledge(kind: u8, id: u16) -> Vec<u8> {
    let flags = if kind == 6 { 2 } else { 0 };
    let [high, low] = id.to_be_bytes();
    vec![kind << 4 | flags, 2, high, low]
}

pub const PING: [u8; 2] = [0xc0, 0];
pub const DISCONNECT: [u8; 2] = [0xe0, 0];

fn put(body: &mut Vec<u8>, bytes: &[u8]) -> Result<(), TooLong> {
    let length = u16::try_from(bytes.len()).map_err(|_| TooLong)?;
    body.extend(length.to_be_bytes());
    body.extend_from_slice(bytes);
    Ok(())
}

fn framed(first: u8, body: &[u8]) -> Result<Vec<u8>, TooLong> {
    // Section 2.2.3: at most four bytes with seven bits each.
    if body.len() >= 1 << 28 {
        return Err(TooLong);
    }
    let mut packet = Vec::with_capacity(body.len() + 5);
    packet.push(first);
    let mut length = body.len();
    loop {
        let digit = (length & 0x7f) as u8;
        length >>= 7;
        if length == 0 {
            packet.push(digit);
            break;
        }
        packet.push(digit | 0x80);
    }
    packet.extend_from_slice(body);
    Ok(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<Packet>, String> {
        let (mut decoder, mut found) = (Decoder::default(), Vec::new());
        for piece in pieces {
            decoder.read(piece, &mut |packet| found.push(packet))?;
        }
        Ok(found)
    }

    #[test]
    fn packets_match_the_examples_of_the_standard() {
        let connect = connect(&Connect {
            client_id: "c".to_owned(),
            username: Some("u".to_owned()),
            password: Some("p".to_owned()),
            will: Some(Message {
                topic: "w".to_owned(),
                payload: b"gone".to_vec(),
                qos: 1,
                retain: true,
                id: 0,
            }),
            keep_alive: 60,
            clean_session: true,
        });
        let expected = b"\x10\x1c\0\x04MQTT\x04\xee\0\x3c\0\x01c\0\x01w\0\x04gone\0\x01u\0\x01p";
        assert_eq!(connect.as_deref(), Ok(&expected[..]));
        let topics = ["a/+".to_owned(), "#".to_owned()];
        assert_eq!(
            subscribe(7, &topics, 1).as_deref(),
            Ok(&b"\x82\x0c\0\x07\0\x03a/+\x01\0\x01#\x01"[..])
        );
        assert_eq!(
            unsubscribe(8, &topics[1..]).as_deref(),
            Ok(&b"\xa2\x05\0\x08\0\x01#"[..])
        );
        assert_eq!(acknowledge(6, 258), b"\x62\x02\x01\x02");
        assert_eq!(
            publish(&Message {
                topic: "x".repeat(70_000),
                ..Message::default()
            }),
            Err(TooLong)
        );
    }

    #[test]
    fn messages_survive_a_round_trip() {
        let messages = [0, 1, 2].map(|qos| Message {
            topic: "a/b".to_owned(),
            payload: vec![b'x'; 300],
            qos,
            retain: qos == 1,
            id: if qos == 0 { 0 } else { 9 },
        });
        let wire: Vec<u8> = messages
            .iter()
            .flat_map(|message| publish(message).unwrap())
            .collect();
        let wire = [
            &wire[..],
            b"\x20\x02\0\x05\x90\x04\0\x07\x01\x80\xd0\0\xb0\x02\0\x08\x62\x02\0\x09",
        ]
        .concat();
        let expected: Vec<Packet> = messages
            .into_iter()
            .map(Packet::Publish)
            .chain([
                Packet::ConnAck(5),
                Packet::SubAck(7, vec![1, 128]),
                Packet::PingResp,
                Packet::UnsubAck(8),
                Packet::PubRel(9),
            ])
            .collect();
        for size in [1, 2, 5, 1000] {
            let pieces: Vec<&[u8]> = wire.chunks(size).collect();
            assert_eq!(read(&pieces).as_ref(), Ok(&expected), "{size}");
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        for wrong in [
            &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
            b"\x20\x03\0\0\0",
            b"\x30\xff\xff\xff\xff\x7f",
            b"\x30\xff\xff\xff\x7f",
            b"\x36\x04\0\x01a\0",
            b"\x30\x01\0",
            b"\x60\x02\0\x01",
            b"\x30\x03\0\x01\xff",
        ] {
            assert!(read(&[wrong]).is_err(), "{wrong:?}");
        }
        assert_eq!(read(&[b"\x20", b"\x02"]), Ok(Vec::new()));
    }
}
