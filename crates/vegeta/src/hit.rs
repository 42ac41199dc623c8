//! One request of an attack, and its headers.

use std::time::Duration;

use crate::date::Date;

/// One request of an attack and its outcome, as in vegeta's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// The attack's name. Empty if it has none.
    pub attack: String,
    /// Its number in the attack. Counts from 0.
    pub seq: u64,
    /// The response's status. 0 if there was no response.
    pub code: u16,
    /// Its scheduled start, or its actual start if there is no schedule.
    pub date: Date,
    /// The time from `date` to the last byte of the response.
    pub latency: Duration,
    /// The time from the actual start to the last byte of the response. Only our own format contains it.
    pub service: Option<Duration>,
    /// Bytes of the request's body.
    pub bytes_out: u64,
    /// Bytes of the response body that were kept.
    pub bytes_in: u64,
    /// The error. Empty if there was none.
    pub error: String,
    /// The response's body. `None` without a response.
    pub body: Option<Vec<u8>>,
    pub method: String,
    pub url: String,
    /// The response's headers. `None` without a response.
    pub headers: Option<Headers>,
}

/// Values by header name, in the order of first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, Vec<String>)>);

impl Headers {
    /// Adds a value and keeps existing values with the same name.
    pub fn append(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value.to_owned()),
            None => self.0.push((name.to_owned(), vec![value.to_owned()])),
        }
    }
}

impl Hit {
    /// Whether it counts as a success in vegeta's reports.
    pub fn succeeded(&self) -> bool {
        (200..400).contains(&self.code)
    }
}

impl Headers {
    /// Formats the headers as in HTTP/1.1, after an empty status line.
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
