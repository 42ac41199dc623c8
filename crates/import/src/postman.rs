//! Postman collections, versions 2.0 and 2.1.

mod events;

use base64::Engine;
use serde_json::Value;

use crate::har::body_of;
use crate::headers::needed;
use crate::journey::{Body, Journey, Json, Part, Request};
use crate::template::Variables;
use crate::text::Text;

/// Maximum nesting depth of folders.
const MAX_DEPTH: usize = 32;

/// Reads a collection.
pub fn read(text: &str) -> Result<Journey, String> {
    let file: Value =
        serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
    // Postman's API wraps the collection.
    let collection = file.get("collection").unwrap_or(&file);
    let Some(items) = collection.get("item").and_then(Value::as_array) else {
        return Err(match collection.get("requests") {
            Some(_) => "it is a collection of version 1; export it as version 2.1".to_owned(),
            None => "it is not a collection of Postman: it has no \"item\"".to_owned(),
        });
    };
    let mut reader = Reader {
        journey: Journey::default(),
        variables: Variables::new("{{", "}}", function),
    };
    reader.define(collection.get("variable"));
    reader.items(items, &mut Vec::new(), collection.get("auth"), 0);
    let mut journey = reader.journey;
    reader.variables.finish(&mut journey);
    Ok(journey)
}

/// JavaScript expressions for Postman's dynamic variables.
fn function(name: &str) -> Option<String> {
    let code = match name {
        "$guid" | "$randomUUID" => "crypto.randomUUID()",
        "$timestamp" => "Math.floor(Date.now() / 1000)",
        "$isoTimestamp" => "new Date().toISOString()",
        "$randomInt" => "Math.floor(Math.random() * 1001)",
        "$randomBoolean" => "(Math.random() < 0.5)",
        "$randomEmail" => "`user${Math.floor(Math.random() * 1e9)}@example.com`",
        name if name.starts_with("$random") => "`text${Math.floor(Math.random() * 1e9)}`",
        _ => return None,
    };
    Some(code.to_owned())
}

struct Reader {
    journey: Journey,
    variables: Variables,
}

/// The items of a list. Empty if it is not a list.
fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A string, number or boolean as text.
fn scalar(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
        _ => String::new(),
    }
}

fn is_disabled(value: &Value) -> bool {
    value.get("disabled").and_then(Value::as_bool) == Some(true)
}

impl Reader {
    fn define(&mut self, variables: Option<&Value>) {
        for variable in list(variables)
            .iter()
            .filter(|variable| !is_disabled(variable))
        {
            let name = scalar(variable.get("key").or_else(|| variable.get("id")));
            self.variables.define(&name, &scalar(variable.get("value")));
        }
    }

    fn items(
        &mut self,
        items: &[Value],
        folders: &mut Vec<String>,
        auth: Option<&Value>,
        depth: usize,
    ) {
        for item in items {
            let name = scalar(item.get("name"));
            let auth = item.get("auth").or(auth);
            if let Some(inner) = item.get("item").and_then(Value::as_array) {
                if depth >= MAX_DEPTH {
                    self.journey
                        .problem(format!("the folder {name}"), "it is nested too deeply");
                    continue;
                }
                folders.push(name);
                self.define(item.get("variable"));
                self.items(inner, folders, auth, depth + 1);
                folders.pop();
            } else if let Some(request) = item.get("request") {
                self.request(item, request, &name, folders, auth);
            } else {
                self.journey
                    .problem(format!("the item {name}"), "it has no request");
            }
        }
    }

    fn request(
        &mut self,
        item: &Value,
        given: &Value,
        name: &str,
        folders: &[String],
        auth: Option<&Value>,
    ) {
        let shown = format!("the request {name}");
        let raw = match given {
            Value::String(url) => url.clone(),
            given => url_of(given.get("url")),
        };
        if raw.trim().is_empty() {
            return self.journey.problem(shown, "it has no URL");
        }
        let method = scalar(given.get("method")).to_ascii_uppercase();
        let method = if method.is_empty() {
            "GET".to_owned()
        } else {
            method
        };
        let mut request = Request {
            group: (!folders.is_empty()).then(|| folders.join(" / ")),
            name: (!name.is_empty()).then(|| name.to_owned()),
            url: self.url(raw.trim(), given.get("url")),
            ..Request::default()
        };
        let mut headers: Vec<(String, Text)> = list(given.get("header"))
            .iter()
            .filter(|header| !is_disabled(header))
            .map(|header| {
                let value = scalar(header.get("value"));
                (scalar(header.get("key")), self.variables.text(&value))
            })
            .collect();
        self.authorize(
            given.get("auth").or(auth),
            &shown,
            &mut request,
            &mut headers,
        );
        request.body = self.body(given.get("body"), &shown, &mut headers, &mut request.notes);
        request.headers = needed(&method, headers);
        request.method = method;
        self.events(item, &shown, &mut request);
        self.journey.requests.push(request);
    }

