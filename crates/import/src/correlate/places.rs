//! The parts of requests that may contain values: URLs, headers and bodies.

use super::candidates::Candidate;
use crate::journey::{Body, Json, Request};
use crate::text::{Piece, Text};
use crate::url;

/// Calls `found` with each part of a request that could be a value from an earlier response.
pub(super) fn tokens(request: &Request, found: &mut dyn FnMut(&str)) {
    for piece in &request.url.0 {
        if let Piece::Literal(literal) = piece {
            found(literal);
            let rest = url::split(literal).map_or(literal.as_str(), |(_, rest)| rest);
            found(rest);
            for part in rest.split(['/', '?', '&', '=', '#', ';', ',']) {
                token(part, found);
                let decoded = url::decode(part, true);
                if decoded != part {
                    token(&decoded, found);
                }
            }
        }
    }
    for (_, value) in &request.headers {
        literals(value, &mut |literal| {
            token(literal, found);
            literal
                .split([' ', ',', ';', '='])
                .for_each(|part| token(part, found));
        });
    }
    match &request.body {
        Body::None => {}
        Body::Text(text) => literals(text, &mut |literal| {
            words(literal).for_each(|word| token(word, found));
        }),
        Body::Json(json) => of_json(json, found),
        Body::Form(fields) => {
            for (_, value) in fields {
                literals(value, &mut |literal| token(literal, found));
            }
        }
        Body::Multipart(parts) => {
            for part in parts {
                literals(&part.value, &mut |literal| token(literal, found));
            }
        }
    }
}

fn token(text: &str, found: &mut dyn FnMut(&str)) {
    if !text.is_empty() {
        found(text);
    }
}

fn literals(text: &Text, found: &mut dyn FnMut(&str)) {
    for piece in &text.0 {
        if let Piece::Literal(literal) = piece {
            found(literal);
        }
    }
}

/// A word, and the parts of it that are separated by slashes and equals signs.
pub(super) fn parts(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split(['/', '=']).filter(move |part| *part != word);
    std::iter::once(word).chain(parts)
}

/// The parts of free text that could be a token.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_word = |char: char| char.is_ascii_alphanumeric() || "-_.~+/=".contains(char);
    text.split(move |char| !is_of_word(char))
}

fn of_json(json: &Json, found: &mut dyn FnMut(&str)) {
    match json {
        Json::Plain(plain) => token(plain, found),
        Json::Text(text) => literals(text, &mut |literal| {
            token(literal, found);
            words(literal).for_each(|word| token(word, found));
        }),
        Json::List(items) => items.iter().for_each(|item| of_json(item, found)),
        Json::Object(fields) => fields.iter().for_each(|(_, value)| of_json(value, found)),
    }
}

/// Replaces the value of a response with its variable. Returns whether it occurred.
pub(super) fn replace(request: &mut Request, candidate: &Candidate, variable: &str) -> bool {
    let value = candidate.value.as_str();
    let mut is_used = in_url(&mut request.url, candidate, variable);
    if candidate.is_url {
        return is_used;
    }
    for (_, text) in &mut request.headers {
        // Short values occur in too many headers by chance.
        is_used |= !candidate.is_short() && text.replace(value, variable, is_whole(value));
    }
    is_used
        | match &mut request.body {
            Body::None => false,
            Body::Text(text) => {
                !candidate.is_short() && text.replace(value, variable, is_whole(value))
            }
            Body::Json(json) => in_json(json, "", candidate, variable),
            Body::Form(fields) => {
                let fields = fields.iter_mut();
                let replaced = fields.map(|(name, text)| in_field(text, name, candidate, variable));
                replaced.fold(false, |any, one| any | one)
            }
            Body::Multipart(parts) => {
                let replaced = parts
                    .iter_mut()
                    .map(|part| in_field(&mut part.value, &part.name, candidate, variable));
                replaced.fold(false, |any, one| any | one)
            }
        }
}

