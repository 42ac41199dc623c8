//! Values of a response that later requests may use, and the code to extract them in a script.

use serde_json::Value;

use crate::headers::canonical;
use crate::javascript::string;
use crate::journey::Response;
use crate::url;

/// A value of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub value: String,
    /// The value's name: a key, a field or a header.
    pub name: String,
    /// The JavaScript expression that reads it from `response`.
    pub code: String,
    /// The value's location, for messages.
    pub place: String,
    /// Whether the value is a URL or a path that later requests use as a whole.
    pub is_url: bool,
    /// Whether the expression's value is a number.
    pub is_number: bool,
    /// Whether it is a cookie. The script sends cookies anyway.
    pub is_cookie: bool,
}

/// Maximum number of values to examine in one response.
const MAX_VALUES: usize = 20_000;
/// Maximum length of a value in bytes.
const MAX_LENGTH: usize = 16 << 10;

/// Last words of names whose values a server probably generates for each user or request.
const NAMES: &[&str] = &[
    "id",
    "token",
    "csrf",
    "xsrf",
    "nonce",
    "session",
    "uuid",
    "guid",
    "ticket",
    "cursor",
    "viewstate",
    "jwt",
    "sid",
];
/// Last words that also occur in names of values from a fixed list, such as a country code.
const AMBIGUOUS_NAMES: &[&str] = &[
    "state",
    "ref",
    "secret",
    "etag",
    "validation",
    "key",
    "location",
    "code",
    "hash",
    "number",
];

impl Candidate {
    /// Whether the server has probably generated the value for this user or request.
    pub fn is_plausible(&self) -> bool {
        let value = self.value.as_str();
        if value.is_empty() || value.len() > MAX_LENGTH || value.chars().any(char::is_control) {
            return false;
        }
        if self.is_url {
            return true;
        }
        let is_constant = matches!(value, "0" | "1" | "-1" | "true" | "false" | "null");
        let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
        let is_named = |names: &[&str]| names.iter().any(|end| ends_with_word(&self.name, end));
        is_random(value)
            || is_named(NAMES) && !is_constant
            || is_named(AMBIGUOUS_NAMES) && has_digit && value.len() >= 4
    }

    /// Whether the value is too short to search for it inside other text.
    pub fn is_short(&self) -> bool {
        self.value.len() < 6
    }
}

/// Whether this is the last word of a name: `id` is the last word of `userId`, `user_id` and `ID`, but not of `paid`.
fn ends_with_word(name: &str, word: &str) -> bool {
    let start = name.len().checked_sub(word.len());
    let Some((before, end)) = start.and_then(|start| name.split_at_checked(start)) else {
        return false;
    };
    let last = before.chars().next_back();
    let begins_word = match last {
        None => true,
        Some(last) if !last.is_ascii_alphanumeric() => true,
        Some(last) => {
            end.starts_with(|char: char| char.is_ascii_uppercase()) && last.is_ascii_lowercase()
        }
    };
    // A longer word is rarely the end of another word by chance.
    end.eq_ignore_ascii_case(word) && (begins_word || word.len() > 3)
}

/// Whether a string looks as if a program had generated it: long, with letters and digits.
pub(super) fn is_random(text: &str) -> bool {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(&byte);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let has_both = digits >= 2 && letters >= 2;
    // Names of files and versions contain dots and few digits.
    let is_file = text.rsplit_once('.').is_some_and(|(_, end)| end.len() <= 5);
    text.len() >= 8
        && text.len() <= MAX_LENGTH
        && text.bytes().all(is_of_token)
        && !text.contains("//")
        && !is_file
        && (has_both || digits >= 9)
}

