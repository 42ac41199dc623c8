//! Values in PostgreSQL's binary and text formats (PostgreSQL manual, "Frontend/Backend Protocol", and the send
//! functions of its types).

use std::error::Error;
use std::fmt::Write;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{Format, FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::value::{SqlValue, moment};

/// A value for a placeholder. It is sent as text, and the server parses it as the type that it expects there.
#[derive(Debug)]
pub struct Placeholder(pub SqlValue);

impl ToSql for Placeholder {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match &self.0 {
            SqlValue::Null => return Ok(IsNull::Yes),
            SqlValue::Bool(truth) => out.put_slice(if *truth { b"true" } else { b"false" }),
            SqlValue::Integer(number) => out.put_slice(number.to_string().as_bytes()),
            SqlValue::Float(number) => out.put_slice(number.to_string().as_bytes()),
            SqlValue::Text(text) => out.put_slice(text.as_bytes()),
            SqlValue::Bytes(bytes) | SqlValue::Octets(bytes) => {
                out.put_slice(b"\\x");
                for byte in bytes {
                    out.put_slice(format!("{byte:02x}").as_bytes());
                }
            }
            SqlValue::Time(milliseconds) => {
                out.put_slice(moment(*milliseconds, "T").as_bytes());
                out.put_slice(b"Z");
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

pub struct ColumnBytes<'a>(pub &'a [u8]);

impl<'a> FromSql<'a> for ColumnBytes<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(ColumnBytes(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// The milliseconds from 1970 to 2000. PostgreSQL's epoch is 2000.
const EPOCH: f64 = 946_684_800_000.0;
const DAY: f64 = 86_400_000.0;

/// The value of a column.
///
/// # Errors
/// If the type is not supported.
pub fn value(kind: &Type, raw: &[u8]) -> Result<SqlValue, String> {
    if let Kind::Domain(inner) = kind.kind() {
        return value(inner, raw);
    }
    let known = match *kind {
        Type::BOOL => raw.first().map(|byte| SqlValue::Bool(*byte != 0)),
        Type::INT2 => number(raw).map(|bytes| SqlValue::Integer(i16::from_be_bytes(bytes).into())),
        Type::INT4 => number(raw).map(|bytes| SqlValue::Integer(i32::from_be_bytes(bytes).into())),
        Type::INT8 => number(raw).map(|bytes| SqlValue::Integer(i64::from_be_bytes(bytes))),
        Type::OID => number(raw).map(|bytes| SqlValue::Integer(u32::from_be_bytes(bytes).into())),
        Type::FLOAT4 => number(raw).map(|bytes| SqlValue::Float(f32::from_be_bytes(bytes).into())),
        Type::FLOAT8 => number(raw).map(|bytes| SqlValue::Float(f64::from_be_bytes(bytes))),
        Type::NUMERIC => numeric(raw).map(SqlValue::Text),
        Type::BYTEA => Some(SqlValue::Bytes(raw.to_vec())),
        Type::UUID => uuid(raw).map(SqlValue::Text),
        // The first byte is the version of the format.
        Type::JSONB => raw.get(1..).map(text),
        Type::DATE => number(raw).map(|bytes| {
            let days = f64::from(i32::from_be_bytes(bytes));
            SqlValue::Time(EPOCH + days * DAY)
        }),
        Type::TIMESTAMP | Type::TIMESTAMPTZ => number(raw).map(|bytes| {
            let micros = i64::from_be_bytes(bytes);
            SqlValue::Time(EPOCH + micros as f64 / 1e3)
        }),
        Type::TIME => number(raw).map(|bytes| SqlValue::Text(clock(i64::from_be_bytes(bytes)))),
        Type::VOID => Some(SqlValue::Text(String::new())),
        _ if is_text(kind) => Some(text(raw)),
        _ => {
            return Err(format!(
                "the type {kind} is not supported; cast it to text in the query"
            ));
        }
    };
    known.ok_or_else(|| format!("malformed value of the type {kind}"))
}

fn is_text(kind: &Type) -> bool {
    let texts = [
        Type::TEXT,
        Type::VARCHAR,
        Type::BPCHAR,
        Type::NAME,
        Type::CHAR,
        Type::UNKNOWN,
        Type::JSON,
        Type::XML,
    ];
    texts.contains(kind) || matches!(kind.kind(), Kind::Enum(_)) || kind.name() == "citext"
}

fn text(raw: &[u8]) -> SqlValue {
    SqlValue::Text(String::from_utf8_lossy(raw).into_owned())
}

fn number<const N: usize>(raw: &[u8]) -> Option<[u8; N]> {
    raw.try_into().ok()
}

fn uuid(raw: &[u8]) -> Option<String> {
    let raw: [u8; 16] = number(raw)?;
    let mut text = String::new();
    for (at, byte) in raw.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

/// A time of day from a number of microseconds.
fn clock(micros: i64) -> String {
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let whole = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
    match micros {
        0 => whole,
        micros => {
            let text = format!("{whole}.{micros:06}");
            text.trim_end_matches('0').to_owned()
        }
    }
}

/// A number of any length: digits in base 10000, the weight of the first digit, the sign, and the number of decimal
/// places.
fn numeric(raw: &[u8]) -> Option<String> {
    let mut words = raw.chunks_exact(2).map(|pair| {
        let pair: [u8; 2] = pair.try_into().unwrap_or_default();
        u16::from_be_bytes(pair)
    });
    let count = words.next()?;
    let weight = i32::from(words.next()? as i16);
    let sign = match words.next()? {
        0x0000 => "",
        0x4000 => "-",
        0xC000 => return Some("NaN".to_owned()),
        0xD000 => return Some("Infinity".to_owned()),
        0xF000 => return Some("-Infinity".to_owned()),
        _ => return None,
    };
    let places = usize::from(words.next()?);
    let digits: Vec<u16> = words.collect();
    if digits.len() != usize::from(count) || digits.iter().any(|digit| *digit > 9999) {
        return None;
    }
    let at = |place: i32| {
        let index = usize::try_from(weight - place).ok();
        index
            .and_then(|index| digits.get(index))
            .copied()
            .unwrap_or(0)
    };
    let mut text = String::from(sign);
    let mut whole = String::new();
    for place in (0..=weight.max(0)).rev() {
        let _ = write!(whole, "{:04}", at(place));
    }
    let whole = whole.trim_start_matches('0');
    text.push_str(if whole.is_empty() { "0" } else { whole });
    if places > 0 {
        let mut fraction = String::new();
        let mut place = -1;
        while fraction.len() < places {
            let _ = write!(fraction, "{:04}", at(place));
            place -= 1;
        }
        text.push('.');
        text.push_str(fraction.get(..places)?);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// Numbers in the format of PostgreSQL's `numeric_send`.
    #[test]
    fn numbers_of_any_length_become_strings() {
        for (raw, expected) in [
            (vec![0, 0, 0, 0], "0"),
            (vec![2, 0, 0, 2, 12, 3400], "12.34"),
            (vec![1, 1, 0x4000, 0, 5], "-50000"),
            (vec![1, 0xFFFF, 0, 4, 42], "0.0042"),
            (vec![1, 0xFFFE, 0, 6, 4200], "0.000042"),
            (vec![3, 2, 0, 1, 1, 0, 1], "100000001.0"),
            (vec![0, 0, 0xC000, 0], "NaN"),
        ] {
            assert_eq!(numeric(&words(&raw)).as_deref(), Some(expected));
        }
        for malformed in [
            &[1, 0, 0][..],
            &[1, 0, 0, 0],
            &[1, 0, 0, 0, 10_000],
            &[0, 0, 1, 0],
        ] {
            assert_eq!(numeric(&words(malformed)), None, "{malformed:?}");
        }
    }

    #[test]
    fn malformed_and_unknown_values_are_errors() {
        assert!(value(&Type::INT4, &[1]).unwrap_err().contains("int4"));
        assert!(value(&Type::POINT, &[]).unwrap_err().contains("cast"));
        assert_eq!(clock(3_723_500_000), "01:02:03.5");
        let day = value(&Type::DATE, &366_i32.to_be_bytes());
        assert_eq!(day, Ok(SqlValue::Time(978_307_200_000.0)));
    }
}
