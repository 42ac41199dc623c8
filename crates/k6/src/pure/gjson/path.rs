//! Parses a path one component at a time.

use std::borrow::Cow;

use super::modifiers;
use super::text::{string_end, value_end};

/// The rest of the path after a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest<'p> {
    End,
    /// After a dot: applies to the value that the component selected.
    Within(&'p str),
    /// After a pipe: applies to the result of everything before it.
    Piped(&'p str),
}

/// A component as the key of an object.
pub(super) struct Key<'p> {
    pub name: Cow<'p, str>,
    pub wild: bool,
    pub rest: Rest<'p>,
}

/// A component as an array index.
pub(super) struct Place<'p> {
    pub at: At<'p>,
    pub rest: Rest<'p>,
}

pub(super) enum At<'p> {
    Index(usize),
    /// Only `#`.
    Length,
    /// `#.` followed by a path that is applied to every element.
    Every(&'p str),
    Query(Query<'p>),
    /// Matches nothing in an array.
    Nowhere,
}

/// `#(path op value)`, and whether it selects all matches (`#(…)#`) or only the first one.
#[derive(Default)]
pub(super) struct Query<'p> {
    pub path: &'p str,
    pub operator: &'p str,
    pub value: Cow<'p, str>,
    pub all: bool,
}

/// After a dot, a modifier or a multipath applies to the whole result so far, so the dot acts as a
/// pipe.
fn after_dot(rest: &str) -> Rest<'_> {
    let starts_anew = match rest.as_bytes().first() {
        Some(b'{' | b'[') => true,
        Some(b'@') => {
            let name = rest.get(1..).unwrap_or_default();
            let end = name.find(['.', '|', ':']).unwrap_or(name.len());
            modifiers::exists(name.get(..end).unwrap_or_default())
        }
        _ => false,
    };
    if starts_anew {
        Rest::Piped(rest)
    } else {
        Rest::Within(rest)
    }
}

/// The text before and after the ASCII character at `at`.
fn split_around(text: &str, at: usize) -> (&str, &str) {
    (
        text.get(..at).unwrap_or_default(),
        text.get(at + 1..).unwrap_or_default(),
    )
}

pub(super) fn key(path: &str) -> Key<'_> {
    let bytes = path.as_bytes();
    let mut wild = false;
    // The name without escapes, once an escape was found. `copied` is the end of the text that has been copied.
    let mut unescaped: Option<String> = None;
    let mut copied = 0;
    let mut i = 0;
    let mut rest = Rest::End;
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'|' => {
                rest = Rest::Piped(split_around(path, i).1);
                break;
            }
            b'.' => {
                rest = after_dot(split_around(path, i).1);
                break;
            }
            b'*' | b'?' => wild = true,
            b'\\' => {
                let name = unescaped.get_or_insert_default();
                name.push_str(path.get(copied..i).unwrap_or_default());
                copied = i + 1;
                i += 1;
            }
            _ => {}
        }
        i += 1;
    }
    let last = path.get(copied..i.min(path.len())).unwrap_or_default();
    let name = match unescaped {
        Some(name) => Cow::Owned(name + last),
        None => Cow::Borrowed(last),
    };
    Key { name, wild, rest }
}

pub(super) fn place(path: &str) -> Place<'_> {
    if let Some(rest) = path.strip_prefix("#.") {
        return Place {
            at: At::Every(rest),
            rest: Rest::End,
        };
    }
    if path.starts_with("#(") || path.starts_with("#[") {
        return query_place(path);
    }
    let end = path.find(['.', '|']).unwrap_or(path.len());
    let (component, after) = split_around(path, end);
    let rest = match path.as_bytes().get(end) {
        Some(b'|') => Rest::Piped(after),
        Some(_) => after_dot(after),
        None => Rest::End,
    };
    let at = if component == "#" {
        At::Length
    } else if component.bytes().all(|b| b.is_ascii_digit()) {
        component.parse().map_or(At::Nowhere, At::Index)
    } else {
        At::Nowhere
    };
    Place { at, rest }
}

fn query_place(path: &str) -> Place<'_> {
    let Some((mut query, after)) = query(path) else {
        // Unclosed brackets are treated as a query that every element satisfies.
        return Place {
            at: At::Query(Query::default()),
            rest: Rest::End,
        };
    };
    query.all = after.starts_with('#');
    // Anything else before the next dot or pipe is ignored.
    let rest = match after.find(['.', '|']) {
        Some(end) if after.as_bytes().get(end) == Some(&b'|') => {
            Rest::Piped(split_around(after, end).1)
        }
        Some(end) => Rest::Within(split_around(after, end).1),
        None => Rest::End,
    };
    Place {
        at: At::Query(query),
        rest,
    }
}

