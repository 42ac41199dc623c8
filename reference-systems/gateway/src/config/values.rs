//! How values are written in the file: durations, sizes, ranges, lists, names.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};

/// A text that `read` converts; it explains what is wrong otherwise.
pub fn text<'de, T, D: Deserializer<'de>>(
    from: D,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    read(&String::deserialize(from)?).map_err(D::Error::custom)
}

/// A list of strings, or a single one, that `read` converts.
pub fn texts<'de, T, D: Deserializer<'de>>(
    from: D,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, D::Error> {
    let texts = list::<String, D>(from)?;
    let read = |text: &String| read(text).map_err(D::Error::custom);
    texts.iter().map(read).collect()
}

/// The converted value, or that `text` is not what is `expected`.
pub fn or_not<T>(value: Option<T>, text: &str, expected: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("'{text}' is not {expected}"))
}

/// A length of time from 1 ms to a day.
pub fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    text(from, |text| {
        let expected = "a duration from 1ms to 24h, such as 500ms, 2s or 1m";
        or_not(read_duration(text), text, expected)
    })
}

/// A size in bytes.
pub fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    text(from, |text| {
        or_not(
            read_bytes(text),
            text,
            "a size, such as 4096, 64KiB or 10MiB",
        )
    })
}

/// A whole number within limits.
pub fn within<'de, const LEAST: u64, const MOST: u64, T: TryFrom<u64>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    text(from, |text| {
        let number = text.parse().ok().filter(|n| (LEAST..=MOST).contains(n));
        let expected = format!("a whole number from {LEAST} to {MOST}");
        or_not(number.and_then(|n| n.try_into().ok()), text, &expected)
    })
}

/// A path of a URL, without query.
pub fn path<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    text(from, |text| {
        let fits = |byte| matches!(byte, b'!'..=b'~') && byte != b'?' && byte != b'#';
        let path = text.starts_with('/') && text.bytes().all(fits);
        let expected = "a path, which begins with '/' and has no '?', '#' or blank";
        or_not(path.then(|| text.to_owned()), text, expected)
    })
}

fn read_duration(text: &str) -> Option<Duration> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let duration = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
    let limits = Duration::from_millis(1)..=Duration::from_secs(86_400);
    limits.contains(&duration).then_some(duration)
}

fn read_bytes(text: &str) -> Option<u64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let factor: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// A list, or a single value as a list of one.
pub fn list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    struct OneOrMany<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
        type Value = Vec<T>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a value, or a list of values")
        }

        fn visit_str<E: Error>(self, one: &str) -> Result<Vec<T>, E> {
            Ok(vec![T::deserialize(one.into_deserializer())?])
        }

        fn visit_map<A: MapAccess<'de>>(self, one: A) -> Result<Vec<T>, A::Error> {
            Ok(vec![T::deserialize(MapAccessDeserializer::new(one))?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut many: A) -> Result<Vec<T>, A::Error> {
            let mut values = Vec::new();
            while let Some(value) = many.next_element()? {
                values.push(value);
            }
            Ok(values)
        }
    }

    from.deserialize_any(OneOrMany(PhantomData))
}

/// A mapping with names that the user chooses, in the order of the file.
pub fn named<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(String, T)>, D::Error> {
    struct Named<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Named<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a mapping (name: value)")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }

    from.deserialize_map(Named(PhantomData))
}

/// Defaults for keys of sections.
pub fn seconds<const N: u64>() -> Duration {
    Duration::from_secs(N)
}

pub fn number<const N: u16, T: From<u16>>() -> T {
    N.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        assert_eq!(read_duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(read_duration("2m"), Some(Duration::from_secs(120)));
        assert_eq!(read_duration("2"), None);
        assert_eq!(read_duration("0s"), None);
        assert_eq!(read_duration("-1s"), None);
        assert_eq!(read_duration("1e9h"), None);
        assert_eq!(read_bytes("64KiB"), Some(65_536));
        assert_eq!(read_bytes("12"), Some(12));
        assert_eq!(read_bytes("64kb"), None);
        assert_eq!(read_bytes("99999999999GiB"), None);
    }
}
