//! The requests of a user, independent of the source's format.

use std::fmt;
use std::time::Duration;

use crate::text::Text;

/// The requests of one user, in order.
#[derive(Clone, Debug, Default)]
pub struct Journey {
    /// The origin of most requests, such as `https://shop.example`. Empty if unknown.
    pub base: String,
    pub requests: Vec<Request>,
    /// Values that the user of the script can set.
    pub variables: Vec<Variable>,
    /// Cookies that no recorded response sets.
    pub cookies: Vec<Cookie>,
    /// Everything that could not be translated.
    pub problems: Vec<Problem>,
}

/// A request and what is known about its response.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The page or folder that it belongs to.
    pub group: Option<String>,
    /// Its name in the source.
    pub name: Option<String>,
    pub method: String,
    pub url: Text,
    pub headers: Vec<(String, Text)>,
    pub body: Body,
    /// How long the user waits before the request.
    pub pause: Duration,
    /// The expected status of the response. If unknown, any status below 400 is expected.
    pub status: Option<u16>,
    /// Whether the script does not follow redirects and gets the redirect itself.
    pub keeps_redirect: bool,
    pub response: Option<Response>,
    pub extracts: Vec<Extract>,
    /// Comments for the reader of the script.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Body {
    #[default]
    None,
    Text(Text),
    Json(Json),
    /// Unique names and their values.
    Form(Vec<(String, Text)>),
    /// Fields and files of `multipart/form-data`.
    Multipart(Vec<Part>),
}

/// JSON whose strings may contain code.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`, `true`, `false` or a number, in JavaScript syntax.
    Plain(String),
    Text(Text),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// A part of a multipart body.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: String,
    pub value: Text,
    /// The name and type of the file.
    pub file: Option<(String, String)>,
}

/// A recorded response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Empty if it is not text.
    pub body: String,
    /// The URL after redirects.
    pub url: String,
}

/// A value of a response that later requests use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extract {
    /// The variable in the script.
    pub variable: String,
    /// The expression that extracts it from `response`.
    pub code: String,
    /// Its location, for messages.
    pub place: String,
}

/// A value that the user of the script can set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the source and as an environment variable.
    pub name: String,
    /// Its constant in the script.
    pub constant: String,
    pub value: String,
}

/// A cookie that a user has at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie {
    pub origin: String,
    pub name: String,
    pub value: String,
}

/// An entry of the source that could not be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub entry: String,
    /// The problem and its fix.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.entry, self.text)
    }
}

impl Journey {
    pub fn problem(&mut self, entry: impl Into<String>, text: impl Into<String>) {
        let (entry, text) = (entry.into(), text.into());
        self.problems.push(Problem { entry, text });
    }

    /// The names of groups, in order.
    pub fn groups(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.requests.iter().filter_map(|it| it.group.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The number of response values that later requests use.
    pub fn extracts(&self) -> usize {
        self.requests.iter().map(|it| it.extracts.len()).sum()
    }
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&Text> {
        let found = self.headers.iter();
        let mut found = found.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }

    /// The method and the path, for people.
    pub fn shown(&self) -> String {
        let url = self.url.shown();
        let path = match crate::url::split(&url) {
            Some((_, rest)) => rest,
            None => url.as_str(),
        };
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let path: String = path.chars().take(80).collect();
        let path = if path.is_empty() { "/" } else { &path };
        format!("{} {path}", self.method)
    }

    /// The request's name in the source, or its method and path.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.shown())
    }
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter();
        let found = found.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl Json {
    /// Parses JSON. `None` if it is not JSON, or contains numbers that JavaScript would change.
    pub fn parse(text: &str) -> Option<Json> {
        Json::of(&serde_json::from_str(text).ok()?)
    }

    /// `None` if it contains numbers that JavaScript would change.
    pub fn of(value: &serde_json::Value) -> Option<Json> {
        use serde_json::Value as V;
        Some(match value {
            V::String(text) => Json::Text(text.as_str().into()),
            V::Array(items) => Json::List(items.iter().map(Json::of).collect::<Option<_>>()?),
            V::Object(fields) => Json::Object(
                fields
                    .iter()
                    .map(|(key, value)| Some((key.clone(), Json::of(value)?)))
                    .collect::<Option<_>>()?,
            ),
            V::Number(number) if !is_exact(number) => return None,
            plain => Json::Plain(plain.to_string()),
        })
    }
}

/// Whether JavaScript can represent this value exactly.
fn is_exact(number: &serde_json::Number) -> bool {
    const MAX_EXACT: u64 = 1 << 53;
    match (number.as_u64(), number.as_i64()) {
        (Some(whole), _) => whole <= MAX_EXACT,
        (_, Some(negative)) => negative.unsigned_abs() <= MAX_EXACT,
        _ => number.as_f64().is_some_and(f64::is_finite),
    }
}