/// All values of a response that have a name.
pub(super) fn candidates(response: &Response) -> Vec<Candidate> {
    let mut found = Vec::new();
    if let Ok(json) = serde_json::from_str::<Value>(&response.body) {
        leaves(&json, &mut Vec::new(), &mut found);
    } else {
        fields_of_html(&response.body, &mut found);
    }
    for (name, value) in &response.headers {
        match name.to_ascii_lowercase().as_str() {
            "set-cookie" => value.split('\n').for_each(|line| cookie(line, &mut found)),
            "date" | "expires" | "last-modified" | "content-length" | "age" => {}
            lower => header(lower == "location", name, value, response, &mut found),
        }
    }
    found
}

fn header(
    is_location: bool,
    name: &str,
    value: &str,
    response: &Response,
    found: &mut Vec<Candidate>,
) {
    let code = format!("response.headers[{}]", string(&canonical(name)));
    let place = format!("the header {}", canonical(name));
    found.push(Candidate {
        value: value.to_owned(),
        name: name.to_owned(),
        code: code.clone(),
        place: place.clone(),
        is_url: is_location,
        is_number: false,
        is_cookie: false,
    });
    if is_location {
        // The last part of the path is usually the identifier of the resource that was created.
        let target = url::join(&response.url, value);
        let path = target.split(['?', '#']).next().unwrap_or_default();
        if let Some((_, last)) = path.trim_end_matches('/').rsplit_once('/') {
            found.push(Candidate {
                value: last.to_owned(),
                name: "createdId".to_owned(),
                code: format!("({code} || '').split('?')[0].split('/').pop()"),
                place,
                is_url: false,
                is_number: false,
                is_cookie: false,
            });
        }
    }
}

fn cookie(line: &str, found: &mut Vec<Candidate>) {
    let pair = line.split(';').next().unwrap_or_default();
    let Some((name, value)) = pair.split_once('=') else {
        return;
    };
    let (name, value) = (name.trim(), value.trim());
    let code = format!(
        "http.cookieJar().cookiesForURL(response.url)[{}]?.[0]",
        string(name)
    );
    let decoded = url::decode(value, false);
    let mut push = |value: &str, code: String| {
        found.push(Candidate {
            value: value.to_owned(),
            // A cookie that a request repeats elsewhere is a token, whatever its name is.
            name: format!("{name}-token"),
            code,
            place: format!("the cookie {name}"),
            is_url: false,
            is_number: false,
            is_cookie: true,
        });
    };
    push(value, code.clone());
    if decoded != value {
        push(&decoded, format!("decodeURIComponent({code} || '')"));
    }
}

/// Collects the strings and numbers in JSON. The parser limits the depth.
fn leaves(value: &Value, path: &mut Vec<String>, found: &mut Vec<Candidate>) {
    if found.len() >= MAX_VALUES {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                path.push(key.clone());
                leaves(value, path, found);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                path.push(at.to_string());
                leaves(value, path, found);
                path.pop();
            }
        }
        Value::String(_) | Value::Number(_) => {
            let text = match value {
                Value::String(text) => text.clone(),
                number => number.to_string(),
            };
            let keys = path.iter().rev();
            let key = keys
                .clone()
                .find(|key| !key.bytes().all(|byte| byte.is_ascii_digit()));
            let key = key.map_or("value", String::as_str);
            // `id` alone is ambiguous, so add the name of the enclosing object.
            let mut above = keys.skip_while(|part| *part != key).skip(1);
            let owner = above.find(|key| !key.bytes().all(|byte| byte.is_ascii_digit()));
            let name = match owner {
                Some(owner) if key.len() <= 3 => format!("{owner}-{key}"),
                _ => key.to_owned(),
            };
            let is_link = matches!(
                key.to_ascii_lowercase().as_str(),
                "href"
                    | "url"
                    | "uri"
                    | "next"
                    | "location"
                    | "self"
                    | "link"
                    | "action"
                    | "redirect"
            );
            found.push(Candidate {
                is_number: value.is_number(),
                is_cookie: false,
                is_url: is_link && (text.starts_with('/') || text.starts_with("http")),
                value: text,
                name,
                code: format!("response.json({})", string(&json_path(path))),
                place: format!("the field {} of the body", path.join(".")),
            });
        }
        _ => {}
    }
}

