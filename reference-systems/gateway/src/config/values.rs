//! The syntax of values in the file: durations, sizes, lists, names.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZero;
use std::time::Duration;

use hyper::http::{HeaderName, HeaderValue, Method};
use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use tokio_rustls::rustls::pki_types::ServerName;

use super::Target;

/// Headers that frame a message or belong to one connection; only the gateway itself sets them (RFC
/// 9110, section 7.6.1; RFC 9112, section 6).
const FRAMING: [&str; 7] = [
    "connection",
    "content-length",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The converted value, or an error that `text` is not what was `expected`.
fn or_not<T>(value: Option<T>, text: &str, expected: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("'{text}' is not {expected}"))
}

/// A string that `read` converts to the `expected` kind of value.
fn text<'de, T, D: Deserializer<'de>>(
    from: D,
    expected: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    or_not(read(&text), &text, expected).map_err(D::Error::custom)
}

/// A list of strings, or a single one, that `read` converts.
fn texts<'de, T, D: Deserializer<'de>>(
    from: D,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, D::Error> {
    let texts: Vec<String> = list(from)?;
    let read = texts.iter().map(|text| read(text));
    read.collect::<Result<_, _>>().map_err(D::Error::custom)
}

/// A length of time from 1 ms to a day.
pub fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let expected = "a duration from 1ms to 24h, such as 500ms, 2s or 1m";
    text(from, expected, read_duration)
}

fn read_duration(text: &str) -> Option<Duration> {
    let (number, unit) = split_unit(text);
    let seconds = match unit {
        "ms" => 0.001,
        unit => seconds_of(unit)? as f64,
    };
    let duration = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
    let limits = Duration::from_millis(1)..=Duration::from_secs(86_400);
    limits.contains(&duration).then_some(duration)
}

fn seconds_of(unit: &str) -> Option<u64> {
    match unit {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    }
}

fn split_unit(text: &str) -> (&str, &str) {
    let unit = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    text.split_at(unit.unwrap_or(text.len()))
}

/// A size in bytes.
pub fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    text(from, "a size, such as 4096, 64KiB or 10MiB", read_bytes)
}

fn read_bytes(text: &str) -> Option<u64> {
    let (number, unit) = split_unit(text);
    let factor: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

pub fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<(NonZero<u32>, Duration), D::Error> {
    text(from, "a rate, such as 100/s, 600/m or 1000/h", |text| {
        let (count, unit) = text.split_once('/')?;
        let time = Duration::from_secs(seconds_of(unit)?);
        Some((count.parse().ok()?, time))
    })
}

pub fn percent<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    text(from, "a share from 0% to 100%", |text| {
        let percent = text.strip_suffix('%')?.parse::<u32>().ok()?;
        (percent <= 100).then_some(percent)
    })
}

/// A path of a URL, without query.
pub fn url_path<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let expected = "a path, which begins with '/' and has no '?', '#' or blank";
    text(from, expected, |text| {
        let fits = |byte| matches!(byte, b'!'..=b'~') && byte != b'?' && byte != b'#';
        (text.starts_with('/') && text.bytes().all(fits)).then(|| text.to_owned())
    })
}

pub fn some_path<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    url_path(from).map(Some)
}

/// The address of a target.
pub fn address<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let expected = "a host and a port, such as 127.0.0.1:9000 or orders.internal:80";
    text(from, expected, |text| {
        let (host, port) = text.rsplit_once(':')?;
        port.parse::<NonZero<u16>>().ok()?;
        (!host.is_empty()).then(|| text.to_owned())
    })
}

pub fn server_name<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<ServerName<'static>>, D::Error> {
    text(from, "a host's name", |text| {
        ServerName::try_from(text.to_owned()).ok().map(Some)
    })
}

pub fn hosts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    texts(from, |text| {
        let rest = text.strip_prefix("*.").unwrap_or(text);
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[:]".contains(&byte);
        let host = !rest.is_empty() && rest.bytes().all(fits);
        let expected = "a host's name, such as api.example or *.example";
        or_not(host.then(|| text.to_ascii_lowercase()), text, expected)
    })
}

pub fn methods<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Method>, D::Error> {
    texts(from, |text| {
        let upper = text.bytes().all(|byte| byte.is_ascii_uppercase());
        let method = Method::from_bytes(text.as_bytes()).ok().filter(|_| upper);
        or_not(method, text, "a method, such as GET")
    })
}

/// The name of a header that may be changed.
pub fn header_name(text: &str) -> Result<HeaderName, String> {
    let name = text.parse::<HeaderName>().ok();
    let name = name.filter(|name| !FRAMING.contains(&name.as_str()));
    or_not(
        name,
        text,
        "a header's name, other than those that frame messages",
    )
}

pub fn header_names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<HeaderName>, D::Error> {
    texts(from, header_name)
}

/// Headers with their values.
pub fn fields<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(HeaderName, HeaderValue)>, D::Error> {
    let read = |(name, text): (String, String)| {
        let value = HeaderValue::from_str(&text).ok();
        Ok((
            header_name(&name)?,
            or_not(value, &text, "a header's value")?,
        ))
    };
    let fields: IndexMap<String, String> = section(from)?;
    let fields = fields.into_iter().map(read);
    fields
        .collect::<Result<_, String>>()
        .map_err(D::Error::custom)
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
            std::iter::from_fn(|| many.next_element().transpose()).collect()
        }
    }

    from.deserialize_any(OneOrMany(PhantomData))
}

/// A mapping with names that the user chooses, in the order of the file.
pub fn section<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<IndexMap<String, T>, D::Error> {
    struct Named<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Named<T> {
        type Value = IndexMap<String, T>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a mapping (name: value)")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            std::iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }

    from.deserialize_map(Named(PhantomData))
}

/// Targets. Each is an address, or a mapping of an address and a weight.
pub fn targets<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Target>, D::Error> {
    struct Either(Target);

    impl<'de> Deserialize<'de> for Either {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Either, D::Error> {
            from.deserialize_any(Either(Target {
                address: String::new(),
                weight: one(),
            }))
        }
    }

    impl<'de> Visitor<'de> for Either {
        type Value = Either;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("HOST:PORT, or {address: HOST:PORT, weight: NUMBER}")
        }

        fn visit_str<E: Error>(mut self, text: &str) -> Result<Either, E> {
            self.0.address = address(text.into_deserializer())?;
            Ok(self)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Either, A::Error> {
            Target::deserialize(MapAccessDeserializer::new(map)).map(Either)
        }
    }

    let targets = list::<Either, D>(from)?.into_iter();
    Ok(targets.map(|Either(target)| target).collect())
}

/// Defaults for keys of sections.
pub fn seconds<const N: u64>() -> Duration {
    Duration::from_secs(N)
}

pub fn number<const N: u16, T: From<u16>>() -> T {
    N.into()
}

pub fn one<T: From<NonZero<u8>>>() -> T {
    NonZero::<u8>::MIN.into()
}

pub fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        assert_eq!(read_duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(read_duration("2m"), Some(Duration::from_secs(120)));
        for wrong in ["2", "0s", "-1s", "1e9h"] {
            assert_eq!(read_duration(wrong), None, "{wrong}");
        }
        assert_eq!(read_bytes("64KiB"), Some(65_536));
        assert_eq!(read_bytes("12"), Some(12));
        for wrong in ["64kb", "1.5KiB", "99999999999GiB"] {
            assert_eq!(read_bytes(wrong), None, "{wrong}");
        }
    }
}
