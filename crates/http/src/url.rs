//! URLs, parsed as in Go.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::error::{ErrorInfo, code};
use crate::escape::{check_escapes, check_escapes_in_host, decode, escape_into};
use crate::host_name::ascii_host;

/// A URL, parsed like k6 (that is, like Go): lenient about schemes and unusual bytes, strict about
/// host, port and percent escapes. Its text is the given text, except that the scheme is in lower
/// case, the path is escaped, and an empty fragment is omitted. As in k6, the query is not escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    text: Box<str>,
    scheme: Box<str>,
    userinfo: Option<UserInfo>,
    /// The range of the userinfo in the text, for masking.
    userinfo_at: Option<Range<usize>>,
    /// The host without brackets, with percent escapes decoded.
    host: Box<str>,
    /// The port as written; empty if absent.
    port_text: Box<str>,
    port: Option<u16>,
    /// The value of the `Host` field.
    authority: Box<str>,
    /// The target of the request line.
    target: Box<str>,
    path_end: usize,
    fragment: Option<Box<str>>,
    origin: u64,
}

/// User name and password in a URL, with percent escapes decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserInfo {
    pub name: String,
    pub password: Option<String>,
}

/// The reason why a string is not a valid URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError {
    text: String,
    reason: String,
}

impl UrlError {
    /// The error without the URL.
    pub(crate) fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid URL: parse {:?}: {}", self.text, self.reason)
    }
}

impl std::error::Error for UrlError {}

impl From<UrlError> for ErrorInfo {
    fn from(error: UrlError) -> Self {
        ErrorInfo::new(code::INVALID_URL, error.to_string())
    }
}

/// Maximum length of a URL in bytes. Go's client has no limit, but servers do: 8 kB is common, and
/// Go's server rejects more than this limit. Parsing and sending a URL cannot be suspended, so a
/// longer URL would delay all users of the worker.
const MAX_LENGTH: usize = 1 << 20;
/// Number of bytes of an overlong URL that an error shows.
const MAX_SHOWN: usize = 100;

