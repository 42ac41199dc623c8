//! HPACK encoding: RFC 7541.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::primitives::put_integer;
use crate::request_head::{RequestHead, SentField};
use crate::static_table;

/// Maximum size of the table that we use, if the peer allows it.
const TABLE_SIZE: usize = 4096;
/// A field that uses more than this fraction of the table would evict all others.
const MAX_FRACTION: usize = 4;
/// Number of encoded header blocks in the cache.
const CACHED_BLOCKS: usize = 8;

/// Encodes all header blocks of a connection.
#[derive(Debug)]
pub(crate) struct Encoder {
    /// The fields in the peer's table, newest first.
    dynamic: VecDeque<Entry>,
    size: usize,
    limit: usize,
    /// Set if the peer has changed its limit since the last block: the lowest limit since then. The
    /// next block must announce the change (section 4.2).
    lowest: Option<usize>,
    /// Headers that were sent before, encoded as blocks that are valid while the table stays the same.
    known: Vec<(Rc<RequestHead>, Vec<u8>)>,
    /// The headers that were encoded last. If a field now has another value, it probably changes with
    /// each request, so it is not added to the table.
    last: Option<Rc<RequestHead>>,
}

#[derive(Debug)]
struct Entry {
    name: Vec<u8>,
    value: Vec<u8>,
    /// Hash of name and value.
    hash: u64,
}

impl Entry {
    /// The size of the field in the table (section 4.1).
    fn size(&self) -> usize {
        self.name.len() + self.value.len() + 32
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Encoder {
            dynamic: VecDeque::new(),
            size: 0,
            limit: TABLE_SIZE,
            lowest: None,
            known: Vec::new(),
            last: None,
        }
    }
}

impl Encoder {
    /// Applies the peer's limit: its table holds at most `size` bytes.
    pub fn resize(&mut self, size: usize) {
        let limit = size.min(TABLE_SIZE);
        if limit != self.limit {
            self.limit = limit;
            self.lowest = Some(self.lowest.map_or(limit, |lowest| lowest.min(limit)));
            self.shrink(limit);
            self.known.clear();
        }
    }

    /// Appends the header block of a request.
    pub fn encode(&mut self, head: &Rc<RequestHead>, out: &mut Vec<u8>) {
        if let Some(lowest) = self.lowest.take() {
            if lowest < self.limit {
                put_integer(out, 0x20, 5, lowest);
            }
            put_integer(out, 0x20, 5, self.limit);
        }
        if let Some((_, block)) = self
            .known
            .iter()
            .find(|(known, _)| known.has_same_fields(head))
        {
            out.extend_from_slice(block);
            return;
        }
        let start = out.len();
        let mut is_table_unchanged = true;
        for field in head.sent() {
            is_table_unchanged &= self.field(field, out);
        }
        if is_table_unchanged {
            if self.known.len() >= CACHED_BLOCKS {
                self.known.remove(0);
            }
            let block = out.get(start..).unwrap_or_default().to_vec();
            self.known.push((Rc::clone(head), block));
        }
        self.last = Some(Rc::clone(head));
    }

    /// Appends a field. Returns true if the table is unchanged, so the same bytes keep their meaning.
    fn field(&mut self, field: SentField<'_>, out: &mut Vec<u8>) -> bool {
        let (whole, name) = self.look_up(field);
        if let Some(index) = whole.filter(|_| !field.is_secret) {
            put_integer(out, 0x80, 7, index);
            return true;
        }
        let size = field.name.len() + field.value.len() + 32;
        let is_kept =
            !field.is_secret && size <= self.limit / MAX_FRACTION && self.is_repeated(field);
        let (mark, bits) = match (field.is_secret, is_kept) {
            // No intermediary may index the field (section 6.2.3).
            (true, _) => (0x10, 4),
            (false, true) => (0x40, 6),
            (false, false) => (0x00, 4),
        };
        put_integer(out, mark, bits, name.unwrap_or(0));
        if name.is_none() {
            string(out, field.name);
        }
        string(out, field.value);
        if is_kept {
            self.shrink(self.limit.saturating_sub(size));
            self.size += size;
            self.dynamic.push_front(Entry {
                name: field.name.to_vec(),
                value: field.value.to_vec(),
                hash: field.hash,
            });
            self.known.clear();
        }
        !is_kept
    }

    /// Whether the previous headers contained the same field, or no headers are known.
    fn is_repeated(&self, field: SentField<'_>) -> bool {
        let Some(last) = &self.last else {
            return true;
        };
        last.sent().any(|other| other.hash == field.hash)
    }

