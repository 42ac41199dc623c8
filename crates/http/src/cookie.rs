//! Cookies and cookie jars (RFC 6265), as in Go.

use std::cell::RefCell;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use crate::cookie_date::parse_date;
use crate::url::Url;

/// Maximum number of cookies in a jar, and per host. RFC 6265, section 6.1, recommends at least
/// 3000 and 50. The oldest cookies are removed first.
const MAX_TOTAL: usize = 10_000;
const MAX_PER_HOST: usize = 500;

/// A cookie as a server or a script sets it (RFC 6265, section 4.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookie {
    pub name: String,
    pub value: String,
    pub domain: Option<String>,
    pub path: Option<String>,
    pub expires: Option<SystemTime>,
    /// In seconds. With zero or less, the cookie expires immediately.
    pub max_age: Option<i64>,
    pub secure: bool,
    pub http_only: bool,
    pub same_site: Option<SameSite>,
}

/// The `SameSite` attribute. It is stored but has no effect in a load test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameSite {
    Strict,
    Lax,
    None,
}

/// The cookies of one user, according to RFC 6265, section 5. Like k6, it has no list of public
/// suffixes.
#[derive(Clone, Debug, Default)]
pub struct CookieJar {
    stored: RefCell<Vec<Stored>>,
}

#[derive(Clone, Debug)]
struct Stored {
    name: String,
    value: String,
    /// In lower case.
    domain: String,
    /// Whether the cookie applies only to this exact host. Otherwise it also applies to subdomains.
    host_only: bool,
    path: String,
    expires: Option<SystemTime>,
    secure: bool,
}

impl CookieJar {
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the jar is empty.
    pub fn is_empty(&self) -> bool {
        self.stored.borrow().is_empty()
    }

    /// Stores a cookie that was received from `url` or set for it. A cookie that violates the rules is
    /// ignored, as in browsers. An expired cookie deletes the stored cookie with the same key.
    pub fn set(&self, url: &Url, cookie: &Cookie) {
        self.set_at(url, cookie, SystemTime::now());
    }

    fn set_at(&self, url: &Url, cookie: &Cookie, now: SystemTime) {
        let host = url.host().to_ascii_lowercase();
        let Some((domain, host_only)) = admitted_domain(&host, cookie.domain.as_deref()) else {
            return;
        };
        let path = match cookie.path.as_deref() {
            Some(path) if path.starts_with('/') => path.to_owned(),
            _ => default_path(url.path()).to_owned(),
        };
        // Max-Age takes precedence over Expires (section 5.3, step 3).
        let (expires, expired) = match (cookie.max_age, cookie.expires) {
            (Some(seconds), _) if seconds <= 0 => (None, true),
            (Some(seconds), _) => {
                let span = Duration::from_secs(seconds.unsigned_abs());
                (now.checked_add(span), false)
            }
            (None, Some(at)) => (Some(at), at <= now),
            (None, None) => (None, false),
        };
        let mut stored = self.stored.borrow_mut();
        let same = stored
            .iter()
            .position(|old| old.name == cookie.name && old.domain == domain && old.path == path);
        if expired {
            if let Some(at) = same {
                stored.remove(at);
            }
            return;
        }
        let new = Stored {
            name: cookie.name.clone(),
            value: cookie.value.clone(),
            domain,
            host_only,
            path,
            expires,
            secure: cookie.secure,
        };
        match same.and_then(|at| stored.get_mut(at)) {
            // An updated cookie keeps its position (section 5.3, step 11).
            Some(old) => *old = new,
            None => {
                evict(&mut stored, &new.domain, now);
                stored.push(new);
            }
        }
    }

    /// The cookies for a request to `url`, longest path first, then oldest first (section 5.4).
    pub fn cookies_for_url(&self, url: &Url) -> Vec<(String, String)> {
        self.matching(url, SystemTime::now())
    }

    fn matching(&self, url: &Url, now: SystemTime) -> Vec<(String, String)> {
        let stored = self.stored.borrow();
        let mut found: Vec<&Stored> = stored
            .iter()
            .filter(|cookie| cookie.is_for(url) && cookie.expires.is_none_or(|at| at > now))
            .collect();
        found.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        found
            .into_iter()
            .map(|cookie| (cookie.name.clone(), cookie.value.clone()))
            .collect()
    }

    /// Deletes all cookies that a request to `url` would send.
    pub fn clear(&self, url: &Url) {
        self.stored
            .borrow_mut()
            .retain(|cookie| !cookie.is_for(url));
    }

    /// Deletes the cookies with the given name that a request to `url` would send.
    pub fn delete(&self, url: &Url, name: &str) {
        self.stored
            .borrow_mut()
            .retain(|cookie| cookie.name != name || !cookie.is_for(url));
    }

