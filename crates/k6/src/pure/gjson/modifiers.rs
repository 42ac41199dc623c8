//! `@modifiers`: functions from JSON to JSON.

use std::borrow::Cow;

use indexmap::IndexMap;

use plimsoll_quickjs::Progress;

use super::select::{self, Found, array_of};
use super::text::{Kind, elements, kind, members, quote, unquote, value_end};
use crate::pure::json_syntax;

/// Whether `name` (without its `@`) is a modifier.
pub(super) fn exists(name: &str) -> bool {
    const NAMES: [&str; 13] = [
        "this", "valid", "pretty", "ugly", "reverse", "keys", "values", "flatten", "join", "tostr",
        "fromstr", "group", "dig",
    ];
    NAMES.contains(&name)
}

/// Applies the modifier at the start of `path`, and also returns the rest of the path. Returns `None` if there is no
/// such modifier. The component is a key then.
pub(super) fn apply<'a, 'p>(
    json: &'a [u8],
    path: &'p str,
    depth: usize,
) -> Option<(Found<'a>, &'p str)> {
    let text = path.get(1..)?;
    let (name, mut rest) = text.split_at(text.find(['.', '|', ':']).unwrap_or(text.len()));
    let mut argument = "";
    if let Some(after_colon) = rest.strip_prefix(':') {
        (argument, rest) = after_colon.split_at_checked(argument_end(after_colon))?;
    }
    if !exists(name) {
        return None;
    }
    let made = match name {
        // The layout is lost when the result is parsed, so `pretty` leaves the text unchanged.
        "this" | "valid" | "pretty" => return Some((Cow::Borrowed(json), rest)),
        "ugly" => ugly(json),
        "reverse" => reverse(json),
        "keys" => keys(json),
        "values" if kind(json) == Kind::Array => return Some((Cow::Borrowed(json), rest)),
        "values" => values(json),
        "flatten" => flatten(json, is_set(argument, "deep")),
        "join" => join(json, is_set(argument, "preserve")),
        "tostr" => quote(&String::from_utf8_lossy(json)).into_bytes(),
        "fromstr" => from_string(json),
        "group" => group(json),
        _ => dig(json, argument, depth),
    };
    Some((Cow::Owned(made), rest))
}

/// The end of a modifier's argument: after its JSON value, or otherwise before the next pipe.
fn argument_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    if matches!(bytes.first(), Some(b'{' | b'[' | b'"')) {
        return value_end(bytes, 0);
    }
    let mut i = 0;
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'|' => return i,
            b'{' | b'[' | b'"' | b'(' => i = value_end(bytes, i),
            _ => i += 1,
        }
    }
    bytes.len()
}

/// Whether the argument `{"option":true}` sets the option.
fn is_set(argument: &str, option: &str) -> bool {
    argument.starts_with('{')
        && members(argument.as_bytes()).any(|(key, value)| {
            unquote(key) == option
                && match kind(value) {
                    Kind::True => true,
                    Kind::String => ["1", "t", "true"].contains(&&*unquote(value).to_lowercase()),
                    Kind::Number => value != b"0",
                    _ => false,
                }
        })
}

fn ugly(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let mut i = 0;
    let mut progress = Progress::from(0);
    while let Some(&byte) = json.get(i) {
        progress.reach(i);
        if byte == b'"' {
            let end = value_end(json, i);
            out.extend_from_slice(json.get(i..end).unwrap_or_default());
            i = end;
        } else {
            if byte > b' ' {
                out.push(byte);
            }
            i += 1;
        }
    }
    out
}

/// Elements or members in reverse order. Any other value is unchanged.
fn reverse(json: &[u8]) -> Vec<u8> {
    match kind(json) {
        Kind::Array => {
            let mut values: Vec<_> = elements(json).collect();
            values.reverse();
            array_of(values.into_iter())
        }
        Kind::Object => {
            let mut pairs: Vec<_> = members(json).collect();
            pairs.reverse();
            object_of(pairs.into_iter())
        }
        _ => json.to_vec(),
    }
}