    /// The index of the complete field in the tables, and the index of its name.
    fn look_up(&self, field: SentField<'_>) -> (Option<usize>, Option<usize>) {
        let (whole, mut name) = static_table::look_up(field.name, field.value);
        if whole.is_some() {
            return (whole, name);
        }
        let first = static_table::STATIC.len() + 1;
        for (place, entry) in self.dynamic.iter().enumerate() {
            let is_whole =
                entry.hash == field.hash && entry.value == field.value && entry.name == field.name;
            if is_whole {
                return (Some(first + place), name);
            }
            if name.is_none() && entry.name == field.name {
                name = Some(first + place);
            }
        }
        (None, name)
    }

    fn shrink(&mut self, size: usize) {
        while self.size > size {
            let Some(oldest) = self.dynamic.pop_back() else {
                break;
            };
            self.size = self.size.saturating_sub(oldest.size());
        }
    }
}

/// Appends a string without the Huffman code. The code would save a third of the bytes, but most
/// strings are sent only once per connection. Every server must accept both forms.
fn string(out: &mut Vec<u8>, text: &[u8]) {
    put_integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(path: &str, own: &[(&'static str, &str)]) -> Rc<RequestHead> {
        let mut head = RequestHead::new("POST", "http", "h:1", path);
        for (name, value) in own {
            head.add(name, value.as_bytes());
        }
        Rc::new(head)
    }

    fn encode(encoder: &mut Encoder, head: &Rc<RequestHead>) -> Vec<u8> {
        let mut out = Vec::new();
        encoder.encode(head, &mut out);
        out
    }

    #[test]
    fn repeated_fields_are_sent_as_references() {
        let mut encoder = Encoder::default();
        let head = head("/a.B/C", &[("te", "trailers")]);
        let first = encode(&mut encoder, &head);
        assert!(first.len() > 20);
        let second = encode(&mut encoder, &head);
        // :method POST and :scheme http are in the static table, and three fields are in the
        // dynamic one.
        assert_eq!(second, [0x83, 0x86, 0xc0, 0xbf, 0xbe]);
        assert_eq!(encoder.known.len(), 1);
        assert_eq!(encode(&mut encoder, &head), second);
    }

    #[test]
    fn other_headers_change_the_meaning_of_references() {
        let mut encoder = Encoder::default();
        let (one, other) = (head("/1", &[]), head("/2", &[]));
        encode(&mut encoder, &one);
        let before = encode(&mut encoder, &one);
        // A path that was not sent before is sent as text. It enters the table when it is sent again.
        let once = encode(&mut encoder, &other);
        encode(&mut encoder, &head("/2", &[("a", "b")]));
        let after = encode(&mut encoder, &one);
        assert_eq!(before, [0x83, 0x86, 0xbf, 0xbe]);
        assert_eq!(once, *b"\x83\x86\xbf\x04\x02/2");
        assert_eq!(after, [0x83, 0x86, 0xc0, 0xbf]);
    }

    #[test]
    fn values_that_change_do_not_fill_the_table() {
        let mut encoder = Encoder::default();
        for number in 0..100 {
            let (path, id) = (format!("/{number}"), format!("id-{number}"));
            encode(&mut encoder, &head(&path, &[("x-id", &id), ("x-b", "c")]));
        }
        // Authority, first path, first id, and the field that stays the same.
        assert_eq!(encoder.dynamic.len(), 4);
        let block = encode(
            &mut encoder,
            &head("/new", &[("x-id", "new"), ("x-b", "c")]),
        );
        assert_eq!(block, *b"\x83\x86\xc1\x04\x04/new\x0f\x30\x03new\xbe");
    }

    #[test]
    fn secrets_and_long_fields_are_not_stored() {
        let mut encoder = Encoder::default();
        let long = "x".repeat(2000);
        let head = head("/", &[("authorization", "Bearer 1"), ("x-long", &long)]);
        encode(&mut encoder, &head);
        // The table contains only the authority.
        assert_eq!(encoder.dynamic.len(), 1);
        let again = encode(&mut encoder, &head);
        assert!(again.ends_with(long.as_bytes()));
        assert!(again.windows(2).any(|two| two == [0x1f, 0x08]), "{again:?}");
    }

    #[test]
    fn a_peer_may_limit_or_disable_its_table() {
        let mut encoder = Encoder::default();
        let head = head("/a", &[]);
        encode(&mut encoder, &head);
        encoder.resize(0);
        let block = encode(&mut encoder, &head);
        assert_eq!(block.first(), Some(&0x20));
        assert!(encoder.dynamic.is_empty());
        assert_eq!(encode(&mut encoder, &head), block[1..]);
        encoder.resize(100);
        encoder.resize(0);
        encoder.resize(1 << 20);
        // 4096 = 31 + 4065.
        assert_eq!(encode(&mut encoder, &head)[..4], [0x20, 0x3f, 0xe1, 0x1f]);
    }
}