impl Url {
    /// Parses an absolute URL. Also accepts a string without a scheme or host. As in k6, only sending to
    /// it fails.
    ///
    /// # Errors
    /// Control bytes, an invalid host, a port that is not a number, invalid escapes, or more than
    /// [`MAX_LENGTH`] bytes.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.len() > MAX_LENGTH {
            let shown = text
                .get(..text.floor_char_boundary(MAX_SHOWN))
                .unwrap_or("");
            return Err(UrlError {
                text: format!("{shown}…"),
                reason: format!(
                    "the URL has {} bytes, and the limit is {MAX_LENGTH}",
                    text.len()
                ),
            });
        }
        parse(text).map_err(|reason| UrlError {
            text: text.to_owned(),
            reason,
        })
    }

    /// The URL, almost as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The URL with user and password replaced by `****`, for tags and logs.
    pub fn masked(&self) -> Cow<'_, str> {
        let (Some(at), Some(info)) = (&self.userinfo_at, &self.userinfo) else {
            return Cow::Borrowed(&self.text);
        };
        let mask = if info.password.is_some() {
            "****:****"
        } else {
            "****"
        };
        let before = self.text.get(..at.start).unwrap_or_default();
        let after = self.text.get(at.end..).unwrap_or_default();
        Cow::Owned(format!("{before}{mask}{after}"))
    }

    /// The URL without user and password.
    pub fn without_userinfo(&self) -> Cow<'_, str> {
        match &self.userinfo_at {
            // The @ is removed as well.
            Some(at) => {
                let before = self.text.get(..at.start).unwrap_or_default();
                let after = self.text.get(at.end + 1..).unwrap_or_default();
                Cow::Owned(format!("{before}{after}"))
            }
            None => Cow::Borrowed(&self.text),
        }
    }

    /// The scheme in lower case; empty if absent.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    pub fn is_https(&self) -> bool {
        &*self.scheme == "https"
    }

    pub fn userinfo(&self) -> Option<&UserInfo> {
        self.userinfo.as_ref()
    }

    /// The host without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The given port, or the default port of the scheme.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.is_https() { 443 } else { 80 })
    }

    /// Host and port as in the `Host` field.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Path and query as in the request line.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The escaped path, which is at least `/`.
    pub fn path(&self) -> &str {
        self.target.get(..self.path_end).unwrap_or("/")
    }

    /// The query, without its question mark.
    pub fn query(&self) -> Option<&str> {
        self.target.get(self.path_end + 1..)
    }

    /// The text after `#`, as written.
    pub fn fragment(&self) -> Option<&str> {
        self.fragment.as_deref()
    }

    /// Whether both URLs have the same scheme, host and port, so they may share a connection.
    pub fn same_origin(&self, other: &Url) -> bool {
        self.origin == other.origin
            && self.port() == other.port()
            && self.scheme == other.scheme
            && self.host.eq_ignore_ascii_case(&other.host)
    }

    /// Checks that a request can be sent to the URL.
    ///
    /// # Errors
    /// If nothing can be sent to the URL. The error has k6's wording.
    pub fn check_usable(&self) -> Result<(), ErrorInfo> {
        if !matches!(&*self.scheme, "http" | "https") {
            return Err(ErrorInfo::new(
                code::DEFAULT,
                format!("unsupported protocol scheme {:?}", self.scheme),
            ));
        }
        if self.host.is_empty() {
            return Err(ErrorInfo::new(
                code::DEFAULT,
                "http: no Host in request URL",
            ));
        }
        if self.port.is_none() && !self.port_text.is_empty() {
            return Err(ErrorInfo::new(
                code::TCP_DIAL,
                format!("dial tcp: address {}: invalid port", self.port_text),
            ));
        }
        Ok(())
    }

    /// Resolves `reference` against this URL (RFC 3986, section 5.2).
    ///
    /// # Errors
    /// See [`Url::parse`].
    pub fn join(&self, reference: &str) -> Result<Url, UrlError> {
        let reference = reference.trim_matches(' ');
        if split_scheme(reference).is_some_and(|(scheme, _)| !scheme.is_empty()) {
            return Url::parse(reference);
        }
        let scheme = &self.scheme;
        if reference.starts_with("//") {
            return Url::parse(&format!("{scheme}:{reference}"));
        }
        let user = self
            .userinfo_at
            .clone()
            .and_then(|at| self.text.get(at))
            .map(|user| format!("{user}@"))
            .unwrap_or_default();
        let base = format!("{scheme}://{user}{}", self.authority);
        let (rest, fragment) = match reference.find('#') {
            Some(at) => reference.split_at(at),
            None => (reference, ""),
        };
        let (path, query) = match rest.find('?') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let joined = if path.is_empty() {
            if query.is_empty() {
                format!("{base}{}{fragment}", self.target)
            } else {
                format!("{base}{}{query}{fragment}", self.path())
            }
        } else if path.starts_with('/') {
            format!("{base}{}{query}{fragment}", without_dots(path))
        } else {
            let directory = self
                .path()
                .rfind('/')
                .map_or("/", |at| self.path().get(..=at).unwrap_or("/"));
            let merged = without_dots(&format!("{directory}{path}"));
            format!("{base}{merged}{query}{fragment}")
        };
        Url::parse(&joined)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

fn parse(text: &str) -> Result<Url, String> {
    if text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return Err("net/url: invalid control character in URL".into());
    }
    let (before_fragment, fragment) = match text.split_once('#') {
        Some((before, fragment)) => (before, Some(fragment)),
        None => (text, None),
    };
    let (scheme, rest) = match split_scheme(before_fragment) {
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
        None => (String::new(), before_fragment),
    };
    if before_fragment.starts_with(':') {
        return Err("missing protocol scheme".into());
    }
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        },
        // `mailto:x` and `localhost:80` have no host, so nothing can be sent to them.
        None => ("", rest),
    };
    let (user, host_port) = match authority.rsplit_once('@') {
        Some((user, host_port)) => (Some(user), host_port),
        None => (None, authority),
    };
    let userinfo = user.map(parse_userinfo).transpose()?;
    if scheme.is_empty() && path.split('/').next().unwrap_or_default().contains(':') {
        return Err("first path segment in URL cannot contain colon".into());
    }
    let (host, port_text) = split_port(host_port)?;
    let host = parse_host(host)?;
    check_escapes(path)?;
    let mut target = String::with_capacity(path.len() + query.map_or(0, str::len) + 2);
    if !path.starts_with('/') {
        target.push('/');
    }
    let path_start = target.len();
    escape_into(&mut target, path);
    let path_end = target.len();
    if let Some(query) = query {
        target.push('?');
        target.push_str(query);
    }
    let is_plain =
        path_end - path_start == path.len() && text.starts_with(&*scheme) && fragment != Some("");
    let text = if is_plain {
        Cow::Borrowed(text)
    } else {
        let mut text = String::with_capacity(text.len() + target.len() - path.len());
        if !scheme.is_empty() {
            text.extend([scheme.as_str(), ":"]);
        }
        if rest.starts_with("//") {
            text.extend(["//", authority]);
        }
        text.push_str(target.get(path_start..).unwrap_or_default());
        if let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) {
            text.extend(["#", fragment]);
        }
        Cow::Owned(text)
    };
    let userinfo_at = user.and_then(|user| {
        let start = text.find("//")? + 2;
        Some(start..start + user.len())
    });
    let port = match port_text {
        "" => None,
        digits => digits.parse().ok(),
    };
    let authority = if port_text.is_empty() {
        host_port.strip_suffix(':').unwrap_or(host_port).to_owned()
    } else {
        host_port.to_owned()
    };
    let authority = match ascii_host(&host) {
        Some(ascii) if port_text.is_empty() => ascii,
        Some(ascii) => format!("{ascii}:{port_text}"),
        None => authority,
    };
    let host = ascii_host(&host).unwrap_or(host);
    let mut hasher = rustc_hash::FxHasher::default();
    let default_port = if scheme == "https" { 443 } else { 80 };
    scheme.hash(&mut hasher);
    host.to_ascii_lowercase().hash(&mut hasher);
    port.unwrap_or(default_port).hash(&mut hasher);
    Ok(Url {
        text: text.into(),
        scheme: scheme.into(),
        userinfo,
        userinfo_at,
        host: host.into(),
        port_text: port_text.into(),
        port,
        authority: authority.into(),
        target: target.into(),
        path_end,
        fragment: fragment.map(Into::into),
        origin: hasher.finish(),
    })
}

