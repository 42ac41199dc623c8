//! HPACK encoding: RFC 7541.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::head::{RequestHead, Sent};
use crate::primitives::put_integer;
use crate::static_table::STATIC;

/// Maximum size of the table that we use, if the peer allows as much.
const TABLE_SIZE: usize = 4096;
/// A field that takes more than this fraction of the table would evict all others.
const LARGEST_PART: usize = 4;
/// Number of headers that are remembered as encoded references.
const KNOWN: usize = 8;

/// Encodes all header blocks of a connection.
#[derive(Debug)]
pub(crate) struct Encoder {
    /// Names and values in the peer's table, the newest first.
    dynamic: VecDeque<(Vec<u8>, Vec<u8>)>,
    size: usize,
    limit: usize,
    /// The peer has changed its limit since the last block, at lowest to this. The next block must
    /// announce it: section 4.2.
    lowest: Option<usize>,
    /// Headers sent before, as blocks that are valid while the table stays the same.
    known: Vec<(Rc<RequestHead>, Vec<u8>)>,
}

impl Default for Encoder {
    fn default() -> Self {
        Encoder {
            dynamic: VecDeque::new(),
            size: 0,
            limit: TABLE_SIZE,
            lowest: None,
            known: Vec::new(),
        }
    }
}

impl Encoder {
    /// The peer's table holds at most `size` bytes.
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
        if let Some((_, block)) = self.known.iter().find(|(known, _)| known.is_like(head)) {
            out.extend_from_slice(block);
            return;
        }
        let start = out.len();
        let mut only_references = true;
        for field in &head.fields {
            only_references &= self.field(field, out);
        }
        if only_references {
            if self.known.len() >= KNOWN {
                self.known.remove(0);
            }
            let block = out.get(start..).unwrap_or_default().to_vec();
            self.known.push((Rc::clone(head), block));
        }
    }

    /// Appends a field. Returns true if the table is unchanged, so that the same bytes keep their
    /// meaning.
    fn field(&mut self, field: &Sent, out: &mut Vec<u8>) -> bool {
        let (whole, name) = self.look_up(field);
        if let Some(index) = whole.filter(|_| !field.is_secret) {
            put_integer(out, 0x80, 7, index);
            return true;
        }
        let size = field.name.len() + field.value.len() + 32;
        let is_kept = !field.is_secret && size <= self.limit / LARGEST_PART;
        let (mark, bits) = match (field.is_secret, is_kept) {
            // Section 6.2.3: no intermediary may index it.
            (true, _) => (0x10, 4),
            (false, true) => (0x40, 6),
            (false, false) => (0x00, 4),
        };
        put_integer(out, mark, bits, name.unwrap_or(0));
        if name.is_none() {
            string(out, &field.name);
        }
        string(out, &field.value);
        if is_kept {
            self.shrink(self.limit.saturating_sub(size));
            self.size += size;
            self.dynamic
                .push_front((field.name.clone(), field.value.clone()));
            self.known.clear();
        }
        !is_kept
    }

    /// The index of the whole field in the tables, and the index of its name.
    fn look_up(&self, field: &Sent) -> (Option<usize>, Option<usize>) {
        let mut named = None;
        let fixed = STATIC
            .iter()
            .map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let kept = self
            .dynamic
            .iter()
            .map(|(name, value)| (name.as_slice(), value.as_slice()));
        for (place, (name, value)) in fixed.chain(kept).enumerate() {
            if name != field.name {
                continue;
            }
            if value == field.value {
                return (Some(place + 1), Some(place + 1));
            }
            named.get_or_insert(place + 1);
        }
        (None, named)
    }

    fn shrink(&mut self, size: usize) {
        while self.size > size {
            let Some((name, value)) = self.dynamic.pop_back() else {
                break;
            };
            self.size = self.size.saturating_sub(name.len() + value.len() + 32);
        }
    }
}

/// Without the Huffman code: it would save a third of bytes that are sent once per connection.
fn string(out: &mut Vec<u8>, text: &[u8]) {
    put_integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderValue, Request};

    fn head(path: &str, own: &[(&'static str, &str)]) -> Rc<RequestHead> {
        let mut request = Request::post(format!("http://h:1{path}")).body(()).unwrap();
        for (name, value) in own {
            let value = HeaderValue::from_str(value).unwrap();
            request.headers_mut().append(*name, value);
        }
        Rc::new(RequestHead::of(&request))
    }

    fn encode(encoder: &mut Encoder, head: &Rc<RequestHead>) -> Vec<u8> {
        let mut out = Vec::new();
        encoder.encode(head, &mut out);
        out
    }

    #[test]
    fn what_was_sent_is_referred_to() {
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
    fn other_heads_move_what_references_mean() {
        let mut encoder = Encoder::default();
        let (one, other) = (head("/1", &[]), head("/2", &[]));
        encode(&mut encoder, &one);
        let before = encode(&mut encoder, &one);
        encode(&mut encoder, &other);
        let after = encode(&mut encoder, &one);
        assert_eq!(before, [0x83, 0x86, 0xbf, 0xbe]);
        assert_eq!(after, [0x83, 0x86, 0xc0, 0xbf]);
    }

    #[test]
    fn secrets_and_long_fields_are_kept_nowhere() {
        let mut encoder = Encoder::default();
        let long = "x".repeat(2000);
        let head = head("/", &[("authorization", "Bearer 1"), ("x-long", &long)]);
        encode(&mut encoder, &head);
        // Only the authority.
        assert_eq!(encoder.dynamic.len(), 1);
        let again = encode(&mut encoder, &head);
        assert!(again.ends_with(long.as_bytes()));
        assert!(again.windows(2).any(|two| two == [0x1f, 0x08]), "{again:?}");
    }

    #[test]
    fn a_peer_may_keep_less_or_nothing() {
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
