//! Values in MySQL's text and binary formats.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::packets::{Column, Reader};
use crate::value::{SqlValue, moment};

/// The column types with their own formats (MySQL's `enum_field_types`). All others are strings.
mod kind {
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONG_LONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATE_TIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const VAR_STRING: u8 = 0xFD;
    pub const BLOB: u8 = 0xFC;
}

/// A row of text values. `None` if it is malformed.
pub fn text_row(columns: &[Column], packet: &[u8], parses_time: bool) -> Option<Vec<SqlValue>> {
    const NULL: u8 = 0xFB;
    let mut reader = Reader(packet);
    let values = columns.iter().map(|column| {
        if reader.0.first() == Some(&NULL) {
            reader.u8()?;
            return Some(SqlValue::Null);
        }
        text_value(column, reader.text()?, parses_time)
    });
    values.collect()
}

fn text_value(column: &Column, raw: &[u8], parses_time: bool) -> Option<SqlValue> {
    let text = || std::str::from_utf8(raw).ok();
    match column.kind {
        kind::TINY | kind::SHORT | kind::LONG | kind::LONG_LONG | kind::INT24 | kind::YEAR => {
            let text = text()?;
            match text.parse() {
                Ok(number) => Some(SqlValue::Integer(number)),
                // Only unsigned integers are larger.
                Err(_) => text.parse().ok().map(SqlValue::Float),
            }
        }
        kind::FLOAT | kind::DOUBLE => text()?.parse().ok().map(SqlValue::Float),
        kind::DATE | kind::DATE_TIME | kind::TIMESTAMP if parses_time => time_of(text()?),
        _ => Some(SqlValue::Octets(raw.to_vec())),
    }
}

/// A date, with or without a time, as milliseconds since 1970 in UTC. Dates that do not exist, such as `0000-00-00`,
/// become null.
fn time_of(text: &str) -> Option<SqlValue> {
    let parsed: Result<DateTime, _> = text.parse();
    Some(match parsed.ok().and_then(milliseconds) {
        Some(milliseconds) => SqlValue::Time(milliseconds),
        None => SqlValue::Null,
    })
}

fn milliseconds(time: DateTime) -> Option<f64> {
    let zoned = time.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_microsecond() as f64 / 1e3)
}

/// A row of binary values. `None` if it is malformed.
pub fn binary_row(columns: &[Column], packet: &[u8], parses_time: bool) -> Option<Vec<SqlValue>> {
    /// The null bitmap starts with two unused bits.
    const UNUSED: usize = 2;
    let mut reader = Reader(packet.get(1..)?);
    let nulls = reader.bytes((columns.len() + UNUSED).div_ceil(8))?;
    let is_null = |at: usize| {
        let bit = at + UNUSED;
        nulls
            .get(bit / 8)
            .is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    };
    let values = columns.iter().enumerate().map(|(at, column)| {
        match is_null(at) || column.kind == kind::NULL {
            true => Some(SqlValue::Null),
            false => binary_value(column, &mut reader, parses_time),
        }
    });
    values.collect()
}

fn binary_value(column: &Column, reader: &mut Reader<'_>, parses_time: bool) -> Option<SqlValue> {
    let is_unsigned = column.is_unsigned;
    let integer = match column.kind {
        kind::TINY if is_unsigned => reader.u8()?.into(),
        kind::TINY => i8::from_le_bytes(reader.number()?).into(),
        kind::SHORT | kind::YEAR if is_unsigned => reader.u16()?.into(),
        kind::SHORT | kind::YEAR => i16::from_le_bytes(reader.number()?).into(),
        kind::LONG | kind::INT24 if is_unsigned => reader.u32()?.into(),
        kind::LONG | kind::INT24 => i32::from_le_bytes(reader.number()?).into(),
        kind::LONG_LONG => {
            let bytes = reader.number()?;
            match is_unsigned && i64::from_le_bytes(bytes) < 0 {
                true => return Some(SqlValue::Float(u64::from_le_bytes(bytes) as f64)),
                false => i64::from_le_bytes(bytes),
            }
        }
        kind::FLOAT => {
            let number = f32::from_le_bytes(reader.number()?);
            return Some(SqlValue::Float(number.into()));
        }
        kind::DOUBLE => return Some(SqlValue::Float(f64::from_le_bytes(reader.number()?))),
        kind::DATE | kind::DATE_TIME | kind::TIMESTAMP => {
            let text = date(column, reader)?;
            return match parses_time {
                true => time_of(&text),
                false => Some(SqlValue::Octets(text.into_bytes())),
            };
        }
        kind::TIME => return span(column, reader).map(|text| SqlValue::Octets(text.into_bytes())),
        _ => return Some(SqlValue::Octets(reader.text()?.to_vec())),
    };
    Some(SqlValue::Integer(integer))
}