fn object_of<'a>(members: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let mut out = vec![b'{'];
    for (key, value) in members {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(key);
        out.push(b':');
        out.extend_from_slice(value);
    }
    out.push(b'}');
    out
}

fn keys(json: &[u8]) -> Vec<u8> {
    match kind(json) {
        Kind::Object => array_of(members(json).map(|(key, _)| key)),
        Kind::Array => array_of(elements(json).map(|_| b"null")),
        Kind::Missing => b"[]".to_vec(),
        // A scalar counts as one entry without a key.
        _ => b"[null]".to_vec(),
    }
}

fn values(json: &[u8]) -> Vec<u8> {
    match kind(json) {
        Kind::Object => array_of(members(json).map(|(_, value)| value)),
        _ => array_of(std::iter::once(json)),
    }
}

/// `[1,[2],[3,[4]]]` → `[1,2,3,[4]]`, and with `deep` → `[1,2,3,4]`.
fn flatten(json: &[u8], deep: bool) -> Vec<u8> {
    if kind(json) != Kind::Array {
        return json.to_vec();
    }
    // Depth-first with an explicit stack, so that nesting needs no recursion.
    let mut pending: Vec<(&[u8], usize)> = vec![(json, 0)];
    let mut flat: Vec<&[u8]> = Vec::new();
    while let Some((value, level)) = pending.pop() {
        let opens = deep || level <= 1;
        if kind(value) == Kind::Array && opens {
            let inner: Vec<_> = elements(value)
                .map(|element| (element, level + 1))
                .collect();
            pending.extend(inner.into_iter().rev());
        } else {
            flat.push(value);
        }
    }
    array_of(flat.into_iter())
}

/// Merges the members of several objects. If a key repeats, the last value is kept at the first one's position. With
/// `preserve`, all members are kept.
fn join(json: &[u8], preserve: bool) -> Vec<u8> {
    if kind(json) != Kind::Array {
        return json.to_vec();
    }
    let all = elements(json)
        .filter(|element| kind(element) == Kind::Object)
        .flat_map(members);
    if preserve {
        return object_of(all);
    }
    let mut last = IndexMap::new();
    for (key, value) in all {
        last.entry(unquote(key)).or_insert((key, value)).1 = value;
    }
    object_of(last.into_values())
}

/// The JSON that a JSON string contains.
fn from_string(json: &[u8]) -> Vec<u8> {
    if kind(json) != Kind::String {
        return json.to_vec();
    }
    let inner = unquote(json).into_owned().into_bytes();
    if json_syntax::is_valid(&inner) {
        inner
    } else {
        Vec::new()
    }
}

/// `{"a":[1,2],"b":[3,4]}` → `[{"a":1,"b":3},{"a":2,"b":4}]`
fn group(json: &[u8]) -> Vec<u8> {
    if kind(json) != Kind::Object {
        return Vec::new();
    }
    let mut rows: Vec<Vec<(&[u8], &[u8])>> = Vec::new();
    for (key, column) in members(json).filter(|(_, value)| kind(value) == Kind::Array) {
        for (i, value) in elements(column).enumerate() {
            if i == rows.len() {
                rows.push(Vec::new());
            }
            if let Some(row) = rows.get_mut(i) {
                row.push((key, value));
            }
        }
    }
    array_of(rows.into_iter().map(|row| object_of(row.into_iter())))
}

/// All results of `path` in the value and in everything inside it, outermost first.
fn dig(json: &[u8], path: &str, depth: usize) -> Vec<u8> {
    let mut pending = vec![json];
    let mut found = Vec::new();
    while let Some(value) = pending.pop() {
        found.push(select::get(value, path, depth));
        let inner: Vec<_> = match kind(value) {
            Kind::Array => elements(value).collect(),
            Kind::Object => members(value).map(|(_, value)| value).collect(),
            _ => continue,
        };
        pending.extend(inner.into_iter().rev());
    }
    array_of(found.into_iter())
}
