//! Data that differs between calls: text with `{{…}}` placeholders, as in ghz.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    RequestNumber,
    WorkerId,
    Uuid,
    Timestamp,
    TimestampUnix,
    TimestampUnixMilli,
    TimestampUnixNano,
    Method(String),
    RandomInt { low: i64, high: i64 },
    RandomString { least: u32, most: u32 },
}

/// The placeholder values for one call.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The number of the call in the run. Counts from 0.
    pub number: u64,
    /// The number of the user. Counts from 1.
    pub user: u64,
    pub random: &'a mut Random,
}

/// Maximum length of a random string.
const MAX_RANDOM_LENGTH: u32 = 1 << 20;

const NAMES: [&str; 15] = [
    ".RequestNumber",
    ".WorkerID",
    ".UUID",
    ".Timestamp",
    ".TimestampUnix",
    ".TimestampUnixMilli",
    ".TimestampUnixNano",
    ".FullyQualifiedName",
    ".ServiceName",
    ".MethodName",
    ".PackageName",
    "newUUID",
    "randomInt",
    "randomString",
    "randomUUID",
];

impl Generated {
    /// Parses text with `{{…}}`. `path` is the path of the method, `/package.Service/Method`.
    ///
    /// # Errors
    /// If a placeholder is unknown.
    pub fn parse(text: &str, path: &str) -> Result<Generated, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let (inner, behind) = after
                .split_once("}}")
                .ok_or_else(|| "{{ without }} after it".to_owned())?;
            pieces.push(piece(inner.trim(), path)?);
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Generated { pieces })
    }

    /// Whether every call gets the same text.
    pub fn is_constant(&self) -> bool {
        let constant = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Method(_));
        self.pieces.iter().all(constant)
    }

    /// Writes the text for one call.
    pub fn write(&self, into: &mut String, facts: &mut Facts<'_>) {
        for piece in &self.pieces {
            // Writing to a string cannot fail.
            let _ = match piece {
                Piece::Text(text) | Piece::Method(text) => into.write_str(text),
                Piece::RequestNumber => write!(into, "{}", facts.number),
                Piece::WorkerId => write!(into, "g{}", facts.user),
                Piece::Uuid => facts.random.uuid(into),
                Piece::Timestamp => {
                    let now = since_epoch().as_secs();
                    write_time(into, now)
                }
                Piece::TimestampUnix => write!(into, "{}", since_epoch().as_secs()),
                Piece::TimestampUnixMilli => write!(into, "{}", since_epoch().as_millis()),
                Piece::TimestampUnixNano => write!(into, "{}", since_epoch().as_nanos()),
                Piece::RandomInt { low, high } => {
                    let span = low.abs_diff(*high).max(1);
                    let value = low.wrapping_add_unsigned(facts.random.below(span));
                    write!(into, "{value}")
                }
                Piece::RandomString { least, most } => {
                    let span = u64::from(most - least) + 1;
                    let length = u64::from(*least) + facts.random.below(span);
                    for _ in 0..length {
                        into.push(facts.random.letter());
                    }
                    Ok(())
                }
            };
        }
    }
}

fn piece(inner: &str, path: &str) -> Result<Piece, String> {
    let mut words = inner.split_whitespace();
    let name = words.next().unwrap_or_default();
    let arguments: Vec<&str> = words.collect();
    let bare = path.trim_start_matches('/');
    let (service, method) = bare.split_once('/').unwrap_or((bare, ""));
    let piece = match name {
        ".RequestNumber" => Piece::RequestNumber,
        ".WorkerID" => Piece::WorkerId,
        ".UUID" | "newUUID" | "randomUUID" => Piece::Uuid,
        ".Timestamp" => Piece::Timestamp,
        ".TimestampUnix" => Piece::TimestampUnix,
        ".TimestampUnixMilli" => Piece::TimestampUnixMilli,
        ".TimestampUnixNano" => Piece::TimestampUnixNano,
        ".FullyQualifiedName" => Piece::Method(format!("{service}.{method}")),
        ".ServiceName" => {
            let name = service.rsplit_once('.').map_or(service, |(_, name)| name);
            Piece::Method(name.to_owned())
        }
        ".MethodName" => Piece::Method(method.to_owned()),
        ".PackageName" => {
            let package = service.rsplit_once('.').map_or("", |(package, _)| package);
            Piece::Method(package.to_owned())
        }
        "randomInt" => {
            let number = |text: &str| {
                text.parse::<i64>()
                    .map_err(|_| format!("{{{{{inner}}}}}: {text:?} is not a whole number"))
            };
            let (low, high) = match arguments[..] {
                [low, high] => (number(low)?, number(high)?),
                _ => {
                    return Err(format!(
                        "{{{{{inner}}}}}: randomInt needs two numbers, like {{{{randomInt 1 100}}}}"
                    ));
                }
            };
            if low >= high {
                return Err(format!(
                    "{{{{{inner}}}}}: the first number must be below the second"
                ));
            }
            return Ok(Piece::RandomInt { low, high });
        }
        "randomString" => {
            let number = |text: &str| match text.parse::<u32>() {
                Ok(length) if length <= MAX_RANDOM_LENGTH => Ok(length),
                _ => Err(format!(
                    "{{{{{inner}}}}}: {text:?} is not a length from 0 to {MAX_RANDOM_LENGTH}"
                )),
            };
            let (least, most) = match arguments[..] {
                [length] => (number(length)?, number(length)?),
                [least, most] => (number(least)?, number(most)?),
                _ => {
                    return Err(format!(
                        "{{{{{inner}}}}}: randomString needs a length, like {{{{randomString 16}}}}"
                    ));
                }
            };
            if least > most {
                return Err(format!(
                    "{{{{{inner}}}}}: the first length is above the second"
                ));
            }
            return Ok(Piece::RandomString { least, most });
        }
        other => {
            let near = plimsoll_units::nearest(other, NAMES)
                .map_or_else(|| ".".to_owned(), |near| format!("; did you mean {near}?"));
            return Err(format!(
                "{{{{{inner}}}}} is not a known placeholder{near} Use one of: {}",
                NAMES.join(", ")
            ));
        }
    };
    if arguments.is_empty() {
        Ok(piece)
    } else {
        Err(format!("{{{{{inner}}}}}: {name} takes no arguments"))
    }
}