fn in_url(text: &mut Text, candidate: &Candidate, variable: &str) -> bool {
    let value = candidate.value.as_str();
    if candidate.is_url {
        let Some(literal) = text.literal() else {
            return false;
        };
        let origin = url::split(literal)
            .map_or("", |(origin, _)| origin)
            .to_owned();
        let mut replaced = Text::default();
        if literal != value {
            if format!("{origin}{value}") != literal {
                return false;
            }
            replaced.push_literal(&origin);
        }
        replaced.push_code(variable);
        *text = replaced;
        return true;
    }
    let start = url::split(text.start()).map_or(0, |(origin, _)| origin.len());
    let in_path = is_part_of_url(start, value, candidate);
    let mut is_used = text.replace(value, variable, in_path);
    let encoded = url::encode(value);
    if encoded != value {
        let code = format!("encodeURIComponent({variable})");
        is_used |= text.replace(&encoded, &code, is_part_of_url(start, &encoded, candidate));
    }
    is_used
}

/// Whether an occurrence is a whole path segment or a whole query value. It must be after `start`.
fn is_part_of_url(
    start: usize,
    value: &str,
    candidate: &Candidate,
) -> impl Fn(&str, usize) -> bool {
    let (length, is_short) = (value.len(), candidate.is_short());
    move |literal, at| {
        let name = literal[..at].strip_suffix('=').map(|before| {
            let start = before.rfind(['?', '&', ';']).map_or(0, |at| at + 1);
            &before[start..]
        });
        if name.is_some_and(|name| !is_field_of(name, candidate)) {
            return false;
        }
        // Only the first piece contains the origin.
        let is_after_origin = at >= start || url::split(literal).is_none();
        let before = literal[..at].chars().next_back();
        let after = literal[at + length..].chars().next();
        let limits: &[char] = match is_short {
            true => &['/', '=', '?', '&', '#'],
            false => &[
                '/', '=', '?', '&', '#', ';', ',', ':', '.', '-', '_', '(', ')',
            ],
        };
        let is_limit = |char: Option<char>| char.is_none_or(|char| limits.contains(&char));
        is_after_origin && is_limit(before) && is_limit(after)
    }
}

/// Whether an occurrence is not part of a longer word.
fn is_whole(value: &str) -> impl Fn(&str, usize) -> bool {
    let length = value.len();
    let is_of_word = |char: char| char.is_alphanumeric() || char == '_';
    move |literal, at| {
        let before = literal[..at].chars().next_back();
        let after = literal[at + length..].chars().next();
        !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
    }
}

/// A field whose name matches may repeat a short value. Other fields may only repeat a longer value.
fn is_field_of(field: &str, candidate: &Candidate) -> bool {
    let field = field.to_ascii_lowercase();
    let name = candidate.name.to_ascii_lowercase();
    !candidate.is_short() || field.ends_with("id") || field == name || name.ends_with(&field)
}

fn in_field(text: &mut Text, field: &str, candidate: &Candidate, variable: &str) -> bool {
    let value = candidate.value.as_str();
    if text.literal() == Some(value) {
        let fits = is_field_of(field, candidate);
        if fits {
            *text = Text::default();
            text.push_code(variable);
        }
        return fits;
    }
    !candidate.is_short() && text.replace(value, variable, is_whole(value))
}

fn in_json(json: &mut Json, field: &str, candidate: &Candidate, variable: &str) -> bool {
    match json {
        Json::Plain(plain)
            if candidate.is_number
                && *plain == candidate.value
                && is_field_of(field, candidate) =>
        {
            let mut text = Text::default();
            text.push_code(variable);
            *json = Json::Text(text);
            true
        }
        Json::Plain(_) => false,
        Json::Text(text) => {
            let is_used = in_field(text, field, candidate, variable);
            if let ([Piece::Code(_)], true) = (text.0.as_slice(), candidate.is_number) {
                // Without this, the string would become a number.
                text.0.insert(0, Piece::Literal(String::new()));
            }
            is_used
        }
        Json::List(items) => {
            let items = items.iter_mut();
            let replaced = items.map(|item| in_json(item, field, candidate, variable));
            replaced.fold(false, |any, one| any | one)
        }
        Json::Object(fields) => {
            let fields = fields.iter_mut();
            let replaced = fields.map(|(name, value)| in_json(value, name, candidate, variable));
            replaced.fold(false, |any, one| any | one)
        }
    }
}