    /// Deletes all cookies.
    pub fn reset(&self) {
        self.stored.borrow_mut().clear();
    }
}

impl Stored {
    fn is_for(&self, url: &Url) -> bool {
        let host = url.host();
        let domain = if self.host_only {
            host.eq_ignore_ascii_case(&self.domain)
        } else {
            domain_matches(host, &self.domain)
        };
        domain && (!self.secure || is_secure(url)) && path_matches(url.path(), &self.path)
    }
}

impl Cookie {
    /// Parses the value of a `Set-Cookie` field (section 5.2). `None` if it has no name.
    pub fn parse(field: &[u8]) -> Option<Cookie> {
        let field = String::from_utf8_lossy(field);
        let mut parts = field.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let name = name.trim();
        if name.is_empty() || !name.bytes().all(crate::method::is_token_byte) {
            return None;
        }
        let value = unquoted(value.trim());
        // Like Go, reject a value that contains a forbidden byte.
        let allowed = |b: u8| (b' '..=b'~').contains(&b) && !matches!(b, b'"' | b'\\');
        if !value.bytes().all(allowed) {
            return None;
        }
        let mut cookie = Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            ..Cookie::default()
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" if !value.is_empty() => cookie.domain = Some(value.to_owned()),
                "path" if !value.is_empty() => cookie.path = Some(value.to_owned()),
                "max-age" => cookie.max_age = value.parse().ok().or(cookie.max_age),
                "expires" => cookie.expires = parse_date(value).or(cookie.expires),
                "secure" => cookie.secure = true,
                "httponly" => cookie.http_only = true,
                "samesite" => {
                    cookie.same_site = match value.to_ascii_lowercase().as_str() {
                        "strict" => Some(SameSite::Strict),
                        "lax" => Some(SameSite::Lax),
                        "none" => Some(SameSite::None),
                        _ => None,
                    }
                }
                _ => {}
            }
        }
        Some(cookie)
    }
}

/// Loopback addresses count as secure, as in Go and in browsers.
fn is_secure(url: &Url) -> bool {
    let host = url.host();
    url.is_https()
        || host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn unquoted(value: &str) -> &str {
    value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(value)
}

/// The domain that a cookie applies to, and whether it applies only to that host. `None` if the
/// host may not set the cookie (section 5.3, steps 4 to 6).
fn admitted_domain(host: &str, attribute: Option<&str>) -> Option<(String, bool)> {
    let Some(attribute) = attribute.filter(|domain| !domain.is_empty()) else {
        return Some((host.to_owned(), true));
    };
    let domain = attribute
        .strip_prefix('.')
        .unwrap_or(attribute)
        .to_ascii_lowercase();
    if host.parse::<IpAddr>().is_ok() {
        return (domain == host).then(|| (host.to_owned(), true));
    }
    if domain.is_empty() || domain.starts_with('.') || domain.ends_with('.') {
        return None;
    }
    domain_matches(host, &domain).then_some((domain, false))
}

/// Domain matching (section 5.1.3).
fn domain_matches(host: &str, domain: &str) -> bool {
    let Some(start) = host.len().checked_sub(domain.len()) else {
        return false;
    };
    let Some((before, tail)) = host.split_at_checked(start) else {
        return false;
    };
    tail.eq_ignore_ascii_case(domain)
        && (before.is_empty() || (before.ends_with('.') && host.parse::<IpAddr>().is_err()))
}

/// The default path: the directory of the request's path (section 5.1.4).
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(at) => path.get(..at).unwrap_or("/"),
    }
}

/// Path matching (section 5.1.4): `/a` matches `/a`, `/a/` and `/a/b`, but not `/ab`.
fn path_matches(path: &str, cookie_path: &str) -> bool {
    match path.strip_prefix(cookie_path) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || cookie_path.ends_with('/'),
        None => false,
    }
}

