//! Encodes individual samples for outputs in another process.
//!
//! Names, sets of tags and sets of labels are written where they first occur, and get a number. Later samples contain
//! the number.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use plimsoll_units::Moment;

use crate::builtin;
use crate::metric_id::MetricId;
use crate::record::{SampleRecord, SampleTags};
use crate::registry::{Metric, Registry};
use crate::tags::Metadata;
use crate::window_wire::WindowDecoder;
use crate::wire::{Reader, WireError, Writer};

/// The first byte: the version of the encoding.
const VERSION: u8 = 1;
/// If a piece reaches this length, the next samples start a new piece.
const PIECE_LENGTH: usize = 256 << 10;

/// Encodes the samples as one or more pieces, which can be decoded one by one. Moments are relative to `origin`.
pub fn encode_records(
    records: &[SampleRecord],
    registry: &Registry,
    origin: Moment,
) -> Vec<Vec<u8>> {
    let metrics = registry.metrics();
    let mut pieces = Vec::new();
    let mut piece = Piece::new(origin);
    for record in records {
        if piece.out.len() >= PIECE_LENGTH {
            let full = std::mem::replace(&mut piece, Piece::new(origin));
            pieces.push(full.out.into_bytes());
        }
        piece.add(record, &metrics);
    }
    if !records.is_empty() {
        pieces.push(piece.out.into_bytes());
    }
    pieces
}

/// A piece while it is being written.
struct Piece<'a> {
    out: Writer,
    metrics: HashMap<MetricId, u64>,
    tags: HashMap<&'a SampleTags, u64>,
    metadata: HashMap<&'a BTreeMap<String, String>, u64>,
    before: Moment,
}

impl<'a> Piece<'a> {
    fn new(origin: Moment) -> Piece<'a> {
        let mut out = Writer::new();
        out.byte(VERSION);
        Piece {
            out,
            metrics: HashMap::new(),
            tags: HashMap::new(),
            metadata: HashMap::new(),
            before: origin,
        }
    }

    fn add(&mut self, record: &'a SampleRecord, metrics: &[Metric]) {
        let out = &mut self.out;
        let at = record.metric.index();
        let builtin = builtin::TABLE.len();
        if at < builtin {
            // The built-in metrics have the same numbers in every process.
            out.number(at as u64);
        } else if number(&mut self.metrics, record.metric, builtin as u64, out) {
            // A metric is always registered before it has samples.
            if let Some(metric) = metrics.get(at) {
                metric.encode(out);
            }
        }
        if number(&mut self.tags, &*record.tags, 0, out) {
            texts(record.tags.iter(), record.tags.len(), out);
        }
        match record.metadata.as_deref() {
            None => out.number(0),
            Some(labels) => {
                if number(&mut self.metadata, labels, 1, out) {
                    let all = labels.iter().map(|(key, value)| (&**key, &**value));
                    texts(all, labels.len(), out);
                }
            }
        }
        out.float(record.value);
        out.signed(difference(record.at, self.before));
        self.before = record.at;
        out.byte(u8::from(record.started.is_some()) | u8::from(record.scheduled.is_some()) << 1);
        for moment in [record.started, record.scheduled].into_iter().flatten() {
            out.signed(difference(moment, record.at));
        }
    }
}

/// Writes the number of `key`; numbers start at `first`. Returns true if the number is new, in which case the content
/// must follow.
fn number<K: Hash + Eq>(known: &mut HashMap<K, u64>, key: K, first: u64, out: &mut Writer) -> bool {
    let next = known.len() as u64 + first;
    let number = *known.entry(key).or_insert(next);
    out.number(number);
    number == next
}

fn texts<'a>(all: impl Iterator<Item = (&'a str, &'a str)>, count: usize, out: &mut Writer) {
    out.number(count as u64);
    for (key, value) in all {
        out.text(key);
        out.text(value);
    }
}

fn difference(moment: Moment, before: Moment) -> i64 {
    moment.as_nanos().wrapping_sub(before.as_nanos()) as i64
}

fn moment(input: &mut Reader<'_>, before: Moment) -> Result<Moment, WireError> {
    let nanos = before.as_nanos().saturating_add_signed(input.signed()?);
    Ok(Moment::from_nanos(nanos))
}

impl WindowDecoder {
    /// Decodes a piece of [`encode_records`]. Moments are relative to `origin`.
    ///
    /// # Errors
    /// If the bytes are not a valid piece.
    pub fn decode_records(
        &self,
        bytes: &[u8],
        origin: Moment,
    ) -> Result<Vec<SampleRecord>, WireError> {
        let mut input = Reader::new(bytes);
        if input.byte()? != VERSION {
            return Err(WireError::Invalid("version of single samples"));
        }
        let mut metrics: Vec<MetricId> = (0..builtin::TABLE.len() as u32).map(MetricId).collect();
        let mut tags: Vec<Arc<SampleTags>> = Vec::new();
        let mut labels: Vec<Metadata> = Vec::new();
        let mut records = Vec::new();
        let mut before = origin;
        while !input.is_empty() {
            let metric = place(&mut metrics, &mut input, 0, |input| {
                self.metric(input).map(|(metric, _)| metric)
            })?;
            let tags = place(&mut tags, &mut input, 0, |input| {
                let mut tags = SampleTags::default();
                for _ in 0..input.count(2)? {
                    let key = input.text()?.to_owned();
                    tags.set(Cow::Owned(key), input.text()?);
                }
                Ok(Arc::new(tags))
            })?;
            let is_labeled = input.clone().number()? > 0;
            let metadata = if is_labeled {
                Some(place(&mut labels, &mut input, 1, |input| {
                    let mut all = BTreeMap::new();
                    for _ in 0..input.count(2)? {
                        let key = input.text()?.to_owned();
                        all.insert(key, input.text()?.to_owned());
                    }
                    Ok(Arc::new(all))
                })?)
            } else {
                input.number()?;
                None
            };
            let value = input.float()?;
            let at = moment(&mut input, before)?;
            before = at;
            let times = input.byte()?;
            if times > 3 {
                return Err(WireError::Invalid("times of a sample"));
            }
            let mut time = |bit: u8| match times & bit {
                0 => Ok(None),
                _ => moment(&mut input, at).map(Some),
            };
            records.push(SampleRecord {
                metric,
                value,
                at,
                started: time(1)?,
                scheduled: time(2)?,
                tags,
                metadata,
            });
        }
        Ok(records)
    }
}

/// Reads the number of an entry. If it is the next unused number, `read` reads the new entry. Numbers start at `first`.
fn place<T: Clone>(
    known: &mut Vec<T>,
    input: &mut Reader<'_>,
    first: u64,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, WireError>,
) -> Result<T, WireError> {
    let number = input.number()?.checked_sub(first);
    let at = number.and_then(|number| usize::try_from(number).ok());
    let at = at.ok_or(WireError::Invalid("number of an entry"))?;
    if at == known.len() {
        let entry = read(input)?;
        known.push(entry);
    }
    let entry = known.get(at).cloned();
    entry.ok_or(WireError::Invalid("number of an entry"))
}