fn since_epoch() -> std::time::Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// RFC 3339, with a precision of one second.
fn write_time(into: &mut String, seconds: u64) -> std::fmt::Result {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    write!(into, "{}Z", plimsoll_units::date_time(seconds))
}

/// A small random number generator for test data, not for secrets: xorshift64*.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        // A seed of zero would stay zero. The multiplication spreads neighboring seeds.
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product is almost evenly distributed (Lemire 2019).
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    fn letter(&mut self) -> char {
        const LETTERS: &[u8; 62] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        char::from(LETTERS[self.below(62) as usize])
    }

    /// Version 4 (RFC 9562, section 5.4).
    fn uuid(&mut self, into: &mut String) -> std::fmt::Result {
        let high = self.next() & 0xffff_ffff_ffff_0fff | 0x4000;
        let low = self.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
        write!(
            into,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str, number: u64) -> String {
        let mut random = Random::new(7);
        let mut facts = Facts {
            number,
            user: 3,
            random: &mut random,
        };
        let mut text = String::new();
        Generated::parse(source, "/a.b.Svc/Do")
            .unwrap()
            .write(&mut text, &mut facts);
        text
    }

    #[test]
    fn places_are_filled() {
        assert_eq!(
            text("{\"n\":{{.RequestNumber}},\"w\":\"{{ .WorkerID }}\"}", 41),
            "{\"n\":41,\"w\":\"g3\"}"
        );
        assert_eq!(
            text(
                "{{.FullyQualifiedName}} {{.PackageName}} {{.ServiceName}} {{.MethodName}}",
                0
            ),
            "a.b.Svc.Do a.b Svc Do"
        );
        let uuid = text("{{newUUID}}", 0);
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"), "{uuid}");
        for _ in 0..100 {
            let drawn: i64 = text("{{randomInt -5 5}}", 0).parse().unwrap();
            assert!((-5..5).contains(&drawn));
        }
        assert_eq!(text("{{randomString 12}}", 0).len(), 12);
        assert_eq!(text("{{.Timestamp}}", 0).len(), 20);
    }

    #[test]
    fn invalid_placeholders_are_reported_with_valid_ones() {
        let error_of = |source: &str| Generated::parse(source, "/a.S/M").unwrap_err();
        assert!(error_of("{{.RequestNumbr}}").contains("did you mean .RequestNumber"));
        assert!(error_of("{{.UUID").contains("}}"));
        assert!(error_of("{{randomInt 5 1}}").contains("below"));
        assert!(error_of("{{randomInt 5}}").contains("two numbers"));
        assert!(error_of("{{randomString 99999999999}}").contains("length"));
        assert!(error_of("{{.UUID 3}}").contains("no arguments"));
    }

    #[test]
    fn constant_data_is_recognized() {
        let constant = |source| Generated::parse(source, "/a.S/M").unwrap().is_constant();
        assert!(constant("{\"a\":{\"b\":1}}"));
        assert!(constant("{{.MethodName}}"));
        assert!(!constant("{{.UUID}}"));
    }

    #[test]
    fn dates_are_right_around_leap_days() {
        let at = |seconds| {
            let mut text = String::new();
            write_time(&mut text, seconds).unwrap();
            text
        };
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
    }
}
