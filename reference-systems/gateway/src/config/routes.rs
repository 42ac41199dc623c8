//! Routes: the service for a request.

use std::num::NonZero;
use std::time::Duration;

use hyper::http::{HeaderName, Method};
use regex::Regex;
use serde::{Deserialize, Deserializer};

use super::headers::{HeaderRules, header_name};
use super::values::{list, or_not, path, text, texts, within};

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    #[serde(skip)]
    pub name: String,
    /// Conditions; an empty one matches every request.
    #[serde(default, deserialize_with = "list")]
    pub entries: Vec<String>,
    /// In lower case, without a port; a leading `*.` matches any subdomain.
    #[serde(default, deserialize_with = "hosts")]
    pub hosts: Vec<String>,
    #[serde(default, deserialize_with = "methods")]
    pub methods: Vec<Method>,
    /// The path begins with this, followed by its end or a slash.
    #[serde(default, deserialize_with = "some_path")]
    pub prefix: Option<String>,
    pub regex: Option<Pattern>,
    pub service: String,
    #[serde(default)]
    pub rewrite: Rewrite,
    #[serde(default)]
    pub request_headers: HeaderRules,
    #[serde(default)]
    pub response_headers: HeaderRules,
    pub rate_limit: Option<RateLimit>,
}

/// A regular expression; equal if the texts are equal.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(pub Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Pattern, String> {
        Regex::new(&text).map(Pattern).map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default();
            let why = why.trim_start_matches("error: ");
            format!("'{text}' is not a regular expression: {why}")
        })
    }
}

/// How the path is rewritten for the upstream.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(try_from = "WrittenRewrite")]
pub enum Rewrite {
    #[default]
    Keep,
    /// The route's prefix is replaced by this.
    Prefix(String),
    /// The first match is replaced; `$1` is what the first group matched.
    Regex(Pattern, String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRewrite {
    #[serde(default, deserialize_with = "some_path")]
    prefix: Option<String>,
    regex: Option<Pattern>,
    #[serde(default, deserialize_with = "some_path")]
    to: Option<String>,
}

impl TryFrom<WrittenRewrite> for Rewrite {
    type Error = &'static str;

    fn try_from(written: WrittenRewrite) -> Result<Rewrite, &'static str> {
        match (written.prefix, written.regex, written.to) {
            (Some(prefix), None, None) => Ok(Rewrite::Prefix(prefix)),
            (None, Some(pattern), Some(to)) => Ok(Rewrite::Regex(pattern, to)),
            _ => Err("either 'prefix', or 'regex' and 'to', belong here"),
        }
    }
}

/// A token bucket for each key.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// This number of requests in this time.
    #[serde(deserialize_with = "rate")]
    pub rate: (NonZero<u32>, Duration),
    /// Maximum requests in a burst; as many as the rate's by default.
    pub burst: Option<NonZero<u32>>,
    #[serde(default)]
    pub key: Key,
    /// Maximum keys to remember; above it, the one idle longest is forgotten.
    #[serde(
        default = "most_keys",
        deserialize_with = "within::<1, 10_000_000, _, _>"
    )]
    pub keys: usize,
}

/// The key that distinguishes clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Key {
    All,
    #[default]
    Address,
    /// The header's value; the client's address if it is missing.
    Header(HeaderName),
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(text: String) -> Result<Key, String> {
        match (text.as_str(), text.strip_prefix("header ")) {
            ("all", _) => Ok(Key::All),
            ("address", _) => Ok(Key::Address),
            (_, Some(name)) => Ok(Key::Header(header_name(name.trim())?)),
            _ => Err(format!("'{text}' is none of all, address, header NAME")),
        }
    }
}

fn most_keys() -> usize {
    100_000
}

fn some_path<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    path(from).map(Some)
}

fn hosts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    texts(from, |text| {
        let rest = text.strip_prefix("*.").unwrap_or(text);
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[:]".contains(&byte);
        let host = !rest.is_empty() && rest.bytes().all(fits);
        let expected = "a host's name, such as api.example or *.example";
        or_not(host.then(|| text.to_ascii_lowercase()), text, expected)
    })
}

fn methods<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Method>, D::Error> {
    texts(from, |text| {
        let upper = text.bytes().all(|byte| byte.is_ascii_uppercase());
        let method = Method::from_bytes(text.as_bytes()).ok().filter(|_| upper);
        or_not(method, text, "a method, such as GET")
    })
}

fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<(NonZero<u32>, Duration), D::Error> {
    text(from, |text| {
        let rate = text.split_once('/').and_then(|(count, unit)| {
            let seconds = match unit {
                "s" => 1,
                "m" => 60,
                "h" => 3600,
                _ => return None,
            };
            Some((count.parse().ok()?, Duration::from_secs(seconds)))
        });
        or_not(rate, text, "a rate, such as 100/s, 600/m or 1000/h")
    })
}
