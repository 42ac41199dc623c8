//! Follows a path through a document.

use std::borrow::Cow;

use super::path::{self, At, Place, Query, Rest};
use super::text::{Kind, elements, kind, lines, members, quote, trim, unquote};
use super::{modifiers, query, wildcard};

/// JSON that was selected. Empty if nothing was found.
pub(super) type Found<'a> = Cow<'a, [u8]>;

const NOTHING: Found<'static> = Cow::Borrowed(&[]);

/// The maximum number of components, which is more than any sensible path has. The limit exists because a user's stack
/// is small.
const MAX_COMPONENTS: usize = 100;

/// The result of `path` in `json`. `depth` counts the components so far.
pub(super) fn get<'a>(json: &'a [u8], path: &str, depth: usize) -> Found<'a> {
    if depth > MAX_COMPONENTS {
        return NOTHING;
    }
    let depth = depth + 1;
    let json = trim(json);
    if path.len() > 1 {
        match path.as_bytes().first() {
            Some(b'@') => {
                if let Some((result, rest)) = modifiers::apply(json, path, depth) {
                    return follow(result, rest, depth);
                }
            }
            Some(b'!') => {
                if let Some((literal, rest)) = literal(path) {
                    return follow(Cow::Owned(literal.as_bytes().to_vec()), rest, depth);
                }
            }
            Some(b'{' | b'[') => {
                if let Some(result) = multipath(json, path, depth) {
                    return result;
                }
            }
            Some(b'.') if path.starts_with("..") => {
                let path = path.get(2..).unwrap_or_default();
                return in_elements(lines(json), path, depth);
            }
            _ => {}
        }
    }
    within(json, path, depth)
}

/// Applies `rest`, which starts with the separator, to a string that may be newly built.
fn follow<'a>(from: Found<'a>, rest: &str, depth: usize) -> Found<'a> {
    match rest.as_bytes().first() {
        Some(b'.' | b'|') => {
            let rest = rest.get(1..).unwrap_or_default();
            match from {
                Cow::Borrowed(json) => get(json, rest, depth),
                Cow::Owned(json) => Cow::Owned(get(&json, rest, depth).into_owned()),
            }
        }
        _ => from,
    }
}

/// Applies a path that starts with a plain component: a key or an index.
fn within<'a>(json: &'a [u8], path: &str, depth: usize) -> Found<'a> {
    match kind(json) {
        Kind::Object => in_object(json, path, depth),
        Kind::Array => in_elements(elements(json), path, depth),
        _ => NOTHING,
    }
}

fn in_object<'a>(object: &'a [u8], path: &str, depth: usize) -> Found<'a> {
    let key = path::key(path);
    let matches = |name: &[u8]| {
        let name = unquote(name);
        if key.wild {
            wildcard::matches(&name, &key.name)
        } else {
            name == key.name
        }
    };
    let mut matching = members(object)
        .filter(|(name, _)| matches(name))
        .map(|(_, value)| value);
    match key.rest {
        Rest::End => matching.next().map_or(NOTHING, Cow::Borrowed),
        Rest::Piped(rest) => get(matching.next().unwrap_or_default(), rest, depth),
        // If a wildcard or a repeated key has several matches, the rest of the path may not exist in the first one.
        Rest::Within(rest) => matching
            .map(|value| deeper(value, rest, depth))
            .find(|found| !found.is_empty())
            .unwrap_or(NOTHING),
    }
}

/// Applies the rest of a path to a selected value. Only keys and indexes work here, not modifiers.
fn deeper<'a>(value: &'a [u8], path: &str, depth: usize) -> Found<'a> {
    if depth > MAX_COMPONENTS {
        NOTHING
    } else {
        within(value, path, depth + 1)
    }
}