    /// The URL. Variables in its origin are replaced with their values, so that the script contains each origin only
    /// once.
    fn url(&mut self, raw: &str, given: Option<&Value>) -> Text {
        let mut raw = raw.to_owned();
        for variable in list(given.and_then(|url| url.get("variable"))) {
            let name = scalar(variable.get("key"));
            let value = scalar(variable.get("value"));
            if name.is_empty() {
                continue;
            }
            let own = match value.contains("{{") {
                // Its value is another variable.
                true => value,
                false => {
                    self.variables.define(&name, &value);
                    format!("{{{{{name}}}}}")
                }
            };
            raw = raw.replace(&format!("/:{name}"), &format!("/{own}"));
        }
        if raw.starts_with("{{")
            && let Some(end) = raw.find("}}")
        {
            let (first, rest) = raw.split_at(end + 2);
            raw = format!("{}{rest}", self.variables.inline(first));
        } else if let Some((scheme, rest)) = raw.split_once("://") {
            let end = rest.find('/').unwrap_or(rest.len());
            let (host, rest) = rest.split_at(end);
            raw = format!("{scheme}://{}{rest}", self.variables.inline(host));
        }
        if !raw.contains("://") && !raw.starts_with("{{") {
            raw.insert_str(0, "http://");
        }
        self.variables
            .text(raw.split('#').next().unwrap_or_default())
    }

    fn authorize(
        &mut self,
        auth: Option<&Value>,
        shown: &str,
        request: &mut Request,
        headers: &mut Vec<(String, Text)>,
    ) {
        let Some(auth) = auth else { return };
        let kind = scalar(auth.get("type"));
        // Version 2.1 has a list of keys and values, and version 2.0 has an object.
        let part = |name: &str| match auth.get(&kind) {
            Some(Value::Array(parts)) => {
                let mut parts = parts.iter();
                scalar(
                    parts
                        .find(|part| part.get("key").and_then(Value::as_str) == Some(name))
                        .and_then(|part| part.get("value")),
                )
            }
            Some(parts) => scalar(parts.get(name)),
            None => String::new(),
        };
        let header = match kind.as_str() {
            "" | "noauth" => return,
            "bearer" => (
                "Authorization".to_owned(),
                format!("Bearer {}", part("token")),
            ),
            "basic" => {
                let credentials = format!("{}:{}", part("username"), part("password"));
                let credentials = self.variables.inline(&credentials);
                let encoded = base64::engine::general_purpose::STANDARD.encode(credentials);
                ("Authorization".to_owned(), format!("Basic {encoded}"))
            }
            "apikey" if part("in") == "query" => {
                let joint = if request.url.shown().contains('?') {
                    '&'
                } else {
                    '?'
                };
                let query =
                    self.variables
                        .text(&format!("{joint}{}={}", part("key"), part("value")));
                request.url.0.extend(query.0);
                return;
            }
            "apikey" => (part("key"), part("value")),
            other => {
                return self
                    .journey
                    .problem(shown, format!("its authorization {other} is left out"));
            }
        };
        let is_given = headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(&header.0));
        if !is_given {
            let value = self.variables.text(&header.1);
            headers.push((header.0, value));
        }
    }

    fn body(
        &mut self,
        body: Option<&Value>,
        shown: &str,
        headers: &mut Vec<(String, Text)>,
        notes: &mut Vec<String>,
    ) -> Body {
        let Some(body) = body.filter(|body| !is_disabled(body)) else {
            return Body::None;
        };
        let mode = scalar(body.get("mode"));
        let fields = || {
            list(body.get(&mode))
                .iter()
                .filter(|field| !is_disabled(field))
        };
        let mut set_type = |kind: &str| {
            let mut known = headers.iter();
            if !known.any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                headers.push(("Content-Type".to_owned(), kind.into()));
            }
        };
        match mode.as_str() {
            "" => Body::None,
            "raw" => {
                let raw = scalar(body.get("raw"));
                let language = body
                    .pointer("/options/raw/language")
                    .and_then(Value::as_str);
                let is_json = language == Some("json") || raw.trim_start().starts_with(['{', '[']);
                match language {
                    _ if is_json => set_type("application/json"),
                    Some("xml") => set_type("application/xml"),
                    Some("html") => set_type("text/html"),
                    Some("javascript") => set_type("application/javascript"),
                    _ => set_type("text/plain"),
                }
                self.raw(&raw, is_json)
            }
            "urlencoded" => {
                let fields: Vec<(String, Text)> = fields()
                    .map(|field| {
                        (
                            scalar(field.get("key")),
                            self.variables.text(&scalar(field.get("value"))),
                        )
                    })
                    .collect();
                set_type("application/x-www-form-urlencoded");
                Body::Form(fields)
            }
            "formdata" => {
                let mut parts = Vec::new();
                for field in fields() {
                    let name = scalar(field.get("key"));
                    let is_file = field.get("type").and_then(Value::as_str) == Some("file");
                    if !is_file {
                        let value = self.variables.text(&scalar(field.get("value")));
                        parts.push(Part {
                            name,
                            value,
                            file: None,
                        });
                        continue;
                    }
                    let source = match field.get("src") {
                        Some(Value::Array(sources)) => scalar(sources.first()),
                        source => scalar(source),
                    };
                    let file = source
                        .rsplit(['/', '\\'])
                        .next()
                        .unwrap_or_default()
                        .to_owned();
                    self.journey.problem(shown, format!("the content of the file {file} is a placeholder; use open() in the script"));
                    notes.push(format!("The content of {file} is a placeholder."));
                    let kind = "application/octet-stream".to_owned();
                    parts.push(Part {
                        name,
                        value: "placeholder".into(),
                        file: Some((file, kind)),
                    });
                }
                Body::Multipart(parts)
            }
            "graphql" => {
                set_type("application/json");
                let graphql = body.get("graphql");
                let part = |name: &str| scalar(graphql.and_then(|graphql| graphql.get(name)));
                let variables = match part("variables").trim() {
                    "" => "{}".to_owned(),
                    given => given.to_owned(),
                };
                let query = serde_json::Value::String(part("query"));
                self.raw(
                    &format!("{{\"query\":{query},\"variables\":{variables}}}"),
                    true,
                )
            }
            other => {
                self.journey
                    .problem(shown, format!("its body ({other}) is left out"));
                Body::None
            }
        }
    }

    /// Text, or JSON whose strings may contain variables.
    fn raw(&mut self, raw: &str, is_json: bool) -> Body {
        if is_json && let Body::Json(mut json) = body_of("json", raw, Vec::new) {
            self.fill(&mut json);
            return Body::Json(json);
        }
        match raw {
            "" => Body::None,
            raw => Body::Text(self.variables.text(raw)),
        }
    }

    fn fill(&mut self, json: &mut Json) {
        match json {
            Json::Plain(_) => {}
            Json::Text(text) => {
                let filled = self.variables.text(text.literal().unwrap_or_default());
                if filled.literal().is_none() {
                    // The value remains a string.
                    let mut whole = Text(vec![crate::text::Piece::Literal(String::new())]);
                    whole.0.extend(filled.0);
                    *text = whole;
                }
            }
            Json::List(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Json::Object(fields) => fields.iter_mut().for_each(|(_, value)| self.fill(value)),
        }
    }
}

