//! Results in our own compact format, written during an attack.
//!
//! A file is a sequence of complete batches. So files can be joined with `cat`, and if a file was cut off, all hits
//! except the last ones can be read. A batch is [`MAGIC`], the length of the rest (4 bytes, little endian), a date (8
//! bytes, nanoseconds since 1970), and entries. An entry is a hit, or a string to which later entries refer by its
//! index. Numbers are LEB128: seven bits per byte, lowest first.

use rustc_hash::FxHashMap;

use crate::hit::{Headers, Hit};

/// The start of a batch: a name, and the version of the format.
pub const MAGIC: &[u8; 8] = b"PLIMHIT\x01";
/// The length of [`MAGIC`], the length field and the date.
pub(crate) const BEGINNING: usize = 8 + 4 + 8;
/// A string follows.
pub(crate) const TEXT: u8 = 0;
/// A hit follows.
pub(crate) const HIT: u8 = 1;
/// The response body was decoded, so the headers no longer contain its length and encoding.
pub(crate) const DECODED: u8 = 1;
/// There is a body, but it may be empty.
pub(crate) const HAS_BODY: u8 = 2;

/// No service time. Actual service times are stored plus one nanosecond, so they are never 0.
pub(crate) const NO_SERVICE: u64 = 0;
/// No string. Indexes of strings start at 1.
pub(crate) const NO_TEXT: u64 = 0;

/// A hit with borrowed fields, before it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewHit<'a> {
    pub attack: &'a str,
    pub seq: u64,
    pub code: u16,
    /// Nanoseconds since 1970.
    pub date: i64,
    /// Nanoseconds.
    pub latency: u64,
    /// Nanoseconds; `None` if unknown.
    pub service: Option<u64>,
    pub bytes_out: u64,
    pub bytes_in: u64,
    pub error: &'a str,
    pub method: &'a str,
    pub url: &'a str,
    /// The response headers in the format of HTTP/1; `None` without a response.
    pub head: Option<&'a [u8]>,
    /// Whether `body` was decoded.
    pub decoded: bool,
    pub body: Option<&'a [u8]>,
}

/// A batch that is being built.
#[derive(Debug)]
pub struct Batch {
    bytes: Vec<u8>,
    base: i64,
    texts: FxHashMap<Box<[u8]>, u64>,
    /// The strings of the previous hit. Most hits repeat them.
    last: [(Vec<u8>, u64); 5],
    hits: u64,
}

impl Batch {
    /// Creates an empty batch that reuses the memory of `buffer`.
    pub fn new(buffer: Vec<u8>) -> Batch {
        let mut batch = Batch {
            bytes: buffer,
            base: 0,
            texts: FxHashMap::default(),
            last: Default::default(),
            hits: 0,
        };
        batch.begin();
        batch
    }

    fn begin(&mut self) {
        self.bytes.clear();
        self.bytes.extend_from_slice(MAGIC);
        self.bytes.resize(BEGINNING, 0);
        self.texts.clear();
        for last in &mut self.last {
            last.0.clear();
            last.1 = 0;
        }
        self.hits = 0;
    }

    /// The number of bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it contains no hits.
    pub fn is_empty(&self) -> bool {
        self.hits == 0
    }

    /// Returns the finished batch, and starts an empty batch in `buffer`.
    pub fn take(&mut self, buffer: Vec<u8>) -> Vec<u8> {
        let length = (self.bytes.len() - BEGINNING + 8) as u32;
        let head = [&length.to_le_bytes()[..], &self.base.to_le_bytes()].concat();
        if let Some(place) = self.bytes.get_mut(MAGIC.len()..BEGINNING) {
            place.copy_from_slice(&head);
        }
        let whole = std::mem::replace(&mut self.bytes, buffer);
        self.begin();
        whole
    }

    /// Adds a hit that was read from another file.
    pub fn push_hit(&mut self, hit: &Hit) {
        let nanos = |span: std::time::Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let head = hit.headers.as_ref().map(Headers::to_head);
        self.push(&NewHit {
            attack: &hit.attack,
            seq: hit.seq,
            code: hit.code,
            date: hit.date.unix_nanos(),
            latency: nanos(hit.latency),
            service: hit.service.map(nanos),
            bytes_out: hit.bytes_out,
            bytes_in: hit.bytes_in,
            error: &hit.error,
            method: &hit.method,
            url: &hit.url,
            head: head.as_deref(),
            decoded: false,
            body: hit.body.as_deref(),
        });
    }

    /// Adds a hit.
    pub fn push(&mut self, hit: &NewHit<'_>) {
        if self.hits == 0 {
            self.base = hit.date;
        }
        self.hits += 1;
        let attack = self.text(0, hit.attack.as_bytes());
        let method = self.text(1, hit.method.as_bytes());
        let url = self.text(2, hit.url.as_bytes());
        let error = self.text(3, hit.error.as_bytes());
        let head = hit.head.map_or(NO_TEXT, |head| self.text(4, head));
        let out = &mut self.bytes;
        out.push(HIT);
        let flags = u8::from(hit.decoded) * DECODED + u8::from(hit.body.is_some()) * HAS_BODY;
        out.push(flags);
        let body = hit.body.unwrap_or_default();
        let later = zigzag(hit.date.wrapping_sub(self.base));
        for number in [
            attack,
            method,
            url,
            error,
            head,
            hit.seq,
            u64::from(hit.code),
            later,
            hit.latency,
            hit.service
                .map_or(NO_SERVICE, |nanos| nanos.saturating_add(1)),
            hit.bytes_out,
            hit.bytes_in,
            body.len() as u64,
        ] {
            number_to(out, number);
        }
        out.extend_from_slice(body);
    }

    /// The index of a string. A new string is written first.
    #[inline]
    fn text(&mut self, kind: usize, text: &[u8]) -> u64 {
        if let Some((last, number)) = self.last.get(kind)
            && *number > 0
            && last == text
        {
            return *number;
        }
        self.other_text(kind, text)
    }

    fn other_text(&mut self, kind: usize, text: &[u8]) -> u64 {
        let number = match self.texts.get(text) {
            Some(number) => *number,
            None => {
                self.bytes.push(TEXT);
                number_to(&mut self.bytes, text.len() as u64);
                self.bytes.extend_from_slice(text);
                let number = self.texts.len() as u64 + 1;
                self.texts.insert(text.into(), number);
                number
            }
        };
        if let Some((last, known)) = self.last.get_mut(kind) {
            last.clear();
            last.extend_from_slice(text);
            *known = number;
        }
        number
    }
}

#[inline]
fn number_to(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Maps signed numbers to unsigned numbers, so that numbers close to zero stay small.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}
