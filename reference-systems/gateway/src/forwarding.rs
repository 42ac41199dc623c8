//! Rewrites the headers of forwarded messages: removes those that apply to a single connection (RFC
//! 9110, section 7.6.1), and adds the gateway's own.

use hyper::Version;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE, VIA,
};

use crate::config::{Forwarded, HeaderRules, Wire};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED: HeaderName = HeaderName::from_static("forwarded");

/// Information about the client's connection.
pub struct Client {
    /// Its address, as text.
    pub address: HeaderValue,
    pub encrypted: bool,
    pub forwarded: Forwarded,
}

/// Changes a request's headers to those for the upstream. `host` is the host that the client
/// requested.
pub fn to_upstream(
    headers: &mut HeaderMap,
    version: Version,
    client: &Client,
    host: Option<&HeaderValue>,
    wire: Wire,
) {
    let trailers = wire == Wire::H2
        && tokens(headers, &TE).any(|token| token.eq_ignore_ascii_case("trailers"));
    remove_connection_headers(headers);
    // The gateway itself requests and frames the body.
    for name in [
        PROXY_AUTHORIZATION,
        EXPECT,
        CONTENT_LENGTH,
        HTTP2_SETTINGS,
        HOST,
    ] {
        headers.remove(name);
    }
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    // HTTP/2 may split cookies into several fields; HTTP/1.1 needs a single one (RFC 9113, section
    // 8.2.3).
    if wire == Wire::H1 && headers.get_all(COOKIE).iter().nth(1).is_some() {
        join(headers, COOKIE, b"; ", None);
    }
    let proto = HeaderValue::from_static(if client.encrypted { "https" } else { "http" });
    if client.forwarded == Forwarded::Replace {
        for name in [FORWARDED, FORWARDED_FOR, FORWARDED_PROTO, FORWARDED_HOST] {
            headers.remove(name);
        }
        headers.insert(FORWARDED_FOR, client.address.clone());
    } else {
        join(headers, FORWARDED_FOR, b", ", Some(&client.address));
    }
    headers.entry(FORWARDED_PROTO).or_insert(proto);
    if let Some(host) = host {
        let field = headers.entry(FORWARDED_HOST);
        field.or_insert_with(|| host.clone());
    }
    let via = match version {
        Version::HTTP_2 => "2 plimsoll",
        Version::HTTP_10 => "1.0 plimsoll",
        _ => "1.1 plimsoll",
    };
    headers.append(VIA, HeaderValue::from_static(via));
}

/// Changes a response's headers to those for the client.
pub fn to_client(headers: &mut HeaderMap) {
    remove_connection_headers(headers);
    headers.remove(PROXY_AUTHENTICATE);
}

/// The number of entries for this gateway in Via. A high number indicates a loop.
pub fn rounds(headers: &HeaderMap) -> usize {
    tokens(headers, &VIA)
        .filter(|entry| entry.ends_with("plimsoll"))
        .count()
}

/// The parts of a list that one or several fields contain.
pub fn tokens<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let texts = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).map(str::trim)
}

/// Removes the headers that apply to a single connection, and those that Connection names.
fn remove_connection_headers(headers: &mut HeaderMap) {
    if headers.contains_key(CONNECTION) {
        // `close` and `keep-alive` are not names of other headers.
        let named: Vec<HeaderName> = tokens(headers, &CONNECTION)
            .filter_map(|token| token.parse().ok())
            .collect();
        for name in named {
            headers.remove(name);
        }
        headers.remove(CONNECTION);
    }
    for name in [KEEP_ALIVE, PROXY_CONNECTION, TE, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
}

/// Joins the fields of a name, and one more value.
fn join(headers: &mut HeaderMap, name: HeaderName, by: &[u8], last: Option<&HeaderValue>) {
    let values = headers.get_all(&name).iter().chain(last);
    let values: Vec<&[u8]> = values.map(HeaderValue::as_bytes).collect();
    // Joining valid values with a valid separator gives a valid value.
    if let Ok(joined) = HeaderValue::from_bytes(&values.join(by)) {
        headers.insert(name, joined);
    }
}

/// Applies a route's rules.
pub fn apply(rules: &HeaderRules, headers: &mut HeaderMap) {
    for name in &rules.remove {
        headers.remove(name);
    }
    for (name, value) in &rules.set {
        headers.insert(name, value.clone());
    }
    for (name, value) in &rules.add {
        headers.append(name, value.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_fields_depend_on_the_protocol_or_are_extended() {
        let fields = [
            ("te", "trailers"),
            ("cookie", "a=1"),
            ("cookie", "b=2"),
            ("x-forwarded-for", "1.2.3.4"),
            ("x-forwarded-for", "5.6.7.8"),
            ("x-forwarded-proto", "http"),
        ];
        for (wire, own, value) in [
            (Wire::H1, "cookie", "a=1; b=2"),
            (Wire::H2, "te", "trailers"),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.append(name, HeaderValue::from_static(value));
            }
            let client = Client {
                address: HeaderValue::from_static("10.0.0.9"),
                encrypted: true,
                forwarded: Forwarded::Append,
            };
            to_upstream(&mut headers, Version::HTTP_11, &client, None, wire);
            assert_eq!(headers[own], value);
            assert_eq!(headers[FORWARDED_FOR], "1.2.3.4, 5.6.7.8, 10.0.0.9");
            assert_eq!(headers[FORWARDED_PROTO], "http");
            assert_eq!(headers.contains_key(TE), wire == Wire::H2);
        }
    }
}
