use std::time::Duration;

use crate::date::Date;

/// One request of an attack and its outcome, as in vegeta's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// The attack's name; empty for none.
    pub attack: String,
    /// Its number in the attack, from 0.
    pub seq: u64,
    /// The response's status; 0 if there was none.
    pub code: u16,
    /// When it was to start, or started where nothing scheduled it.
    pub date: Date,
    /// From then to the last byte of the response.
    pub latency: Duration,
    /// From the actual send to the last byte. Only our own format has it.
    pub service: Option<Duration>,
    /// Bytes of the request's body.
    pub bytes_out: u64,
    /// Bytes of the response's body, as far as they were kept.
    pub bytes_in: u64,
    /// What went wrong; empty if nothing did.
    pub error: String,
    /// The response's body; none without a response.
    pub body: Option<Vec<u8>>,
    pub method: String,
    pub url: String,
    /// The response's headers; none without a response.
    pub headers: Option<Headers>,
}

/// Fields by name, in the order of their first mention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, Vec<String>)>);

impl Headers {
    /// Adds a field beside those of its name.
    pub fn append(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value.to_owned()),
            None => self.0.push((name.to_owned(), vec![value.to_owned()])),
        }
    }
}

impl Hit {
    /// Whether vegeta's reports count it as a success.
    pub fn succeeded(&self) -> bool {
        (200..400).contains(&self.code)
    }
}

impl Headers {
    /// As headers on the wire of HTTP/1, after an empty status line.
    pub(crate) fn to_head(&self) -> Vec<u8> {
        let mut head = b"\r\n".to_vec();
        for (name, values) in &self.0 {
            for value in values {
                for part in [name, ": ", value, "\r\n"] {
                    head.extend_from_slice(part.as_bytes());
                }
            }
        }
        head
    }
}

/// A field's name as Go writes it: `X-Request-Id`.
pub(crate) fn canonical(name: &str) -> String {
    let mut upper = true;
    name.chars()
        .map(|letter| {
            let cased = if upper {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            };
            upper = letter == '-';
            cased
        })
        .collect()
}
