//! The bytes of the control connection.

use std::io::{self, Read, Write};

use serde_json::Value;

/// A state that one side sends to the other: a signed byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    TestStart,
    TestRunning,
    TestEnd,
    ParamExchange,
    CreateStreams,
    ServerTerminate,
    ClientTerminate,
    ExchangeResults,
    DisplayResults,
    IperfDone,
    AccessDenied,
    ServerError,
}

const STATES: [(State, i8); 12] = [
    (State::TestStart, 1),
    (State::TestRunning, 2),
    (State::TestEnd, 4),
    (State::ParamExchange, 9),
    (State::CreateStreams, 10),
    (State::ServerTerminate, 11),
    (State::ClientTerminate, 12),
    (State::ExchangeResults, 13),
    (State::DisplayResults, 14),
    (State::IperfDone, 16),
    (State::AccessDenied, -1),
    (State::ServerError, -2),
];

impl State {
    pub fn of(byte: u8) -> Option<State> {
        STATES
            .iter()
            .find(|(_, number)| number.cast_unsigned() == byte)
            .map(|(state, _)| *state)
    }

    pub fn byte(self) -> u8 {
        STATES
            .iter()
            .find(|(state, _)| *state == self)
            .map_or(0, |(_, number)| number.cast_unsigned())
    }
}

/// Identifies the connections of a test: 36 letters and digits, then a zero byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cookie([u8; Cookie::LENGTH]);

impl Cookie {
    pub const LENGTH: usize = 37;

    /// A random cookie that is unique in practice.
    pub fn random() -> Self {
        const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        use std::hash::{BuildHasher, Hasher};
        // The standard library's hash keys are random.
        let state = std::hash::RandomState::new();
        let mut cookie = [0; Cookie::LENGTH];
        for (index, letter) in cookie[..Cookie::LENGTH - 1].iter_mut().enumerate() {
            let mut hasher = state.build_hasher();
            hasher.write_usize(index);
            *letter = LETTERS[(hasher.finish() % 32) as usize];
        }
        Cookie(cookie)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads a cookie.
    ///
    /// # Errors
    /// If reading fails.
    pub fn read(mut from: impl Read) -> io::Result<Self> {
        let mut cookie = [0; Cookie::LENGTH];
        from.read_exact(&mut cookie)?;
        Ok(Cookie(cookie))
    }

    /// The cookie without the zero byte. Unprintable characters are replaced.
    pub fn text(&self) -> String {
        let shown = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        shown
            .iter()
            .map(|byte| {
                if byte.is_ascii_graphic() {
                    char::from(*byte)
                } else {
                    '?'
                }
            })
            .collect()
    }
}

impl std::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

/// Longest JSON accepted from a peer. The results of 128 streams are 30 kB, but a server's complete
/// output may be longer.
pub const MAX_JSON: usize = 4 << 20;

/// Reads a length and that much JSON. Memory grows with the received data, not with the announced
/// length.
///
/// # Errors
/// If reading fails, or `InvalidData` with a sentence that describes the fault.
pub fn read_json(mut from: impl Read) -> io::Result<Value> {
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_JSON {
        return Err(invalid(format!(
            "the peer announced {length} bytes of JSON, more than the limit of {MAX_JSON}: it does not use iperf3's protocol"
        )));
    }
    let mut text = Vec::new();
    from.take(length as u64).read_to_end(&mut text)?;
    if text.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&text)
        .map_err(|error| invalid(format!("the peer did not send JSON: {error}")))
}

/// Writes a length and the JSON in one write.
///
/// # Errors
/// If writing fails.
pub fn write_json(mut to: impl Write, value: &Value) -> io::Result<()> {
    let text = value.to_string();
    let length = u32::try_from(text.len()).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, "the JSON is larger than 4 GiB")
    })?;
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    to.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_a_round_trip() {
        for (state, _) in STATES {
            assert_eq!(State::of(state.byte()), Some(state));
        }
        assert_eq!(State::of(255), Some(State::AccessDenied));
        assert_eq!(State::of(99), None);
    }

    #[test]
    fn a_cookie_has_36_random_letters_and_a_zero() {
        let cookie = Cookie::random();
        assert_eq!(cookie.text().len(), 36);
        assert_eq!(cookie.bytes()[36], 0);
        assert_ne!(cookie, Cookie::random());
        assert_eq!(Cookie::read(cookie.bytes()).expect("37 bytes"), cookie);
        assert!(Cookie::read(&b"short"[..]).is_err());
    }

    #[test]
    fn json_is_preceded_by_its_length_and_limited() {
        let value = serde_json::json!({ "tcp": true });
        let mut bytes = Vec::new();
        write_json(&mut bytes, &value).expect("memory");
        assert_eq!(bytes[..4], [0, 0, 0, 12]);
        assert_eq!(read_json(&bytes[..]).expect("JSON"), value);
        assert!(read_json(&bytes[..9]).is_err());
        let huge = read_json(&b"HTTP/1.1 400 Bad Request\r\n"[..]).expect_err("too long");
        assert!(
            huge.to_string().contains("does not use iperf3's protocol"),
            "{huge}"
        );
        let garbage = read_json(&b"\0\0\0\x03{]}"[..]).expect_err("not JSON");
        assert!(garbage.to_string().contains("not send JSON"), "{garbage}");
    }
}
