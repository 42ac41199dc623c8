//! Reads a record from any source with bounded memory, and accepts an incomplete last line.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::Deserialize;

use super::{End, Header, Record, SCHEMA, Second};

/// Maximum length of a line: enough for hundreds of distributions with thousands of buckets.
const MAX_LINE_LENGTH: u64 = 16 << 20;
/// Maximum length of a record.
const MAX_RECORD_LENGTH: u64 = 2 << 30;
/// The prefix of the schema in every version.
const FAMILY: &str = "plimsoll/record/";

/// The reason why a file could not be read as a record.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be read.
    Io(io::Error),
    /// The first line is not a header.
    NoRecord(String),
    /// The record has the schema of another version.
    Version(String),
    /// A line exceeds the maximum length.
    LongLine(usize),
    /// The record does not fit into memory.
    TooLong,
    /// A line is invalid: its number, and the error.
    Line(usize, String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => write!(f, "cannot read it: {error}"),
            ReadError::NoRecord(why) => write!(
                f,
                "it is not a record of a run ({why}); plimsoll run --record FILE writes one"
            ),
            ReadError::Version(schema) => write!(
                f,
                "it is a record of version {schema}, but this program reads {SCHEMA}: use the program that wrote it"
            ),
            ReadError::LongLine(number) => write!(
                f,
                "line {number} is longer than {} MiB, the limit for a line of a record",
                MAX_LINE_LENGTH >> 20
            ),
            ReadError::TooLong => write!(
                f,
                "it is longer than {} GiB, the limit",
                MAX_RECORD_LENGTH >> 30
            ),
            ReadError::Line(number, why) => {
                write!(f, "line {number} is not a line of a record: {why}")
            }
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

/// Whether these bytes look like the start of a record.
pub fn is_record(start: &[u8]) -> bool {
    let line = start
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let line = &line[..line.len().min(200)];
    line.starts_with(b"{")
        && line
            .windows(FAMILY.len())
            .any(|part| part == FAMILY.as_bytes())
}

/// Reads a record. Ignores an incomplete last line, which means that the run was killed while writing it.
///
/// # Errors
/// See [`ReadError`].
pub fn read(from: impl BufRead) -> Result<Record, ReadError> {
    let mut lines = Lines::new(from);
    let (_, first) = lines.next()?.unwrap_or_default();
    let header = header(first)?;
    // The index of each second, for adding late lines.
    let mut places: HashMap<(u64, bool), usize> = HashMap::new();
    let mut record = Record {
        header,
        seconds: Vec::new(),
        tail: Vec::new(),
        end: None,
    };
    while let Some((number, line)) = lines.next()? {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let wrong = |error: serde_json::Error| ReadError::Line(number, error.to_string());
        if record.end.is_some() {
            return Err(ReadError::Line(number, "it comes after the end".to_owned()));
        }
        let kind: Kind = serde_json::from_slice(line).map_err(wrong)?;
        if kind.second.is_some() {
            let mut second = serde_json::from_slice::<Second>(line).map_err(wrong)?;
            let seconds = match second.after_load {
                true => &mut record.tail,
                false => &mut record.seconds,
            };
            let key = (second.second, second.after_load);
            let known = places.get(&key).and_then(|place| seconds.get_mut(*place));
            match known {
                Some(known) if second.late => known.add(second),
                _ => {
                    second.late = false;
                    places.insert(key, seconds.len());
                    seconds.push(second);
                }
            }
        } else {
            record.end = Some(serde_json::from_slice::<End>(line).map_err(wrong)?);
        }
    }
    Ok(record)
}

/// Whether a line is a second or the end.
#[derive(Deserialize)]
struct Kind {
    second: Option<u64>,
}

fn header(line: &[u8]) -> Result<Header, ReadError> {
    #[derive(Deserialize)]
    struct Schema {
        schema: String,
    }
    let schema: Schema =
        serde_json::from_slice(line).map_err(|error| ReadError::NoRecord(error.to_string()))?;
    match schema.schema.as_str() {
        SCHEMA => {
            serde_json::from_slice(line).map_err(|error| ReadError::Line(1, error.to_string()))
        }
        other if other.starts_with(FAMILY) => Err(ReadError::Version(other.to_owned())),
        other => Err(ReadError::NoRecord(format!("its schema is {other:?}"))),
    }
}

struct Lines<R> {
    from: io::Take<R>,
    line: Vec<u8>,
    number: usize,
}

impl<R: BufRead> Lines<R> {
    fn new(from: R) -> Self {
        Lines {
            from: from.take(MAX_RECORD_LENGTH),
            line: Vec::new(),
            number: 0,
        }
    }

    /// The next complete line and its number. The first line may not end with a newline.
    fn next(&mut self) -> Result<Option<(usize, &[u8])>, ReadError> {
        self.line.clear();
        self.number += 1;
        let count = (&mut self.from)
            .take(MAX_LINE_LENGTH)
            .read_until(b'\n', &mut self.line)?;
        if self.line.ends_with(b"\n") {
            return Ok(Some((self.number, &self.line)));
        }
        if count as u64 == MAX_LINE_LENGTH {
            return Err(ReadError::LongLine(self.number));
        }
        if self.from.limit() == 0 {
            return Err(ReadError::TooLong);
        }
        // The file ends here, possibly with an incomplete line.
        Ok((self.number == 1 && count > 0).then_some((1, self.line.as_slice())))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Writer;
    use super::*;

    pub(crate) fn header() -> Header {
        Header {
            schema: SCHEMA.to_owned(),
            plimsoll: "1.0.0".to_owned(),
            kind: "http".to_owned(),
            command: vec!["plimsoll".to_owned()],
            started: "2026-01-02T03:04:05Z".to_owned(),
            model: "closed".to_owned(),
            title: String::new(),
            load: Vec::new(),
            warm_up_seconds: 0.0,
            configuration: serde_json::json!({"url": "http://127.0.0.1/"}),
            configuration_hash: "1".to_owned(),
            environment: crate::environment::Environment::default(),
        }
    }

    fn written(end: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::begin(&mut bytes, &header()).expect("memory");
        for second in 0..3 {
            let second = Second {
                second,
                users: 2,
                ..Second::default()
            };
            writer.second(&second).expect("memory");
        }
        if end {
            writer.end(&End::default()).expect("memory");
        }
        bytes
    }

    #[test]
    fn written_records_are_read() {
        let record = read(written(true).as_slice()).expect("a record");
        assert_eq!((record.header, record.seconds.len()), (header(), 3));
        assert_eq!(record.end, Some(End::default()));
        assert!(is_record(&written(true)));
    }

    #[test]
    fn a_killed_run_keeps_its_seconds() {
        let mut bytes = written(false);
        bytes.truncate(bytes.len() - 20);
        let record = read(bytes.as_slice()).expect("a record");
        assert_eq!((record.seconds.len(), record.end), (2, None));
    }

    #[test]
    fn an_invalid_record_is_reported() {
        for (text, part) in [
            ("", "not a record"),
            ("hello\n", "not a record"),
            ("{\"schema\": \"plimsoll/http-result/1\"}", "not a record"),
            (
                "{\"schema\": \"plimsoll/record/9\"}",
                "version plimsoll/record/9",
            ),
            ("{\"schema\": \"plimsoll/record/1\"}\n", "line 1"),
        ] {
            let error = read(text.as_bytes()).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        let mut broken = written(true);
        broken.extend(b"{\"second\":9}\n");
        let error = read(broken.as_slice())
            .expect_err("after the end")
            .to_string();
        assert!(
            error.contains("line 6") && error.contains("after the end"),
            "{error}"
        );
    }

    #[test]
    fn a_line_without_end_costs_no_more_than_its_limit() {
        let endless = io::repeat(b'x');
        let error = read(io::BufReader::new(endless)).expect_err("endless");
        assert!(matches!(error, ReadError::LongLine(1)), "{error}");
    }
}