/// Replaces whole values of fields called `name` (only chars and digits, in lower case), and a bearer token if the
/// value is one. For sources without recorded responses. Values that already contain code stay as they are.
pub(super) fn replace_by_name(request: &mut Request, name: &str, variable: &str) -> bool {
    let mut is_used = false;
    let is_token = matches!(
        name,
        "token" | "accesstoken" | "idtoken" | "jwt" | "authtoken" | "sessiontoken"
    );
    for (header, text) in &mut request.headers {
        let is_authorization = header.eq_ignore_ascii_case("authorization");
        let has_bearer = text
            .literal()
            .is_some_and(|text| text.starts_with("Bearer "));
        if is_token && is_authorization && has_bearer {
            *text = Text::from("Bearer ");
            text.push_code(variable);
            is_used = true;
        } else if !is_authorization && plain(header).trim_start_matches('x') == name {
            is_used |= set(text, variable);
        }
    }
    match &mut request.body {
        Body::Json(json) => is_used |= json_by_name(json, "", name, variable),
        Body::Form(fields) => {
            let named = fields.iter_mut().filter(|(field, _)| plain(field) == name);
            for (_, text) in named {
                is_used |= set(text, variable);
            }
        }
        Body::None | Body::Text(_) | Body::Multipart(_) => {}
    }
    is_used
}

fn set(text: &mut Text, variable: &str) -> bool {
    let is_literal = text.literal().is_some();
    if is_literal {
        *text = Text::default();
        text.push_code(variable);
    }
    is_literal
}

fn json_by_name(json: &mut Json, field: &str, name: &str, variable: &str) -> bool {
    match json {
        Json::Text(text) if plain(field) == name => set(text, variable),
        Json::Plain(_) | Json::Text(_) => false,
        Json::List(items) => {
            let items = items.iter_mut();
            let replaced = items.map(|item| json_by_name(item, field, name, variable));
            replaced.fold(false, |any, one| any | one)
        }
        Json::Object(fields) => {
            let fields = fields.iter_mut();
            let replaced = fields.map(|(field, value)| json_by_name(value, field, name, variable));
            replaced.fold(false, |any, one| any | one)
        }
    }
}

/// Replaces a constant with a variable. Returns whether it occurred.
pub(super) fn replace_code(request: &mut Request, constant: &str, variable: &str) -> bool {
    let mut is_used = false;
    each_text(request, &mut |text| {
        for piece in &mut text.0 {
            if let Piece::Code(code) = piece {
                let encoded = format!("encodeURIComponent({constant})");
                if *code == encoded {
                    *code = format!("encodeURIComponent({variable})");
                    is_used = true;
                } else if code == constant {
                    variable.clone_into(code);
                    is_used = true;
                }
            }
        }
    });
    is_used
}

/// Calls `visit` with each string of a request.
pub(super) fn each_text(request: &mut Request, visit: &mut dyn FnMut(&mut Text)) {
    visit(&mut request.url);
    request.headers.iter_mut().for_each(|(_, text)| visit(text));
    match &mut request.body {
        Body::None => {}
        Body::Text(text) => visit(text),
        Body::Json(json) => each_of_json(json, visit),
        Body::Form(fields) => fields.iter_mut().for_each(|(_, text)| visit(text)),
        Body::Multipart(parts) => parts.iter_mut().for_each(|part| visit(&mut part.value)),
    }
}

fn each_of_json(json: &mut Json, visit: &mut dyn FnMut(&mut Text)) {
    match json {
        Json::Plain(_) => {}
        Json::Text(text) => visit(text),
        Json::List(items) => items.iter_mut().for_each(|item| each_of_json(item, visit)),
        Json::Object(fields) => {
            fields
                .iter_mut()
                .for_each(|(_, value)| each_of_json(value, visit));
        }
    }
}

/// A name in lower case, without separators.
pub(super) fn plain(name: &str) -> String {
    let chars = name.chars().filter(char::is_ascii_alphanumeric);
    chars.map(|char| char.to_ascii_lowercase()).collect()
}
