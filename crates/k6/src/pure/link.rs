//! The parts of a link's URL, as anchor elements show them. Unlike in the DOM, URLs are not resolved against the page's
//! URL.

/// The parts of a URL. Missing parts are empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Link {
    scheme: String,
    pub username: String,
    pub password: String,
    /// The host with its port, as written.
    authority: String,
    pub path: String,
    query: Option<String>,
    pub fragment: String,
}

impl Link {
    /// Splits a URL. All parts of an invalid URL are empty.
    pub fn parse(address: &str) -> Link {
        Link::split(address).unwrap_or_default()
    }

    fn split(address: &str) -> Option<Link> {
        let mut link = Link::default();
        let (rest, fragment) = address.split_once('#').unwrap_or((address, ""));
        link.fragment = decode(fragment)?;
        let rest = match rest.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => {
                link.scheme = scheme.to_ascii_lowercase();
                rest
            }
            _ => rest,
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query.to_owned())),
            None => (rest, None),
        };
        link.query = query;
        let Some(rest) = rest.strip_prefix("//") else {
            // The part after the scheme of `mailto:someone` is not a path.
            if rest.starts_with('/') {
                link.path = decode(rest)?;
            } else if link.scheme.is_empty() && !rest.is_empty() {
                // Without a scheme, a colon would end a scheme.
                if rest.split('/').next()?.contains(':') {
                    return None;
                }
                link.path = from_root(&decode(rest)?);
            }
            return Some(link);
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        link.path = decode(path)?;
        let host = match authority.rsplit_once('@') {
            Some((user, host)) => {
                let (name, password) = user.split_once(':').unwrap_or((user, ""));
                link.username = decode(name)?;
                link.password = decode(password)?;
                host
            }
            None => authority,
        };
        link.authority = host.to_owned();
        link.port()
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then_some(link)
    }

    /// The host without its port and without brackets.
    pub fn hostname(&self) -> &str {
        let host = match self.authority.rfind(']') {
            Some(end) => self.authority.get(..=end).unwrap_or_default(),
            None => self.authority.split(':').next().unwrap_or_default(),
        };
        host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The port as written. Empty if there is none.
    pub fn port(&self) -> &str {
        let after = self.authority.rfind(']').map_or(0, |end| end + 1);
        let after = self.authority.get(after..).unwrap_or_default();
        after.split_once(':').map_or("", |(_, port)| port)
    }

    /// The host, with its port unless that is the default port.
    pub fn host(&self) -> &str {
        match (self.scheme.as_str(), self.port()) {
            ("http", "80") | ("https", "443") | ("ftp", "21") => self.hostname(),
            _ => &self.authority,
        }
    }

    /// Scheme and host, with the port as written. Empty without a scheme.
    pub fn origin(&self) -> String {
        match self.scheme.as_str() {
            "" => String::new(),
            scheme => format!("{scheme}://{}", self.authority),
        }
    }

    /// The scheme. As in k6, it has no colon if it is empty.
    pub fn protocol(&self) -> &str {
        match self.scheme.as_str() {
            "" => ":",
            scheme => scheme,
        }
    }

    /// `?` and the query. Empty without a query.
    pub fn search(&self) -> String {
        let query = self.query.as_deref().filter(|query| !query.is_empty());
        query.map_or_else(String::new, |query| format!("?{query}"))
    }

    /// `#` and the fragment. Empty without a fragment.
    pub fn hash(&self) -> String {
        match self.fragment.as_str() {
            "" => String::new(),
            fragment => format!("#{fragment}"),
        }
    }
}

/// A relative path, resolved against the root (RFC 3986, section 5.2.4).
fn from_root(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut ends_in_folder = false;
    for segment in path.split('/') {
        ends_in_folder = matches!(segment, "" | "." | "..");
        match segment {
            "." | "" => {}
            ".." => drop(segments.pop()),
            name => segments.push(name),
        }
    }
    let end = if ends_in_folder && !segments.is_empty() {
        "/"
    } else {
        ""
    };
    format!("/{}{end}", segments.join("/"))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// Replaces `%XX`; `None` if an escape is invalid.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).ok()?);
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::Link;

    #[test]
    fn parts() {
        let link = Link::parse("https://user:pa%20ss@example.com:8443/p/q?x=1&y=2#frag");
        assert_eq!(link.host(), "example.com:8443");
        assert_eq!((link.hostname(), link.port()), ("example.com", "8443"));
        assert_eq!(link.origin(), "https://example.com:8443");
        assert_eq!((&*link.username, &*link.password), ("user", "pa ss"));
        assert_eq!(
            (&*link.path, link.search()),
            ("/p/q", "?x=1&y=2".to_owned())
        );
        assert_eq!(
            (link.hash(), link.protocol()),
            ("#frag".to_owned(), "https")
        );
        let default = Link::parse("https://example.com:443");
        assert_eq!((default.host(), default.port()), ("example.com", "443"));
        let v6 = Link::parse("http://[::1]:80");
        assert_eq!((v6.host(), v6.hostname()), ("::1", "::1"));
        assert_eq!(v6.origin(), "http://[::1]:80");
        let mail = Link::parse("mailto:x@y");
        assert_eq!((&*mail.origin(), &*mail.path), ("mailto://", ""));
        let relative = Link::parse("/rel/path?q#h");
        assert_eq!((&*relative.path, relative.protocol()), ("/rel/path", ":"));
        assert_eq!(Link::parse("//host/p").hostname(), "host");
        assert_eq!(Link::parse("x/../y/z").path, "/y/z");
        assert_eq!(Link::parse("../y/").path, "/y/");
        assert_eq!(Link::parse(" http://h/"), Link::default());
        assert_eq!(Link::parse("http://h:99999/%zz"), Link::default());
        assert_eq!(Link::parse("http://h:port/"), Link::default());
    }
}
