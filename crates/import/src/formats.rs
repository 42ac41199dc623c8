//! The supported formats, and the code that all readers share.

use std::collections::BTreeMap;

use crate::journey::Journey;
use crate::settings::Settings;
use crate::text::Piece;
use crate::{curl, har, jmx, openapi, postman, url};

/// Maximum size of a source file in bytes.
pub const MAX_SOURCE: usize = 128 << 20;
/// Maximum number of requests in a script. A longer script would not be readable, and its source contains more than one
/// journey.
pub(crate) const MAX_REQUESTS: usize = 2_000;

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A browser's recording: HTTP Archive 1.2.
    Har,
    /// An API description: OpenAPI 3 or Swagger 2, in JSON or YAML.
    OpenApi,
    /// A Postman collection, version 2.0 or 2.1.
    Postman,
    /// curl commands, as browsers copy them.
    Curl,
    /// A JMeter test plan.
    Jmx,
}

impl Format {
    pub const ALL: [Format; 5] = [
        Format::Har,
        Format::OpenApi,
        Format::Postman,
        Format::Curl,
        Format::Jmx,
    ];

    /// The format's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Har => "har",
            Format::OpenApi => "openapi",
            Format::Postman => "postman",
            Format::Curl => "curl",
            Format::Jmx => "jmx",
        }
    }

    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format for the value of `--from`.
    ///
    /// # Errors
    /// If there is no format with that name.
    pub fn from_flag(name: &str) -> Result<Format, String> {
        Format::named(name).ok_or_else(|| {
            let names = Format::ALL.map(Format::name).join(", ");
            format!("--from {name}: use one of {names}")
        })
    }
}

/// Reads a file.
///
/// # Errors
/// If the text does not have that format, or contains no request that can be translated.
pub fn read(format: Format, text: &str, settings: &Settings) -> Result<Journey, String> {
    if text.len() > MAX_SOURCE {
        return Err(format!(
            "it has {} bytes, and the limit is {MAX_SOURCE}",
            text.len()
        ));
    }
    let text = text.trim_start_matches('\u{feff}');
    let mut journey = match format {
        Format::Har => har::read(text, settings),
        Format::OpenApi => openapi::read(text, settings),
        Format::Postman => postman::read(text),
        Format::Curl => curl::read(text),
        Format::Jmx => jmx::read(text),
    }?;
    drop_other_protocols(&mut journey);
    if journey.requests.len() > MAX_REQUESTS {
        let more = journey.requests.len() - MAX_REQUESTS;
        journey.requests.truncate(MAX_REQUESTS);
        journey.problem(
            format!("the last {more} requests"),
            format!("a script has at most {MAX_REQUESTS} requests; split the source"),
        );
    }
    if journey.requests.is_empty() {
        let mut why = "it has no request that can be translated".to_owned();
        for problem in journey.problems.iter().take(5) {
            why.push_str(&format!("\n  {problem}"));
        }
        return Err(why);
    }
    if journey.base.is_empty() {
        journey.base = most_frequent_origin(&journey);
    }
    if journey.base.is_empty() {
        set_server(&mut journey, settings.server.as_deref())?;
    }
    if let Some(server) = &settings.server {
        move_to(&mut journey, server);
    }
    Ok(journey)
}

/// Reports and removes the requests that do not use HTTP, such as `ws://…`.
fn drop_other_protocols(journey: &mut Journey) {
    let all = std::mem::take(&mut journey.requests);
    for request in all {
        let scheme = request.url.start().split_once("://");
        match scheme.map(|(scheme, _)| scheme.to_ascii_lowercase()) {
            Some(scheme) if matches!(scheme.as_str(), "ws" | "wss") => journey.problem(
                format!("the request {}", request.label()),
                "it is a WebSocket; use k6/websockets",
            ),
            Some(scheme) if !matches!(scheme.as_str(), "http" | "https") => journey.problem(
                format!("the request {}", request.label()),
                "only requests of http and https can be translated",
            ),
            _ => journey.requests.push(request),
        }
    }
}

/// The origin of most requests. If several are equally frequent, the one that occurs first.
fn most_frequent_origin(journey: &Journey) -> String {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (at, request) in journey.requests.iter().enumerate() {
        if let Some(origin) = url::origin(request.url.start()) {
            let entry = counts.entry(origin).or_insert((0, usize::MAX - at));
            entry.0 += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, rank)| *rank);
    most.map_or(String::new(), |(origin, _)| origin.to_owned())
}

/// Replaces a variable without a value at the start of URLs, such as `{{baseUrl}}`.
fn set_server(journey: &mut Journey, server: Option<&str>) -> Result<(), String> {
    let server = server.ok_or(
        "its URLs start with a variable that has no value; add the server's URL: plimsoll new --from FORMAT FILE URL",
    )?;
    for request in &mut journey.requests {
        if let Some(Piece::Code(constant)) = request.url.0.first() {
            let constant = constant.clone();
            request.url.0[0] = Piece::Literal(server.trim_end_matches('/').to_owned());
            let names: Vec<String> = journey
                .variables
                .iter()
                .filter(|variable| variable.constant == constant)
                .map(|variable| format!("the variable {}", variable.name))
                .collect();
            journey
                .problems
                .retain(|problem| !names.contains(&problem.entry));
            journey
                .variables
                .retain(|variable| variable.constant != constant);
        }
    }
    server.trim_end_matches('/').clone_into(&mut journey.base);
    Ok(())
}

/// Sends the requests for the most frequent origin to another one.
fn move_to(journey: &mut Journey, server: &str) {
    let base = journey.base.clone();
    let server = server.trim_end_matches('/');
    for request in &mut journey.requests {
        let start = request.url.start();
        if url::origin(start) == Some(base.as_str()) {
            request.url.replace_start(base.len(), server);
        }
        for (_, value) in &mut request.headers {
            if !base.is_empty() && value.start().starts_with(&base) {
                value.replace_start(base.len(), server);
            }
        }
        if let Some(response) = &mut request.response
            && url::origin(&response.url) == Some(base.as_str())
        {
            response.url.replace_range(..base.len(), server);
        }
    }
    for cookie in &mut journey.cookies {
        if cookie.origin == base {
            server.clone_into(&mut cookie.origin);
        }
    }
    server.clone_into(&mut journey.base);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journey::Request;

    #[test]
    fn a_request_with_another_protocol_is_reported() {
        let collection = r#"{"item": [
            {"name": "Live", "request": {"url": "wss://h/live"}},
            {"name": "Mail", "request": {"url": "imap://h/"}},
            {"name": "Read", "request": {"url": "http://h/{{x}}"}},
            {"name": "Open", "request": {"url": "HTTP://{{host}}/"}}
        ]}"#;
        let journey = read(Format::Postman, collection, &Settings::default()).unwrap();
        let names: Vec<_> = journey.requests.iter().map(Request::label).collect();
        assert_eq!(names, ["Read", "Open"]);
        let problems: Vec<String> = journey.problems.iter().map(ToString::to_string).collect();
        let problems = problems.join("\n");
        assert!(
            problems.contains("the request Live: it is a WebSocket"),
            "{problems}"
        );
        assert!(
            problems.contains("the request Mail: only requests"),
            "{problems}"
        );
    }
}
