//! Routes: the service for a request.

use std::num::NonZero;
use std::time::Duration;

use hyper::http::{HeaderName, Method};
use regex::Regex;

use super::fields::{Field, Fields, Problems};
use super::headers::{self, HeaderRules, header_name};

#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    pub name: String,
    /// Conditions; an empty one matches every request.
    pub entries: Vec<String>,
    /// In lower case, without a port; a leading `*.` matches any subdomain.
    pub hosts: Vec<String>,
    pub methods: Vec<Method>,
    /// The path begins with this, followed by its end or a slash.
    pub prefix: Option<String>,
    pub regex: Option<Pattern>,
    pub service: String,
    pub rewrite: Rewrite,
    pub request_headers: HeaderRules,
    pub response_headers: HeaderRules,
    pub rate_limit: Option<RateLimit>,
}

/// A regular expression; equal if the texts are equal.
#[derive(Debug, Clone)]
pub struct Pattern(pub Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

/// How the path is rewritten for the upstream.
#[derive(Debug, Clone, PartialEq)]
pub enum Rewrite {
    Keep,
    /// The route's prefix is replaced by this.
    Prefix(String),
    /// The first match is replaced; `$1` is what the first group matched.
    Regex(Pattern, String),
}

/// A token bucket for each key.
#[derive(Debug, Clone, PartialEq)]
pub struct RateLimit {
    /// This number of requests …
    pub count: NonZero<u32>,
    /// … in this time.
    pub per: Duration,
    /// Maximum requests in a burst.
    pub burst: NonZero<u32>,
    pub key: Key,
    /// Maximum keys to remember; above it, the one idle longest is forgotten.
    pub keys: usize,
}

/// The key that distinguishes clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    All,
    Address,
    /// The header's value; the client's address if it is missing.
    Header(HeaderName),
}

const KEYS: [&str; 10] = [
    "entries",
    "hosts",
    "methods",
    "prefix",
    "regex",
    "service",
    "rewrite",
    "request_headers",
    "response_headers",
    "rate_limit",
];

pub fn read(name: &str, field: &Field<'_>, problems: &mut Problems) -> Option<Route> {
    let fields = field.fields(&KEYS, problems);
    let prefix = fields.get("prefix").and_then(|field| path(field, problems));
    let methods = list(
        &fields,
        "methods",
        problems,
        "a method, such as GET",
        |text| {
            let upper = text.bytes().all(|byte| byte.is_ascii_uppercase());
            Method::from_bytes(text.as_bytes()).ok().filter(|_| upper)
        },
    );
    let hosts = list(
        &fields,
        "hosts",
        problems,
        "a host's name, such as api.example or *.example",
        |text| {
            let rest = text.strip_prefix("*.").unwrap_or(text);
            let fits = !rest.is_empty()
                && rest
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-._[:]".contains(&byte));
            fits.then(|| text.to_ascii_lowercase())
        },
    );
    let rewrite = rewrite(&fields, prefix.as_deref(), problems);
    Some(Route {
        name: name.to_owned(),
        entries: list(&fields, "entries", problems, "an entry", |text| {
            Some(text.to_owned())
        }),
        hosts,
        methods,
        regex: fields
            .get("regex")
            .and_then(|field| pattern(field, problems)),
        rewrite,
        service: fields.need("service", problems)?.text(problems)?.to_owned(),
        request_headers: headers::read("request_headers", &fields, problems),
        response_headers: headers::read("response_headers", &fields, problems),
        rate_limit: fields
            .get("rate_limit")
            .and_then(|field| rate_limit(field, problems)),
        prefix,
    })
}

fn list<T>(
    fields: &Fields<'_>,
    key: &str,
    problems: &mut Problems,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Vec<T> {
    let items = fields.get(key).map(Field::items).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item.read(expected, problems, &read))
        .collect()
}

/// A path, without query.
pub fn path(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    field.read(
        "a path, which begins with '/' and has no '?', '#' or blank",
        problems,
        |text| {
            let fits = text.starts_with('/')
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && byte != b'?' && byte != b'#');
            fits.then(|| text.to_owned())
        },
    )
}

fn pattern(field: &Field<'_>, problems: &mut Problems) -> Option<Pattern> {
    let text = field.text(problems)?;
    match Regex::new(text) {
        Ok(regex) => Some(Pattern(regex)),
        Err(error) => {
            let last = error.to_string();
            let last = last
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned();
            problems.add(
                field,
                format!("'{text}' is not a regular expression: {last}"),
            );
            None
        }
    }
}

fn rewrite(fields: &Fields<'_>, prefix: Option<&str>, problems: &mut Problems) -> Rewrite {
    let Some(field) = fields.get("rewrite") else {
        return Rewrite::Keep;
    };
    let fields = field.fields(&["prefix", "regex", "to"], problems);
    match (fields.get("prefix"), fields.get("regex")) {
        (Some(to), None) => {
            if prefix.is_none() {
                problems.add(
                    to,
                    "what is replaced is the route's own 'prefix', which is missing",
                );
            }
            path(to, problems).map_or(Rewrite::Keep, Rewrite::Prefix)
        }
        (None, Some(regex)) => {
            let pattern = pattern(regex, problems);
            let to = fields
                .need("to", problems)
                .and_then(|to| path(to, problems));
            match pattern.zip(to) {
                Some((pattern, to)) => Rewrite::Regex(pattern, to),
                None => Rewrite::Keep,
            }
        }
        _ => {
            problems.add(field, "either 'prefix', or 'regex' and 'to', belong here");
            Rewrite::Keep
        }
    }
}

fn rate_limit(field: &Field<'_>, problems: &mut Problems) -> Option<RateLimit> {
    let fields = field.fields(&["rate", "burst", "key", "keys"], problems);
    let (count, per) = fields.need("rate", problems)?.read(
        "a rate, such as 100/s, 600/m or 1000/h",
        problems,
        |text| {
            let (count, unit) = text.split_once('/')?;
            let seconds = match unit {
                "s" => 1,
                "m" => 60,
                "h" => 3600,
                _ => return None,
            };
            Some((count.parse().ok()?, Duration::from_secs(seconds)))
        },
    )?;
    let burst = match fields.get("burst") {
        Some(field) => field.read("a number of requests, from 1", problems, |text| {
            text.parse().ok()
        })?,
        None => count,
    };
    let key = match fields.get("key") {
        None => Key::Address,
        Some(field) => match field.text(problems)? {
            "all" => Key::All,
            "address" => Key::Address,
            text => match text.strip_prefix("header ") {
                Some(name) => Key::Header(header_name(name.trim(), field, problems)?),
                None => {
                    problems.add(
                        field,
                        format!("'{text}' is none of all, address, header NAME"),
                    );
                    return None;
                }
            },
        },
    };
    let keys = match fields.get("keys") {
        Some(field) => field.number(1..=10_000_000, problems)?,
        None => 100_000,
    };
    Some(RateLimit {
        count,
        per,
        burst,
        key,
        keys: usize::try_from(keys).unwrap_or(usize::MAX),
    })
}
