//! Splits and decodes URLs. Nothing is resolved or normalized, so a script sends exactly what was recorded.

/// The origin (scheme, host and port) of an absolute URL, and everything after it.
pub fn split(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    (end > 0).then(|| url.split_at(scheme.len() + 3 + end))
}

/// The origin of an absolute URL.
pub fn origin(url: &str) -> Option<&str> {
    split(url).map(|(origin, _)| origin)
}

/// The host of an absolute URL, without port and user.
pub fn host(url: &str) -> Option<&str> {
    let (origin, _) = split(url)?;
    let authority = origin.split_once("://")?.1;
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    }
}

/// The part of a host that pages of the same site usually share: its last two labels, or three for registries such as
/// `co.uk`. An IP address is a separate site.
pub fn site(host: &str) -> &str {
    if host.contains(':')
        || host
            .bytes()
            .all(|byte| byte == b'.' || byte.is_ascii_digit())
    {
        return host;
    }
    let labels: Vec<&str> = host.split('.').collect();
    let is_registry =
        |label: &str| matches!(label, "co" | "com" | "org" | "net" | "ac" | "gov" | "edu");
    let count = match labels.as_slice() {
        [.., second, top] if is_registry(second) && top.len() == 2 => 3,
        _ => 2,
    };
    let skipped = labels.iter().take(labels.len().saturating_sub(count));
    let start: usize = skipped.map(|label| label.len() + 1).sum();
    host.get(start..).unwrap_or(host)
}

/// Resolves `reference` against an absolute URL. Supports only what recordings need.
pub fn join(base: &str, reference: &str) -> String {
    if reference.contains("://") {
        return reference.to_owned();
    }
    let Some((origin, rest)) = split(base) else {
        return reference.to_owned();
    };
    if let Some(rest) = reference.strip_prefix("//") {
        let scheme = origin.split("://").next().unwrap_or("http");
        return format!("{scheme}://{rest}");
    }
    if reference.starts_with('/') {
        return format!("{origin}{reference}");
    }
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{origin}{folder}/{reference}")
}

/// Decodes `%XX`, and `+` if `is_form`.
pub fn decode(text: &str, is_form: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = |at: usize| {
            after
                .get(at)
                .and_then(|digit| char::from(*digit).to_digit(16))
        };
        match (byte, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                // Two digits fit in a byte.
                bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
                rest = &after[2..];
                continue;
            }
            (b'+', ..) if is_form => bytes.push(b' '),
            _ => bytes.push(byte),
        }
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Encodes a value of a query or a form.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into());
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// The names and values of a form. Only if each name occurs once, and if encoding them again yields the same text.
pub fn form(text: &str) -> Option<Vec<(String, String)>> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for field in text.split('&') {
        let (name, value) = field.split_once('=')?;
        let (name, value) = (decode(name, true), decode(value, true));
        let is_lossy = name.contains('\u{fffd}') || value.contains('\u{fffd}');
        if name.is_empty() || is_lossy || fields.iter().any(|(known, _)| *known == name) {
            return None;
        }
        fields.push((name, value));
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split() {
        let (origin, rest) = split("https://me@shop.example:8443/a/b?c=d").unwrap();
        assert_eq!((origin, rest), ("https://me@shop.example:8443", "/a/b?c=d"));
        assert_eq!(host("https://me@shop.example:8443/a"), Some("shop.example"));
        assert_eq!(host("http://[::1]:80/"), Some("::1"));
        assert_eq!(split("data:text/plain,x"), None);
        assert_eq!(split("http:///path"), None);
        assert_eq!(join("http://h/a/b?c", "d"), "http://h/a/d");
        assert_eq!(join("http://h/a/b?c", "/d"), "http://h/d");
        assert_eq!(join("https://h", "//g/d"), "https://g/d");
    }

    #[test]
    fn hosts_of_a_site_share_its_name() {
        for (host, site_of) in [
            ("www.shop.example", "shop.example"),
            ("shop.co.uk", "shop.co.uk"),
            ("a.shop.co.uk", "shop.co.uk"),
            ("127.0.0.1", "127.0.0.1"),
            ("localhost", "localhost"),
            ("::1", "::1"),
        ] {
            assert_eq!(site(host), site_of);
        }
    }

    #[test]
    fn forms_with_unique_names_are_read() {
        let fields = form("a=1%202&b=x+y").unwrap();
        assert_eq!(fields[0], ("a".to_owned(), "1 2".to_owned()));
        assert_eq!(fields[1].1, "x y");
        assert_eq!(form("a=1&a=2"), None);
        assert_eq!(form("not a form"), None);
        assert_eq!(decode("%zz%4", false), "%zz%4");
    }
}
