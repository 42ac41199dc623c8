//! Targets: the requests that an attack sends.

use bytes::Bytes;

/// An entry of a target list: a request to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    pub method: String,
    pub url: String,
    /// Names and values, in the order in which they are sent.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// Defaults for the targets of a list.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// Headers that are sent before the target's own ones.
    pub headers: Vec<(String, String)>,
    /// The body of targets that have none.
    pub body: Bytes,
}

/// Why a target list is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    /// The line number from 1, or 0 for the list as a whole.
    pub line: u64,
    /// The error in one sentence, with the fix.
    pub what: String,
}

impl std::fmt::Display for ListError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

impl std::error::Error for ListError {}

impl Target {
    /// Checks whether the request can be sent.
    ///
    /// # Errors
    /// The reason, in one sentence.
    pub(crate) fn check(&self) -> Result<(), String> {
        let method = plimsoll_http::Method::parse(&self.method);
        if method.is_none_or(|_| !is_method(&self.method)) {
            return Err(format!(
                "bad method: {}; methods are in capitals, like GET",
                self.method
            ));
        }
        let url =
            plimsoll_http::Url::parse(&self.url).map_err(|error| format!("bad URL: {error}"))?;
        if url.host().is_empty() || !matches!(url.scheme(), "http" | "https") {
            let why = match url.scheme() {
                "" | "http" | "https" => "write it in full",
                _ => "it must begin with http:// or https://",
            };
            return Err(format!(
                "bad URL: {}: {why}, like http://127.0.0.1:8080/path",
                self.url
            ));
        }
        let mut fields = plimsoll_http::Fields::new();
        for (name, value) in &self.headers {
            fields
                .append(name, value)
                .map_err(|error| format!("bad header: {name}: {error}"))?;
        }
        let mut request =
            plimsoll_http::Request::new(plimsoll_http::Method::Get, std::rc::Rc::new(url));
        request.headers = fields;
        // Encoding the request finds the remaining errors.
        plimsoll_http::Prepared::new(&request, &plimsoll_http::Settings::default())
            .map(drop)
            .map_err(|error| format!("bad URL: {}: {}", self.url, error.message))
    }
}

/// Whether a word has the form of a method in a target list.
pub(crate) fn is_method(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase())
}