/// The URL as written, or assembled from its parts.
fn url_of(url: Option<&Value>) -> String {
    let Some(url) = url else { return String::new() };
    let raw = match url {
        Value::String(raw) => raw.clone(),
        url => scalar(url.get("raw")),
    };
    if !raw.is_empty() {
        // The raw text contains disabled parameters, too.
        return without_disabled(raw, list(url.get("query")));
    }
    let join = |name: &str, joint: &str| match url.get(name) {
        Some(Value::Array(parts)) => {
            let parts: Vec<String> = parts.iter().map(|part| scalar(Some(part))).collect();
            parts.join(joint)
        }
        other => scalar(other),
    };
    let host = join("host", ".");
    if host.is_empty() {
        return String::new();
    }
    let protocol = scalar(url.get("protocol"));
    let protocol = if protocol.is_empty() {
        "http"
    } else {
        &protocol
    };
    let port = scalar(url.get("port"));
    let port = if port.is_empty() {
        port
    } else {
        format!(":{port}")
    };
    let query = list(url.get("query"))
        .iter()
        .filter(|field| !is_disabled(field));
    let query: Vec<String> = query
        .map(|field| {
            format!(
                "{}={}",
                scalar(field.get("key")),
                scalar(field.get("value"))
            )
        })
        .collect();
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{}", query.join("&"))
    };
    format!("{protocol}://{host}{port}/{}{query}", join("path", "/"))
}

fn without_disabled(raw: String, query: &[Value]) -> String {
    let Some((path, fields)) = raw.split_once('?') else {
        return raw;
    };
    let disabled: Vec<String> = query
        .iter()
        .filter(|field| is_disabled(field))
        .map(|field| {
            format!(
                "{}={}",
                scalar(field.get("key")),
                scalar(field.get("value"))
            )
        })
        .collect();
    let fields = fields
        .split('&')
        .filter(|field| !disabled.iter().any(|other| other == field));
    let fields: Vec<&str> = fields.collect();
    match fields.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", fields.join("&")),
    }
}
