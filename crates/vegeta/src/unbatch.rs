//! Reads the format that [`crate::batch`] writes.

use std::io::{self, Read};
use std::time::Duration;

use crate::batch::{BEGINNING, DECODED, HAS_BODY, HIT, MAGIC, NO_TEXT, TEXT};
use crate::date::Date;
use crate::hit::{Headers, Hit, canonical};

/// The batch that is being read.
#[derive(Debug, Default)]
pub(crate) struct Unbatch {
    payload: Vec<u8>,
    at: usize,
    base: i64,
    texts: Vec<std::ops::Range<usize>>,
}

/// Why there are no more hits.
#[derive(Debug)]
pub(crate) enum End {
    /// All hits were read.
    Whole,
    /// The file ends inside a batch.
    CutOff,
    /// The file does not have this format.
    Broken(&'static str),
    Io(io::Error),
}

impl Unbatch {
    /// The next hit of `input`.
    pub fn next(&mut self, input: &mut impl Read, hit: &mut Hit) -> Result<(), End> {
        loop {
            if self.at >= self.payload.len() {
                self.open(input)?;
                continue;
            }
            // If a batch was cut off, it ends inside an entry.
            if self.entry(hit).ok_or(End::CutOff)?? {
                return Ok(());
            }
        }
    }

    /// Reads the next batch, or the part of it that exists.
    fn open(&mut self, input: &mut impl Read) -> Result<(), End> {
        let mut beginning = [0; BEGINNING];
        match fill(input, &mut beginning).map_err(End::Io)? {
            0 => return Err(End::Whole),
            BEGINNING => {}
            _ => return Err(End::CutOff),
        }
        let (magic, rest) = beginning.split_at(MAGIC.len());
        let (length, base) = rest.split_at(4);
        if magic != MAGIC {
            return Err(End::Broken(
                "a batch does not begin as one of this version does",
            ));
        }
        let length = u32::from_le_bytes(length.try_into().unwrap_or_default());
        self.base = i64::from_le_bytes(base.try_into().unwrap_or_default());
        let length = u64::from(length)
            .checked_sub(8)
            .ok_or(End::Broken("a batch is shorter than its own beginning"))?;
        self.at = 0;
        self.texts.clear();
        self.payload.clear();
        // This reads only as many bytes as exist, whatever the length field claims.
        let read = input
            .take(length)
            .read_to_end(&mut self.payload)
            .map_err(End::Io)?;
        if read == 0 && length > 0 {
            return Err(End::CutOff);
        }
        Ok(())
    }

    /// Reads an entry. Returns true if it was a hit, and `None` at the end of the bytes.
    fn entry(&mut self, hit: &mut Hit) -> Option<Result<bool, End>> {
        match self.byte()? {
            TEXT => {
                let length = usize::try_from(self.number()?).ok()?;
                let end = self.at.checked_add(length)?;
                self.payload.get(self.at..end)?;
                self.texts.push(self.at..end);
                self.at = end;
                Some(Ok(false))
            }
            HIT => self.hit(hit).map(|is_valid| {
                let out_of_range = End::Broken("a latency or a status code is out of range");
                is_valid.then_some(true).ok_or(out_of_range)
            }),
            _ => Some(Err(End::Broken("an entry is neither a text nor a hit"))),
        }
    }

    /// Reads a hit. Returns whether its values are in range, and `None` at the end of the bytes.
    fn hit(&mut self, hit: &mut Hit) -> Option<bool> {
        let flags = self.byte()?;
        let mut numbers = [0; 13];
        for number in &mut numbers {
            *number = self.number()?;
        }
        let [
            attack,
            method,
            url,
            error,
            head,
            seq,
            code,
            later,
            latency,
            service,
            out,
            received,
            length,
        ] = numbers;
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let body = self.payload.get(self.at..end)?;
        hit.body = (flags & HAS_BODY != 0).then(|| body.to_vec());
        self.at = end;
        hit.attack = self.text(attack)?;
        hit.method = self.text(method)?;
        hit.url = self.text(url)?;
        hit.error = self.text(error)?;
        hit.headers = if head == NO_TEXT {
            None
        } else {
            Some(headers(self.bytes(head)?, flags & DECODED != 0))
        };
        hit.seq = seq;
        let Ok(code) = u16::try_from(code) else {
            return Some(false);
        };
        // In Go, and so in all other formats, a duration is a signed number of nanoseconds.
        if i64::try_from(latency).is_err() {
            return Some(false);
        }
        hit.code = code;
        hit.date = Date::from_unix_nanos(self.base.wrapping_add(unzigzag(later)));
        hit.latency = Duration::from_nanos(latency);
        hit.service = service.checked_sub(1).map(Duration::from_nanos);
        hit.bytes_out = out;
        hit.bytes_in = received;
        Some(true)
    }

    fn text(&self, number: u64) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes(number)?).into_owned())
    }

    fn bytes(&self, number: u64) -> Option<&[u8]> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        self.payload.get(self.texts.get(place)?.clone())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.payload.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Reads until `buffer` is full or the input ends. Returns the number of bytes read.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The headers, with names in Go's canonical form. If the body was decoded, headers about its encoding are removed, as
/// in Go.
fn headers(head: &[u8], decoded: bool) -> Headers {
    let mut headers = Headers::default();
    for line in head.split(|&byte| byte == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            continue;
        };
        let (name, value) = line.split_at(colon);
        let name = canonical(&String::from_utf8_lossy(name));
        if decoded && matches!(name.as_str(), "Content-Encoding" | "Content-Length") {
            continue;
        }
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        headers.append(&name, &String::from_utf8_lossy(value));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Results;
    use crate::batch::Batch;

    #[test]
    fn a_latency_that_does_not_fit_other_formats_is_refused() {
        let read = |nanos: u64| {
            let mut batch = Batch::new(Vec::new());
            let mut hit = Hit {
                latency: Duration::from_nanos(nanos),
                ..Hit::default()
            };
            batch.push_hit(&hit);
            let file = batch.take(Vec::new());
            let mut results = Results::open(&file[..]).expect("results");
            results.next(&mut hit).map_err(|error| error.to_string())
        };
        assert_eq!(read(i64::MAX.unsigned_abs()), Ok(true));
        let error = read(1 << 63).expect_err("out of range");
        assert!(error.contains("out of range"), "{error}");
    }
}