fn in_elements<'a>(
    mut elements: impl Iterator<Item = &'a [u8]>,
    path: &str,
    depth: usize,
) -> Found<'a> {
    let Place { at, rest } = path::place(path);
    match at {
        At::Index(index) => {
            let element = elements.nth(index).unwrap_or_default();
            match rest {
                Rest::End => Cow::Borrowed(element),
                Rest::Within(rest) => deeper(element, rest, depth),
                Rest::Piped(rest) => get(element, rest, depth),
            }
        }
        At::Length => {
            let length = elements.count().to_string().into_bytes();
            match rest {
                Rest::Piped(rest) => Cow::Owned(get(&length, rest, depth).into_owned()),
                _ => Cow::Owned(length),
            }
        }
        At::Every(path) => {
            let (path, piped) = match path::split_pipe(path) {
                Some((path, piped)) => (path, Some(piped)),
                None => (path, None),
            };
            let found = elements.map(|element| get(element, path, depth));
            piped_on(Cow::Owned(array_of(found)), piped, depth)
        }
        At::Query(query) => in_matches(elements, &query, rest, depth),
        At::Nowhere => match rest {
            Rest::Piped(rest) => get(&[], rest, depth),
            _ => NOTHING,
        },
    }
}

fn in_matches<'a>(
    elements: impl Iterator<Item = &'a [u8]>,
    query: &Query<'_>,
    rest: Rest<'_>,
    depth: usize,
) -> Found<'a> {
    let mut matching = elements
        .filter(|element| match kind(element) {
            Kind::Object | Kind::Array => query::satisfies(query, &get(element, query.path, depth)),
            _ => query.path.is_empty() && query::satisfies(query, element),
        })
        .peekable();
    let (inner, piped) = match rest {
        Rest::End => (None, None),
        Rest::Piped(piped) => (None, Some(piped)),
        // The pipe after an inner path is applied only once an element has matched.
        Rest::Within(path) => match path::split_pipe(path) {
            Some((path, piped)) => (Some(path), matching.peek().map(|_| piped)),
            None => (Some(path), None),
        },
    };
    let mut found = matching.map(|element| match inner {
        Some(path) => get(element, path, depth),
        None => Cow::Borrowed(element),
    });
    let result = if query.all {
        Cow::Owned(array_of(found))
    } else {
        found.next().unwrap_or(NOTHING)
    };
    piped_on(result, piped, depth)
}

fn piped_on<'a>(from: Found<'a>, piped: Option<&str>, depth: usize) -> Found<'a> {
    match (piped, from) {
        (None, from) => from,
        (Some(path), Cow::Borrowed(json)) => get(json, path, depth),
        (Some(path), Cow::Owned(json)) => Cow::Owned(get(&json, path, depth).into_owned()),
    }
}

/// An array of all results that are not empty.
pub(super) fn array_of<T: AsRef<[u8]>>(found: impl Iterator<Item = T>) -> Vec<u8> {
    let mut out = vec![b'['];
    for value in found {
        if value.as_ref().is_empty() {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(value.as_ref());
    }
    out.push(b']');
    out
}

/// Parses `!literal` at the start of a path, and also returns the rest.
fn literal(path: &str) -> Option<(&str, &str)> {
    let text = path.get(1..)?;
    let end = match text.as_bytes().first()? {
        b'{' | b'[' | b'"' => super::text::value_end(text.as_bytes(), 0),
        b'+' | b'-' | b'0'..=b'9' => {
            let part_of_number = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
            text.bytes()
                .position(|b| !part_of_number(b))
                .unwrap_or(text.len())
        }
        _ => {
            let end = text.find(['.', '|']).unwrap_or(text.len());
            ["true", "false", "null"]
                .contains(&text.get(..end)?)
                .then_some(end)?
        }
    };
    text.split_at_checked(end)
}

fn multipath<'a>(json: &'a [u8], path: &str, depth: usize) -> Option<Found<'a>> {
    let object = path.starts_with('{');
    let (entries, rest) = path::multipath(path)?;
    if !(rest.is_empty() || rest.starts_with(['.', '|'])) {
        return None;
    }
    let mut out = vec![if object { b'{' } else { b'[' }];
    for entry in entries {
        let found = get(json, entry.path, depth);
        if found.is_empty() {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        if object {
            let name = match entry.name.filter(|name| !name.is_empty()) {
                Some(name)
                    if crate::pure::json_syntax::is_valid(name.as_bytes())
                        && name.starts_with('"') =>
                {
                    name.to_owned()
                }
                Some(name) => quote(name),
                None => quote(path::last_name(entry.path)),
            };
            out.extend_from_slice(name.as_bytes());
            out.push(b':');
        }
        out.extend_from_slice(&found);
    }
    out.push(if object { b'}' } else { b']' });
    Some(follow(Cow::Owned(out), rest, depth))
}