fn evict(stored: &mut Vec<Stored>, domain: &str, now: SystemTime) {
    let of_domain = |stored: &[Stored]| stored.iter().filter(|c| c.domain == domain).count();
    if stored.len() < MAX_PER_HOST {
        return;
    }
    if stored.len() >= MAX_TOTAL || of_domain(stored) >= MAX_PER_HOST {
        stored.retain(|cookie| cookie.expires.is_none_or(|at| at > now));
    }
    if of_domain(stored) >= MAX_PER_HOST
        && let Some(oldest) = stored.iter().position(|cookie| cookie.domain == domain)
    {
        stored.remove(oldest);
    }
    if stored.len() >= MAX_TOTAL {
        stored.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn jar_with(from: &str, field: &str) -> CookieJar {
        let jar = CookieJar::new();
        if let Some(cookie) = Cookie::parse(field.as_bytes()) {
            jar.set(&url(from), &cookie);
        }
        jar
    }

    fn sent(jar: &CookieJar, to: &str) -> String {
        let pairs = jar.cookies_for_url(&url(to));
        let texts: Vec<String> = pairs.iter().map(|(n, v)| format!("{n}={v}")).collect();
        texts.join("; ")
    }

    #[test]
    fn a_complete_field_is_parsed() {
        let cookie = Cookie::parse(
            b"id=\"a=3\"; Expires=Wed, 09 Jun 2021 10:18:14 GMT; Max-Age=60; Domain=.Example.com; Path=/x; Secure; HttpOnly; SameSite=Lax",
        )
        .unwrap();
        assert_eq!((cookie.name.as_str(), cookie.value.as_str()), ("id", "a=3"));
        assert_eq!(cookie.max_age, Some(60));
        assert_eq!(cookie.domain.as_deref(), Some(".Example.com"));
        assert_eq!(cookie.path.as_deref(), Some("/x"));
        assert!(cookie.secure && cookie.http_only);
        assert_eq!(cookie.same_site, Some(SameSite::Lax));
        let at = cookie
            .expires
            .unwrap()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        assert_eq!(at.as_secs(), 1_623_233_894);
        assert!(Cookie::parse(b"=x").is_none());
        assert!(Cookie::parse(b"novalue").is_none());
        assert!(Cookie::parse("c=\u{fc}".as_bytes()).is_none());
    }

    #[test]
    fn hosts_and_subdomains() {
        let own = jar_with("http://a.example.com/", "k=v");
        assert_eq!(sent(&own, "http://a.example.com/x"), "k=v");
        assert_eq!(sent(&own, "http://b.a.example.com/"), "");
        let wide = jar_with("http://a.example.com/", "k=v; Domain=example.com");
        assert_eq!(sent(&wide, "http://b.EXAMPLE.com/"), "k=v");
        assert_eq!(sent(&wide, "http://badexample.com/"), "");
        assert!(jar_with("http://a.example.com/", "k=v; Domain=other.com").is_empty());
        assert!(jar_with("http://a.example.com/", "k=v; Domain=b.a.example.com").is_empty());
        let ip = jar_with("http://127.0.0.1/", "k=v; Domain=127.0.0.1");
        assert_eq!(sent(&ip, "http://127.0.0.1:99/"), "k=v");
        assert!(jar_with("http://127.0.0.1/", "k=v; Domain=0.0.1").is_empty());
    }

    #[test]
    fn paths_secure_and_order() {
        let jar = jar_with("http://h/a/b", "p=1");
        assert_eq!(sent(&jar, "http://h/a/c"), "p=1");
        assert_eq!(sent(&jar, "http://h/ab"), "");
        let set = |field: &str| {
            jar.set(
                &url("https://h/a/b"),
                &Cookie::parse(field.as_bytes()).unwrap(),
            )
        };
        set("root=1; Path=/");
        set("s=1; Secure; Path=/a/b");
        assert_eq!(sent(&jar, "http://h/a/b"), "p=1; root=1");
        assert_eq!(sent(&jar, "https://h/a/b"), "s=1; p=1; root=1");
    }

    #[test]
    fn expiry_updates_and_deletion() {
        let jar = jar_with("http://h/", "a=1; Max-Age=1000");
        let set =
            |field: &str| jar.set(&url("http://h/"), &Cookie::parse(field.as_bytes()).unwrap());
        set("b=1");
        set("a=2");
        assert_eq!(sent(&jar, "http://h/"), "a=2; b=1");
        set("a=x; Max-Age=0");
        assert_eq!(sent(&jar, "http://h/"), "b=1");
        set("b=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
        assert!(jar.is_empty());
        set("c=1; Max-Age=5");
        let later = SystemTime::now() + Duration::from_secs(6);
        assert!(jar.matching(&url("http://h/"), later).is_empty());
        set("d=1");
        jar.delete(&url("http://h/x"), "d");
        jar.clear(&url("http://other/"));
        assert_eq!(sent(&jar, "http://h/"), "c=1");
    }

    #[test]
    fn a_cookie_jar_is_bounded() {
        let jar = CookieJar::new();
        let at = url("http://h/");
        for n in 0..MAX_PER_HOST + 10 {
            let cookie = Cookie {
                name: format!("n{n}"),
                ..Cookie::default()
            };
            jar.set(&at, &cookie);
        }
        assert_eq!(jar.cookies_for_url(&at).len(), MAX_PER_HOST);
    }
}
