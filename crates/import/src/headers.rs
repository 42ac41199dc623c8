//! Selects the request headers that a script needs.

use crate::text::Text;

/// Headers that the connection, the cookie jar or the body determines, and those that only a browser's cache or privacy
/// rules need.
const LEFT_OUT: &[&str] = &[
    "host",
    "connection",
    "proxy-connection",
    "keep-alive",
    "content-length",
    "transfer-encoding",
    "te",
    "upgrade",
    "cookie",
    "cookie2",
    "accept-charset",
    "cache-control",
    "pragma",
    "if-none-match",
    "if-modified-since",
    "upgrade-insecure-requests",
    "dnt",
    "priority",
    "purpose",
    "save-data",
    "range",
    "x-client-data",
    "alt-used",
    "postman-token",
    "expect",
];

/// Content codings that scripts can decode.
const CODINGS: &[&str] = &["gzip", "deflate", "br", "zstd"];

/// The headers that may matter to the server, without those that the script sends itself.
pub fn needed(method: &str, headers: Vec<(String, Text)>) -> Vec<(String, Text)> {
    let mut needed: Vec<(String, Text)> = Vec::new();
    for (name, value) in headers {
        let lower = name.to_ascii_lowercase();
        let is_safe = matches!(method, "GET" | "HEAD");
        let is_left_out = name.is_empty()
            || lower.starts_with(':')
            || lower.starts_with("sec-")
            || LEFT_OUT.contains(&lower.as_str())
            // Servers check these to detect forged forms. Forms do not use other methods.
            || is_safe && matches!(lower.as_str(), "origin" | "referer");
        if is_left_out {
            continue;
        }
        let value = match (lower.as_str(), value.literal()) {
            ("accept-encoding", Some(text)) => codings(text).into(),
            _ => value,
        };
        // If a name repeats, the last value counts, as in the parameters of a request.
        needed.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        needed.push((canonical(&name), value));
    }
    needed
}

fn codings(text: &str) -> String {
    let all = text.split(',').map(str::trim);
    let known = all.filter(|coding| {
        let name = coding.split(';').next().unwrap_or_default().trim();
        CODINGS.contains(&name)
    });
    known.collect::<Vec<_>>().join(", ")
}

/// A header's name with the capitalization that scripts see in responses: `X-Csrf-Token`.
pub fn canonical(name: &str) -> String {
    let mut canonical = String::with_capacity(name.len());
    let mut is_first = true;
    for char in name.chars() {
        match is_first {
            true => canonical.extend(char.to_uppercase()),
            false => canonical.extend(char.to_lowercase()),
        }
        is_first = char == '-';
    }
    canonical
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_browser_are_left_out() {
        let given = [
            (":authority", "h"),
            ("host", "h"),
            ("accept", "text/html"),
            ("accept-encoding", "gzip, deflate, br, zstd, dcb"),
            ("sec-fetch-mode", "navigate"),
            ("referer", "http://h/"),
            ("x-csrf-token", "a"),
            ("X-CSRF-Token", "b"),
            ("cookie", "a=b"),
        ];
        let headers = |method| {
            let all = given.map(|(name, value)| (name.to_owned(), value.into()));
            let needed = needed(method, all.into());
            let lines = needed
                .iter()
                .map(|(name, value)| format!("{name}: {}", value.shown()));
            lines.collect::<Vec<_>>()
        };
        assert_eq!(
            headers("GET"),
            [
                "Accept: text/html",
                "Accept-Encoding: gzip, deflate, br, zstd",
                "X-Csrf-Token: b"
            ]
        );
        assert_eq!(headers("POST").len(), 4);
    }
}
