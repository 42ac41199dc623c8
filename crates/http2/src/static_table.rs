//! The static table of HPACK: RFC 7541, appendix A. Its entries are counted from 1.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// The index of the complete field, and the index of its name.
pub(crate) fn look_up(name: &[u8], value: &[u8]) -> (Option<usize>, Option<usize>) {
    static FIRST: OnceLock<FxHashMap<&[u8], usize>> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let mut first = FxHashMap::default();
        for (place, (name, _)) in STATIC.iter().enumerate() {
            first.entry(name.as_bytes()).or_insert(place);
        }
        first
    });
    let Some(&place) = first.get(name) else {
        return (None, None);
    };
    // Entries with the same name are adjacent.
    let named = STATIC.iter().skip(place);
    let mut named = named.take_while(|(known, _)| known.as_bytes() == name);
    let whole = named.position(|(_, known)| known.as_bytes() == value);
    (whole.map(|further| place + further + 1), Some(place + 1))
}

pub(crate) const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];
