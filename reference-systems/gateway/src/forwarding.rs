//! Changes to the headers of forwarded messages: headers of a single connection are removed (RFC
//! 9110, section 7.6.1), and the gateway's are added.

use hyper::Version;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, Entry, HOST, HeaderMap, HeaderName, HeaderValue,
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

/// The gateway's name in Via.
const PSEUDONYM: &str = "plimsoll";

/// Facts about the client's connection.
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
        && headers.get(TE).is_some_and(|te| {
            let te = te.to_str().unwrap_or_default();
            te.split(',')
                .any(|part| part.trim().eq_ignore_ascii_case("trailers"))
        });
    take_out_connection(headers);
    headers.remove(PROXY_AUTHORIZATION);
    // The gateway itself requests and frames the body.
    headers.remove(EXPECT);
    headers.remove(CONTENT_LENGTH);
    headers.remove(HTTP2_SETTINGS);
    headers.remove(HOST);
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    if wire == Wire::H1 {
        join_cookies(headers);
    }
    add_forwarded(headers, client, host);
    let via = match version {
        Version::HTTP_2 => HeaderValue::from_static("2 plimsoll"),
        Version::HTTP_10 => HeaderValue::from_static("1.0 plimsoll"),
        _ => HeaderValue::from_static("1.1 plimsoll"),
    };
    headers.append(VIA, via);
}

/// Changes a response's headers to those for the client.
pub fn to_client(headers: &mut HeaderMap) {
    take_out_connection(headers);
    headers.remove(PROXY_AUTHENTICATE);
}

/// The number of times that this gateway is in Via: many mean a loop.
pub fn rounds(headers: &HeaderMap) -> usize {
    let fields = headers.get_all(VIA).iter();
    fields
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter(|entry| entry.trim().ends_with(PSEUDONYM))
        .count()
}

/// Removes headers of a single connection, and those that Connection names.
fn take_out_connection(headers: &mut HeaderMap) {
    if let Entry::Occupied(connection) = headers.entry(CONNECTION) {
        let (_, values) = connection.remove_entry_mult();
        let named: Vec<HeaderName> = values
            .flat_map(|value| {
                let text = value.to_str().unwrap_or_default();
                // `close` and `keep-alive` are not names of headers.
                text.split(',')
                    .filter_map(|token| token.trim().parse().ok())
                    .collect::<Vec<_>>()
            })
            .collect();
        for name in named {
            headers.remove(name);
        }
    }
    for name in [KEEP_ALIVE, PROXY_CONNECTION, TE, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
}

/// HTTP/2 may split cookies into several fields; HTTP/1.1 needs a single one (RFC 9113, section
/// 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let mut cookies = headers.get_all(COOKIE).iter();
    if cookies.next().is_none() || cookies.next().is_none() {
        return;
    }
    let all: Vec<&[u8]> = headers
        .get_all(COOKIE)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    // Valid values joined by a valid separator are a valid value.
    if let Ok(joined) = HeaderValue::from_bytes(&all.join(&b"; "[..])) {
        headers.insert(COOKIE, joined);
    }
}

fn add_forwarded(headers: &mut HeaderMap, client: &Client, host: Option<&HeaderValue>) {
    let proto = HeaderValue::from_static(if client.encrypted { "https" } else { "http" });
    match client.forwarded {
        Forwarded::Replace => {
            headers.remove(FORWARDED);
            headers.insert(FORWARDED_FOR, client.address.clone());
            headers.insert(FORWARDED_PROTO, proto);
            match host {
                Some(host) => headers.insert(FORWARDED_HOST, host.clone()),
                None => headers.remove(FORWARDED_HOST),
            };
        }
        Forwarded::Append => {
            let mut chain: Vec<&[u8]> = headers
                .get_all(FORWARDED_FOR)
                .iter()
                .map(HeaderValue::as_bytes)
                .collect();
            chain.push(client.address.as_bytes());
            if let Ok(chain) = HeaderValue::from_bytes(&chain.join(&b", "[..])) {
                headers.insert(FORWARDED_FOR, chain);
            }
            headers.entry(FORWARDED_PROTO).or_insert(proto);
            if let Some(host) = host {
                headers
                    .entry(FORWARDED_HOST)
                    .or_insert_with(|| host.clone());
            }
        }
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

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        fields
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    fn client(forwarded: Forwarded) -> Client {
        Client {
            address: HeaderValue::from_static("10.0.0.9"),
            encrypted: true,
            forwarded,
        }
    }

    #[test]
    fn headers_of_one_connection_are_not_forwarded() {
        let mut sent = headers(&[
            ("connection", "close, x-private"),
            ("x-private", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "gzip"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("http2-settings", "AAAA"),
            ("proxy-connection", "keep-alive"),
            ("proxy-authorization", "Basic eA=="),
            ("expect", "100-continue"),
            ("host", "a.test"),
            ("accept", "*/*"),
        ]);
        let host = HeaderValue::from_static("a.test");
        to_upstream(
            &mut sent,
            Version::HTTP_11,
            &client(Forwarded::Replace),
            Some(&host),
            Wire::H1,
        );
        let mut names: Vec<_> = sent.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "accept",
                "via",
                "x-forwarded-for",
                "x-forwarded-host",
                "x-forwarded-proto"
            ]
        );
        assert_eq!(sent[VIA], "1.1 plimsoll");
        assert_eq!(rounds(&sent), 1);
    }

    #[test]
    fn trailers_are_requested_only_over_http2() {
        for (wire, kept) in [(Wire::H1, false), (Wire::H2, true)] {
            let mut sent = headers(&[("te", "trailers")]);
            to_upstream(
                &mut sent,
                Version::HTTP_2,
                &client(Forwarded::Replace),
                None,
                wire,
            );
            assert_eq!(sent.contains_key(TE), kept);
        }
    }

    #[test]
    fn forwarded_headers_are_replaced_unless_configured_otherwise() {
        let said = || {
            let mut said = headers(&[
                ("x-forwarded-for", "1.2.3.4"),
                ("x-forwarded-proto", "http"),
            ]);
            said.append(FORWARDED_FOR, HeaderValue::from_static("5.6.7.8"));
            said
        };
        let mut sent = said();
        to_upstream(
            &mut sent,
            Version::HTTP_11,
            &client(Forwarded::Replace),
            None,
            Wire::H1,
        );
        assert_eq!(sent[FORWARDED_FOR], "10.0.0.9");
        assert_eq!(sent[FORWARDED_PROTO], "https");
        let mut sent = said();
        to_upstream(
            &mut sent,
            Version::HTTP_11,
            &client(Forwarded::Append),
            None,
            Wire::H1,
        );
        assert_eq!(sent[FORWARDED_FOR], "1.2.3.4, 5.6.7.8, 10.0.0.9");
        assert_eq!(sent[FORWARDED_PROTO], "http");
    }

    #[test]
    fn cookies_are_joined_for_http1() {
        let mut sent = headers(&[("cookie", "a=1")]);
        sent.append(COOKIE, HeaderValue::from_static("b=2"));
        join_cookies(&mut sent);
        assert_eq!(
            sent.get_all(COOKIE).iter().collect::<Vec<_>>(),
            ["a=1; b=2"]
        );
    }
}
