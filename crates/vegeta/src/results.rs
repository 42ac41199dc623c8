//! Reads the hits of a file, in vegeta's formats and in our own.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use crate::batch::MAGIC;
use crate::csv;
use crate::hit::Hit;
use crate::json;
use crate::unbatch::{End, Unbatch};

/// Maximum length of a line of JSON or CSV, in bytes: a hit with a body of half a gigabyte.
const LONGEST_LINE: u64 = 1 << 30;

/// The hits of one file in any known format.
pub struct Results<R: Read> {
    input: BufReader<R>,
    format: Format,
    /// The number of lines that were read, or of hits in our own format.
    read: u64,
    line: Vec<u8>,
    was_cut_off: bool,
}

enum Format {
    Ours(Unbatch),
    Json,
    Csv,
}

/// Why the hits of a file cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// The file is empty.
    Empty,
    /// The file has vegeta's binary format.
    Gob,
    /// The format of the file is unknown.
    Unknown,
    /// The line with this number is invalid for this reason.
    Line(u64, String),
    /// After this number of hits, the file is invalid for this reason.
    Batch(u64, &'static str),
    Io(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Empty => f.write_str("there are no results in it"),
            ReadError::Gob => f.write_str(
                "these are results in vegeta's binary format (gob), which only vegeta reads: \
                 convert them with `vegeta encode -to=json results.bin > results.json`",
            ),
            ReadError::Unknown => f.write_str(
                "these are not results: known are those of plimsoll attack, and the JSON and CSV \
                 that vegeta encode writes",
            ),
            ReadError::Line(line, why) => write!(f, "line {line}: {why}"),
            ReadError::Batch(hits, why) => write!(f, "after {hits} hits: {why}"),
            ReadError::Io(error) => write!(f, "cannot read it: {error}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

impl<R: Read> Results<R> {
    /// Detects the format from the first bytes.
    ///
    /// # Errors
    /// If the format is unknown.
    pub fn open(input: R) -> Result<Self, ReadError> {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let beginning = loop {
            match input.fill_buf() {
                Ok(beginning) => break beginning,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        };
        let format = match beginning {
            [] => return Err(ReadError::Empty),
            // A pipe may deliver the first bytes in pieces.
            bytes if bytes.starts_with(MAGIC) || MAGIC.starts_with(bytes) => {
                Format::Ours(Unbatch::default())
            }
            bytes if is_gob(bytes) => return Err(ReadError::Gob),
            bytes => match bytes.trim_ascii_start() {
                [b'{', ..] => Format::Json,
                [b'0'..=b'9' | b'-', ..] => Format::Csv,
                _ => return Err(ReadError::Unknown),
            },
        };
        Ok(Results {
            input,
            format,
            read: 0,
            line: Vec::new(),
            was_cut_off: false,
        })
    }

    /// Reads the next hit into `hit`. Returns false at the end.
    ///
    /// # Errors
    /// If the rest of the file does not have the same format.
    pub fn next(&mut self, hit: &mut Hit) -> Result<bool, ReadError> {
        if let Format::Ours(batch) = &mut self.format {
            return match batch.next(&mut self.input, hit) {
                Ok(()) => {
                    self.read += 1;
                    Ok(true)
                }
                Err(End::Whole) => Ok(false),
                Err(End::CutOff) => {
                    self.was_cut_off = true;
                    Ok(false)
                }
                Err(End::Broken(why)) => Err(ReadError::Batch(self.read, why)),
                Err(End::Io(error)) => Err(error.into()),
            };
        }
        loop {
            if !self.next_line()? {
                return Ok(false);
            }
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            let read = match self.format {
                Format::Json => json::read(&self.line, hit),
                _ => csv::read(&self.line, hit),
            };
            return match read {
                Ok(()) => Ok(true),
                Err(why) => Err(ReadError::Line(self.read, why)),
            };
        }
    }

    /// Whether the file ended inside a hit because its writer was killed.
    pub fn was_cut_off(&self) -> bool {
        self.was_cut_off
    }

    /// The next line. In CSV, it includes further lines that belong to it because of quotes.
    fn next_line(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        loop {
            self.read += 1;
            let left = LONGEST_LINE.saturating_sub(self.line.len() as u64);
            let read = (&mut self.input)
                .take(left)
                .read_until(b'\n', &mut self.line)?;
            if left == 0 || (read as u64 == left && self.line.last() != Some(&b'\n')) {
                let why = format!("it is longer than {LONGEST_LINE} bytes");
                return Err(ReadError::Line(self.read, why));
            }
            if read == 0 {
                return Ok(!self.line.is_empty());
            }
            if !matches!(self.format, Format::Csv) || !csv::is_open(&self.line) {
                return Ok(true);
            }
        }
    }
}

/// Go's encoding/gob begins with the definition of the type, which contains its name.
fn is_gob(bytes: &[u8]) -> bool {
    let beginning = bytes.get(..16).unwrap_or(bytes);
    beginning.windows(6).any(|part| part == b"Result") && beginning.first() != Some(&b'{')
}