/// The path of a value for `response.json()`. Dots separate keys.
pub(crate) fn json_path(path: &[String]) -> String {
    let mut whole = String::new();
    for key in path {
        if !whole.is_empty() {
            whole.push('.');
        }
        for char in key.chars() {
            if matches!(
                char,
                '.' | '*'
                    | '?'
                    | '|'
                    | '#'
                    | '@'
                    | '\\'
                    | '!'
                    | '{'
                    | '}'
                    | '['
                    | ']'
                    | '('
                    | ')'
                    | '='
                    | '<'
                    | '>'
                    | '%'
                    | '"'
                    | ':'
                    | '~'
            ) {
                whole.push('\\');
            }
            whole.push(char);
        }
    }
    whole
}

/// Collects the values of a page's fields and metadata.
fn fields_of_html(text: &str, found: &mut Vec<Candidate>) {
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let Some(end) = rest.find('>') else { return };
        let (tag, after) = rest.split_at(end);
        let name = tag
            .split(|char: char| char.is_ascii_whitespace() || char == '/')
            .next();
        let (selector, attribute) = match name.unwrap_or_default().to_ascii_lowercase().as_str() {
            "input" => ("input", "value"),
            "meta" => ("meta", "content"),
            _ => continue,
        };
        rest = after;
        let (Some(name), Some(value)) = (attribute_of(tag, "name"), attribute_of(tag, attribute))
        else {
            continue;
        };
        if found.len() >= MAX_VALUES {
            return;
        }
        let find = format!("{selector}[name=\"{}\"]", name.replace(['"', '\\'], ""));
        found.push(Candidate {
            value,
            code: format!(
                "response.html().find({}).first().attr({})",
                string(&find),
                string(attribute)
            ),
            place: format!("the element {find}"),
            name,
            is_url: false,
            is_number: false,
            is_cookie: false,
        });
    }
}

/// The value of an attribute in a tag. The text is the part between `<` and `>`.
fn attribute_of(tag: &str, wanted: &str) -> Option<String> {
    let mut rest = tag;
    while let Some(at) = rest.find('=') {
        let (before, after) = rest.split_at(at);
        let name = before
            .trim_end()
            .rsplit(|char: char| char.is_ascii_whitespace())
            .next();
        let after = after[1..].trim_start();
        let (value, end) = match after.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inner = &after[1..];
                let end = inner.find(quote)?;
                (&inner[..end], &inner[end + 1..])
            }
            _ => {
                let end = after.find(|char: char| char.is_ascii_whitespace());
                after.split_at(end.unwrap_or(after.len()))
            }
        };
        if name.is_some_and(|name| name.eq_ignore_ascii_case(wanted)) {
            let value = value
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&lt;", "<");
            return Some(value.replace("&gt;", ">").replace("&amp;", "&"));
        }
        rest = end;
    }
    None
}

/// A value inside text, found by the text before it.
pub(super) fn in_text(response: &Response, value: &str) -> Option<Candidate> {
    let at_end_of_url = response.url.find(value);
    let (text, source, place) = match (response.body.find(value), at_end_of_url) {
        (Some(_), _) => (&response.body, "response.body", "the text of the body"),
        (_, Some(_)) => (&response.url, "response.url", "the URL after redirects"),
        _ => return None,
    };
    let at = text.find(value)?;
    let after: String = text[at + value.len()..].chars().take(1).collect();
    // Use the shortest text before the value that does not occur earlier.
    for length in [6, 12, 24, 48] {
        let start = text.floor_char_boundary(at.saturating_sub(length));
        let before = &text[start..at];
        if before.is_empty() || text.find(before) != Some(start) {
            continue;
        }
        let end = match after.as_str() {
            "" => String::new(),
            after => expression(after),
        };
        let pattern = format!(
            "{}([A-Za-z0-9._~+/=-]+?){}",
            expression(before),
            if end.is_empty() { "$".to_owned() } else { end }
        );
        let mut words = before.split(|char: char| !char.is_ascii_alphanumeric());
        let name = words.rfind(|word| word.len() > 1).unwrap_or("value");
        return Some(Candidate {
            value: value.to_owned(),
            name: name.to_owned(),
            code: format!("{source}.match(/{pattern}/)?.[1]"),
            place: place.to_owned(),
            is_url: false,
            is_number: false,
            is_cookie: false,
        });
    }
    None
}