/// Whether the text is a scheme: a letter, and then letters, digits, `+`, `-` and `.` (RFC 3986,
/// section 3.1).
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))?;
    let (scheme, rest) = text.split_at(end);
    let rest = rest.strip_prefix(':')?;
    scheme
        .starts_with(|c: char| c.is_ascii_alphabetic())
        .then_some((scheme, rest))
}

fn split_port(host_port: &str) -> Result<(&str, &str), String> {
    let (host, after) = if host_port.starts_with('[') {
        let end = host_port.rfind(']').ok_or("missing ']' in host")?;
        host_port.split_at(end + 1)
    } else {
        match host_port.rfind(':') {
            Some(at) => host_port.split_at(at),
            None => (host_port, ""),
        }
    };
    match after.strip_prefix(':') {
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => Ok((host, port)),
        None if after.is_empty() => Ok((host, "")),
        _ => Err(format!("invalid port {after:?} after host")),
    }
}

fn parse_host(host: &str) -> Result<String, String> {
    if let Some(inner) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
        // `%25` separates an IPv6 zone (RFC 6874).
        let bare = inner.replace("%25", "%");
        let address = bare.split('%').next().unwrap_or_default();
        return match address.parse::<std::net::Ipv6Addr>() {
            Ok(_) => Ok(bare),
            Err(_) => Err(format!("invalid host: {host:?} is not an IPv6 address")),
        };
    }
    check_escapes_in_host(host)?;
    if let Some(odd) = host
        .chars()
        .find(|&c| c == ' ' || "\"<>\\^`{|}".contains(c))
    {
        return Err(format!(
            "invalid character {:?} in host name",
            odd.to_string()
        ));
    }
    Ok(decode(host))
}

fn parse_userinfo(user: &str) -> Result<UserInfo, String> {
    check_escapes(user)?;
    if user
        .chars()
        .any(|c| c == ' ' || "\"<>\\^`{|}#/[]".contains(c))
    {
        return Err("net/url: invalid userinfo".into());
    }
    let (name, password) = match user.split_once(':') {
        Some((name, password)) => (name, Some(decode(password))),
        None => (user, None),
    };
    Ok(UserInfo {
        name: decode(name),
        password,
    })
}

/// Removes dot segments (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." => {
                if last {
                    kept.push("");
                }
            }
            ".." => {
                kept.pop();
                if last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests;
