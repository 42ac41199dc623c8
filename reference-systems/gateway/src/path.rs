//! The path of a request: normalized for selecting a route, and rewritten for the upstream.

use std::borrow::Cow;

use hyper::http::uri::{Authority, PathAndQuery, Scheme};
use hyper::{Uri, Version};

use crate::config::{Rewrite, Route, Wire};
use crate::refusal::Refusal;

/// The path in the form in which servers see it after decoding: another spelling of a path must not bypass its route.
///
/// Decodes `%XX` once and merges slashes, as nginx does before it selects a location. It rejects
/// what nginx rejects, and also the segments `.` and `..`, which nginx would resolve.
pub fn normalized(path: &str) -> Result<Cow<'_, str>, Refusal> {
    if !path.starts_with('/') {
        // `OPTIONS *` is for the gateway itself, which does not support it.
        return Err(Refusal::bad("the target is not a path"));
    }
    let normal = if path.contains('%') || path.contains("//") {
        Cow::Owned(decoded(path)?)
    } else {
        Cow::Borrowed(path)
    };
    let dots = |segment: &str| segment == "." || segment == "..";
    if path.contains('\\') {
        return Err(Refusal::bad("the path has '\\' in it"));
    }
    if (normal.contains("/.") || normal.contains('\\')) && normal.split(['/', '\\']).any(dots) {
        return Err(Refusal::bad("the path has '.' or '..' in it"));
    }
    Ok(normal)
}

fn decoded(path: &str) -> Result<String, Refusal> {
    let mut bytes = path.bytes();
    let mut decoded = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte.unwrap_or(b'x')).to_digit(16);
                match (digit(bytes.next()), digit(bytes.next())) {
                    // Two hexadecimal digits fit into a byte.
                    (Some(high), Some(low)) => (high * 16 + low) as u8,
                    _ => return Err(Refusal::bad("the path has a broken % in it")),
                }
            }
            byte => byte,
        };
        match byte {
            0 => return Err(Refusal::bad("the path has a zero byte in it")),
            b'/' if decoded.last() == Some(&b'/') => {}
            byte => decoded.push(byte),
        }
    }
    Ok(String::from_utf8_lossy(&decoded).into_owned())
}

/// The target and the version of the request to the upstream.
pub fn to_upstream(
    uri: Uri,
    route: &Route,
    wire: Wire,
    encrypted: bool,
    authority: &str,
) -> Result<(Uri, Version), Refusal> {
    let mut parts = uri.into_parts();
    if let (Some(rewrite), Some(path)) = (&route.rewrite, &parts.path_and_query) {
        parts.path_and_query = Some(rewritten(path, rewrite, route)?);
    }
    parts.scheme = None;
    parts.authority = None;
    let version = match wire {
        Wire::H1 => Version::HTTP_11,
        Wire::H2 => {
            parts.scheme = Some(if encrypted {
                Scheme::HTTPS
            } else {
                Scheme::HTTP
            });
            let authority = authority.parse::<Authority>();
            parts.authority = Some(authority.map_err(|_| Refusal::bad("Host is not a host"))?);
            Version::HTTP_2
        }
    };
    let uri = Uri::from_parts(parts).map_err(|_| Refusal::bad("the target is not a path"))?;
    Ok((uri, version))
}

fn rewritten(
    original: &PathAndQuery,
    rewrite: &Rewrite,
    route: &Route,
) -> Result<PathAndQuery, Refusal> {
    // The route was selected by the decoded path, which without its rewrite would not match.
    let not_rewritable = Refusal::bad("the path is written in a way that cannot be rewritten");
    let path = original.path();
    let to = rewrite
        .to
        .as_deref()
        .or(rewrite.prefix.as_deref())
        .unwrap_or_default();
    let mut new = if let Some(regex) = &rewrite.regex {
        if !regex.0.is_match(path) && regex.0.is_match(&normalized(path)?) {
            return Err(not_rewritable);
        }
        regex.0.replace(path, to).into_owned()
    } else {
        let prefix = route.prefix.as_deref().unwrap_or_default();
        let rest = path.strip_prefix(prefix).ok_or(not_rewritable)?;
        let to = if rest.starts_with('/') {
            to.trim_end_matches('/')
        } else {
            to
        };
        format!("{to}{rest}")
    };
    if let Some(query) = original.query() {
        new = format!("{new}?{query}");
    }
    // A replacement may give an invalid path, such as one without a slash.
    new.parse()
        .map_err(|_| Refusal::bad("the rewritten path is invalid"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_in_many_spellings_is_the_same() {
        for path in [
            "/%61dmin/x",
            "/admin%2fx",
            "/admin%2Fx",
            "//admin///x",
            "/%2Fadmin/x",
        ] {
            assert_eq!(normalized(path).unwrap(), "/admin/x", "{path}");
        }
        // Decoded once.
        assert_eq!(normalized("/a%252fb").unwrap(), "/a%2fb");
        assert_eq!(normalized("/%c3%a9").unwrap(), "/é");
        let path = "/.well-known/a..b/...";
        assert_eq!(normalized(path).unwrap(), path);
    }

    #[test]
    fn paths_that_leave_their_prefix_are_refused() {
        let paths = "* /a/../b /a/%2e%2E/b /a/..%2fb /a%2f..%2fb /a%2F%2e%2e /a/..%5cb /a\\b /a/. \
                     /% /%4 /%zz /a%00b";
        for path in paths.split(' ') {
            assert!(normalized(path).is_err(), "{path}");
        }
    }

    #[test]
    fn paths_are_rewritten_and_queries_kept() {
        let upstream = |route: &str, original: &str, wire| {
            let route: Route = serde_saphyr::from_str(&format!("{{service: s, {route}}}")).unwrap();
            let (uri, _) =
                to_upstream(original.parse().unwrap(), &route, wire, true, "a:1").unwrap();
            uri.to_string()
        };
        for (prefix, to, original, expected) in [
            ("/v1", "/v2", "/v1/x?q=1", "/v2/x?q=1"),
            ("/v1", "/", "/v1/x", "/x"),
            ("/v1", "/", "/v1", "/"),
            ("/v1", "/v2", "/v1?a", "/v2?a"),
            ("/v1/", "/v2/", "/v1/x", "/v2/x"),
        ] {
            let route = format!("prefix: {prefix}, rewrite: {{prefix: {to}}}");
            assert_eq!(upstream(&route, original, Wire::H1), expected);
        }
        let route = "rewrite: {regex: '^/u/(\\d+)$', to: /users/$1/page}";
        assert_eq!(upstream(route, "/u/12?x", Wire::H1), "/users/12/page?x");
        assert_eq!(upstream(route, "/other", Wire::H1), "/other");
        assert_eq!(
            upstream("prefix: /", "/a%20b?c", Wire::H2),
            "https://a:1/a%20b?c"
        );
    }
}