/// Escapes text for a regular expression.
fn expression(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            char if char.is_ascii_alphanumeric()
                || matches!(
                    char,
                    ' ' | '_'
                        | '"'
                        | '\''
                        | '='
                        | '<'
                        | '>'
                        | '&'
                        | ','
                        | ';'
                        | ':'
                        | '@'
                        | '%'
                        | '#'
                ) =>
            {
                escaped.push(char);
            }
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            char if char.is_ascii_graphic() => {
                escaped.push('\\');
                escaped.push(char);
            }
            char => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Vec<(String, String)> {
        let response = Response {
            body: body.to_owned(),
            ..Response::default()
        };
        let found = candidates(&response).into_iter();
        found.map(|it| (it.value, it.code)).collect()
    }

    #[test]
    fn json_has_a_path_for_each_value() {
        assert_eq!(
            of(r#"{"a.b":[{"id":7}],"t":"x","n":null}"#),
            [
                ("7".to_owned(), "response.json('a\\\\.b.0.id')".to_owned()),
                ("x".to_owned(), "response.json('t')".to_owned()),
            ]
        );
    }

    #[test]
    fn fields_of_pages_are_found() {
        let page = r#"<html><meta name=csrf content="a&amp;b"><form><INPUT type='hidden' name='_token' value='tok"en'/>"#;
        let found = of(page);
        assert_eq!(found[0].0, "a&b");
        assert_eq!(found[1].0, "tok\"en");
        assert!(found[1].1.contains("input[name=\"_token\"]"), "{found:?}");
        assert!(of("<input name= value").is_empty());
        assert!(of("<").is_empty());
    }

    #[test]
    fn a_value_is_found_by_the_text_around_it() {
        let response = Response {
            body: "<a href=\"/orders/8f3a2b91c\">one</a>".to_owned(),
            ..Response::default()
        };
        let found = in_text(&response, "8f3a2b91c").unwrap();
        assert_eq!(
            found.code,
            r#"response.body.match(/rders\/([A-Za-z0-9._~+/=-]+?)"/)?.[1]"#
        );
        assert_eq!(found.name, "rders");
        assert_eq!(in_text(&response, "absent123"), None);
    }

    #[test]
    fn names_show_which_values_a_server_generates() {
        for (name, value, expected) in [
            ("userId", "7", true),
            ("id", "12", true),
            ("order_id", "a", true),
            ("accessToken", "short", true),
            ("paid", "19.5", false),
            ("valid", "yes", false),
            ("countryCode", "DE", false),
            ("statusCode", "available", false),
            ("code", "A81-22", true),
            ("state", "open", false),
            ("name", "Ann", false),
            ("id", "1", false),
            ("note", "8f3a2b91c0", true),
        ] {
            let candidate = Candidate {
                value: value.to_owned(),
                name: name.to_owned(),
                code: String::new(),
                place: String::new(),
                is_url: false,
                is_number: false,
                is_cookie: false,
            };
            assert_eq!(candidate.is_plausible(), expected, "{name}: {value}");
        }
    }

    #[test]
    fn generated_text_is_distinguished_from_words() {
        for text in [
            "8f3a2b91c0",
            "eyJhbGci.eyJzdWIi.c2ln12",
            "550e8400-e29b-41d4-a716-446655440000",
            "1234567890",
        ] {
            assert!(is_random(text), "{text}");
        }
        for text in [
            "checkout",
            "main.3f2a1b.js",
            "v1.2",
            "2024",
            "a b c 1 2 3 4",
            "application/json",
        ] {
            assert!(!is_random(text), "{text}");
        }
    }
}