/// Parses `#(path op value)` at the start of `text`, and also returns the rest.
fn query(text: &str) -> Option<(Query<'_>, &str)> {
    let bytes = text.as_bytes();
    let mut depth = 1_usize;
    let mut operator_at = None;
    let mut i = 2;
    loop {
        match *bytes.get(i)? {
            b'!' | b'=' | b'<' | b'>' | b'%' if depth == 1 && operator_at.is_none() => {
                operator_at = Some(i);
            }
            b'\\' => i += 1,
            b'(' | b'[' => depth += 1,
            b')' | b']' => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            b'"' => i = string_end(bytes, i) - 1,
            _ => {}
        }
        i += 1;
    }
    let after = text.get(i + 1..)?;
    let Some(operator_at) = operator_at else {
        return Some((
            Query {
                path: trim(text.get(2..i)?),
                ..Query::default()
            },
            after,
        ));
    };
    let comparison = trim(text.get(operator_at..i)?);
    let (operator, value) = ["!=", "!%", "<=", ">=", "==", "<", ">", "=", "%"]
        .into_iter()
        .find_map(|operator| Some((operator, comparison.strip_prefix(operator)?)))
        .unwrap_or(("", comparison));
    let value = trim(value);
    let value = if value.len() >= 2 && value.starts_with('"') && value.ends_with('"') {
        super::text::unquote(value.as_bytes())
    } else {
        Cow::Borrowed(value)
    };
    let operator = if operator == "==" { "=" } else { operator };
    Some((
        Query {
            path: trim(text.get(2..operator_at)?),
            operator,
            value,
            all: false,
        },
        after,
    ))
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

/// Splits `path` at the first pipe that is outside of queries and multipaths.
pub(super) fn split_pipe(path: &str) -> Option<(&str, &str)> {
    let bytes = path.as_bytes();
    if path.starts_with('{') {
        let end = value_end(bytes, 0);
        return (bytes.get(end) == Some(&b'|')).then(|| split_around(path, end));
    }
    let mut i = 0;
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'\\' => i += 2,
            b'|' => return Some(split_around(path, i)),
            b'.' if matches!(path.get(i + 1..i + 3), Some("#(" | "#[")) => {
                i = value_end(bytes, i + 2);
            }
            _ => i += 1,
        }
    }
    None
}

/// An entry of a multipath: `path` or `"name":path`.
pub(super) struct Entry<'p> {
    pub name: Option<&'p str>,
    pub path: &'p str,
}

/// Parses the multipath at the start of `path` (`{` or `[`), and also returns the rest. Returns `None` if its brackets
/// are not closed.
pub(super) fn multipath(path: &str) -> Option<(Vec<Entry<'_>>, &str)> {
    let bytes = path.as_bytes();
    let mut entries = Vec::new();
    let (mut depth, mut start, mut i) = (1_usize, 1_usize, 1_usize);
    let mut colon = None;
    // A colon after a modifier's name introduces its argument, not an entry's name.
    let mut in_modifier = false;
    loop {
        let byte = *bytes.get(i)?;
        match byte {
            b'\\' => i += 1,
            b'@' if matches!(bytes.get(i - 1), Some(b'.' | b'|')) => in_modifier = true,
            b':' if !in_modifier && colon.is_none() && depth == 1 => colon = Some(i),
            b'"' => i = string_end(bytes, i) - 1,
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && byte == b',') {
            let name = colon.and_then(|colon| path.get(start..colon));
            entries.push(Entry {
                name,
                path: path.get(colon.map_or(start, |c| c + 1)..i)?,
            });
            if depth == 0 {
                return Some((entries, path.get(i + 1..)?));
            }
            colon = None;
            in_modifier = false;
            start = i + 1;
        }
        i += 1;
    }
}

/// The name of an unnamed entry: its path's last component, or `_` if that is not a plain name.
pub(super) fn last_name(path: &str) -> &str {
    let bytes = path.as_bytes();
    let separates = |i: usize| {
        matches!(bytes.get(i), Some(b'.' | b'|')) && (i == 0 || bytes.get(i - 1) != Some(&b'\\'))
    };
    let start = (0..bytes.len())
        .rev()
        .find(|&i| separates(i))
        .map_or(0, |i| i + 1);
    let name = path.get(start..).unwrap_or_default();
    let plain = |b: u8| b >= b' ' && !b"[]{}()#|!".contains(&b);
    if name.bytes().all(plain) { name } else { "_" }
}