/// A date, with or without a time, in the text format.
fn date(column: &Column, reader: &mut Reader<'_>) -> Option<String> {
    let mut parts = Reader(reader.text()?);
    let (mut year, mut month, mut day) = (0, 0, 0);
    if !parts.0.is_empty() {
        (year, month, day) = (parts.u16()?, parts.u8()?, parts.u8()?);
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if column.kind == kind::DATE {
        return Some(date);
    }
    Some(format!("{date} {}", clock(column, 0, &mut parts)?))
}

/// A duration of at most 839 hours.
fn span(column: &Column, reader: &mut Reader<'_>) -> Option<String> {
    let mut parts = Reader(reader.text()?);
    let (mut sign, mut days) = ("", 0);
    if !parts.0.is_empty() {
        sign = if parts.u8()? == 0 { "" } else { "-" };
        days = parts.u32()?;
    }
    Some(format!("{sign}{}", clock(column, days, &mut parts)?))
}

/// Hours, minutes, seconds and microseconds. Trailing parts that are zero are left out.
fn clock(column: &Column, days: u32, parts: &mut Reader<'_>) -> Option<String> {
    let (mut hours, mut minutes, mut seconds, mut micros) = (0, 0, 0, 0);
    if !parts.0.is_empty() {
        (hours, minutes, seconds) = (parts.u8()?, parts.u8()?, parts.u8()?);
    }
    if !parts.0.is_empty() {
        micros = parts.u32()?;
    }
    let hours = u64::from(days) * 24 + u64::from(hours);
    let mut text = format!("{hours:02}:{minutes:02}:{seconds:02}");
    let decimals = usize::from(column.decimals).min(6);
    if decimals > 0 {
        let digits = format!("{micros:06}");
        text.push('.');
        text.push_str(digits.get(..decimals)?);
    }
    Some(text)
}

/// The request that executes a prepared statement with these values, without its first byte.
pub fn execution(statement: u32, values: &[SqlValue]) -> Vec<u8> {
    const UNSIGNED_NO: u8 = 0;
    let mut request = statement.to_le_bytes().to_vec();
    // No cursor, one iteration.
    request.extend([0, 1, 0, 0, 0]);
    let mut nulls = vec![0_u8; values.len().div_ceil(8)];
    for (at, value) in values.iter().enumerate() {
        if matches!(value, SqlValue::Null)
            && let Some(byte) = nulls.get_mut(at / 8)
        {
            *byte |= 1 << (at % 8);
        }
    }
    request.extend(nulls);
    // The types follow.
    request.push(1);
    for value in values {
        let kind = match value {
            SqlValue::Null => kind::NULL,
            SqlValue::Bool(_) => kind::TINY,
            SqlValue::Integer(_) => kind::LONG_LONG,
            SqlValue::Float(_) => kind::DOUBLE,
            SqlValue::Text(_) | SqlValue::Time(_) => kind::VAR_STRING,
            SqlValue::Bytes(_) | SqlValue::Octets(_) => kind::BLOB,
        };
        request.extend([kind, UNSIGNED_NO]);
    }
    for value in values {
        match value {
            SqlValue::Null => {}
            SqlValue::Bool(truth) => request.push(u8::from(*truth)),
            SqlValue::Integer(number) => request.extend(number.to_le_bytes()),
            SqlValue::Float(number) => request.extend(number.to_le_bytes()),
            SqlValue::Text(text) => put_text(&mut request, text.as_bytes()),
            SqlValue::Bytes(bytes) | SqlValue::Octets(bytes) => put_text(&mut request, bytes),
            SqlValue::Time(milliseconds) => {
                put_text(&mut request, moment(*milliseconds, " ").as_bytes());
            }
        }
    }
    request
}

/// Bytes with their length before them.
pub fn put_text(request: &mut Vec<u8>, bytes: &[u8]) {
    let length = bytes.len() as u64;
    match length {
        0..=0xFA => request.push(length as u8),
        0xFB..=0xFFFF => {
            request.push(0xFC);
            request.extend((length as u16).to_le_bytes());
        }
        _ => {
            request.push(0xFE);
            request.extend(length.to_le_bytes());
        }
    }
    request.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: u8, is_unsigned: bool, decimals: u8) -> Column {
        Column {
            name: String::new(),
            kind,
            is_unsigned,
            decimals,
        }
    }

    fn octets(text: &str) -> SqlValue {
        SqlValue::Octets(text.as_bytes().to_vec())
    }

    #[test]
    fn text_values_are_read() {
        let columns = [
            column(kind::LONG, false, 0),
            column(kind::LONG_LONG, true, 0),
            column(kind::DOUBLE, false, 31),
            column(kind::VAR_STRING, false, 0),
            column(kind::DATE, false, 0),
            column(kind::LONG, false, 0),
        ];
        let row = b"\x03-12\x1418446744073709551615\x041.25\x02ab\x0a2000-02-29\xfb";
        let read = text_row(&columns, row, false);
        let expected = [
            SqlValue::Integer(-12),
            SqlValue::Float(18_446_744_073_709_551_615.0),
            SqlValue::Float(1.25),
            octets("ab"),
            octets("2000-02-29"),
            SqlValue::Null,
        ];
        assert_eq!(read.as_deref(), Some(&expected[..]));
        let dated = text_row(&columns, row, true).unwrap();
        assert_eq!(dated.get(4), Some(&SqlValue::Time(951_782_400_000.0)));
        assert_eq!(text_row(&columns, b"\x03-12", false), None);
        assert_eq!(text_row(&columns, b"\x01x", false), None);
        assert_eq!(time_of("0000-00-00 00:00:00"), Some(SqlValue::Null));
        assert_eq!(
            time_of("2023-11-14 22:13:20.123"),
            Some(SqlValue::Time(1_700_000_000_123.0))
        );
    }

    #[test]
    fn binary_values_are_read() {
        let columns = [
            column(kind::TINY, false, 0),
            column(kind::SHORT, true, 0),
            column(kind::LONG_LONG, true, 0),
            column(kind::FLOAT, false, 0),
            column(kind::DATE_TIME, false, 3),
            column(kind::TIME, false, 0),
            column(kind::VAR_STRING, false, 0),
            column(kind::DATE, false, 0),
        ];
        let mut row = vec![0, 0, 0b10, 0xFF, 0xFE, 0xFF];
        row.extend(u64::MAX.to_le_bytes());
        row.extend(0.5_f32.to_le_bytes());
        row.extend([11, 0xE7, 7, 11, 14, 22, 13, 20, 0x78, 0xE0, 1, 0]);
        row.extend([8, 1, 1, 0, 0, 0, 2, 3, 4, 2, b'a', b'b']);
        // The second to last column is at bit 8 and not null. The last column is at bit 9.
        let read = binary_row(&columns, &row, false);
        let expected = [
            SqlValue::Integer(-1),
            SqlValue::Integer(0xFFFE),
            SqlValue::Float(18_446_744_073_709_551_615.0),
            SqlValue::Float(0.5),
            octets("2023-11-14 22:13:20.123"),
            octets("-26:03:04"),
            octets("ab"),
            SqlValue::Null,
        ];
        assert_eq!(read.as_deref(), Some(&expected[..]));
        for end in 0..row.len() {
            assert_eq!(binary_row(&columns, &row[..end], false), None, "{end}");
        }
    }

    #[test]
    fn values_are_written() {
        let values = [
            SqlValue::Null,
            SqlValue::Bool(true),
            SqlValue::Integer(-1),
            SqlValue::Text("ä".to_owned()),
            SqlValue::Time(1_700_000_000_123.0),
        ];
        let written = execution(7, &values);
        let mut expected = vec![7, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1];
        expected.extend([6, 0, 1, 0, 8, 0, 0xFD, 0, 0xFD, 0, 1]);
        expected.extend((-1_i64).to_le_bytes());
        expected.extend([2, 0xC3, 0xA4, 23]);
        expected.extend(b"2023-11-14 22:13:20.123");
        assert_eq!(written, expected);
        let mut long = Vec::new();
        put_text(&mut long, &[7; 70_000]);
        assert_eq!(
            long.get(..9),
            Some(&[0xFE, 0x70, 0x11, 1, 0, 0, 0, 0, 0][..])
        );
        assert_eq!(Reader(&long).text().map(<[u8]>::len), Some(70_000));
    }
}
