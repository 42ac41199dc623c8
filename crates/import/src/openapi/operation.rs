//! Converts an API operation to a request.

use serde_json::Value;

use super::Reader;
use crate::correlate::singular;
use crate::headers::needed;
use crate::journey::{Body, Json, Part, Request};
use crate::text::Text;
use crate::url;

/// A value as a string for a URL, a header or a form.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(scalar).collect::<Vec<_>>().join(","),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

fn part<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

impl<'a> Reader<'a> {
    pub(super) fn operation(
        &mut self,
        path: &str,
        method: &str,
        operation: &'a Value,
        shared: Option<&'a Value>,
    ) {
        let method = method.to_ascii_uppercase();
        let shown = format!("{method} {path}");
        let tag = operation.get("tags").and_then(|tags| tags.get(0));
        let name = match (part(operation, "operationId"), part(operation, "summary")) {
            ("", "") => None,
            ("", summary) => Some(summary.trim().to_owned()),
            (id, _) => Some(id.to_owned()),
        };
        let mut request = Request {
            group: tag.and_then(Value::as_str).map(str::to_owned),
            name,
            status: status(operation),
            ..Request::default()
        };
        let mut call = Call {
            path: path.replace('\u{0}', ""),
            query: Text::default(),
            headers: Vec::new(),
            form: Vec::new(),
        };
        let lists = [operation.get("parameters"), shared];
        let lists = lists.into_iter().flatten().filter_map(Value::as_array);
        let mut known: Vec<(&str, &str)> = Vec::new();
        for parameter in lists.flatten() {
            let parameter = self.resolved(parameter);
            // The parameters of the operation override those of the path.
            let key = (part(parameter, "in"), part(parameter, "name"));
            if !known.contains(&key) {
                known.push(key);
                self.parameter(parameter, &shown, &mut call, &mut request);
            }
        }
        self.authorize(operation, &shown, &mut call);
        let content = operation.get("requestBody").map(|body| self.resolved(body));
        if let Some(content) = content
            .and_then(|body| body.get("content"))
            .and_then(Value::as_object)
        {
            self.body(content, &shown, &mut call, &mut request);
        }
        if !call.form.is_empty() {
            request.body = Body::Form(call.form);
        }
        self.undescribed(&mut call.path, &shown);
        request.url = self.url(&call.path, call.query);
        if let Some(kind) = part_of_list(operation.get("consumes"))
            && matches!(request.body, Body::Json(_) | Body::Text(_))
            && !call.headers.iter().any(|(name, _)| name == "Content-Type")
        {
            call.headers.push(("Content-Type".to_owned(), kind.into()));
        }
        request.headers = needed(&method, call.headers);
        request.method = method;
        self.journey.requests.push(request);
    }

    fn parameter(
        &mut self,
        parameter: &'a Value,
        shown: &str,
        call: &mut Call,
        request: &mut Request,
    ) {
        let name = part(parameter, "name");
        let is_required = parameter.get("required").and_then(Value::as_bool) == Some(true);
        let has_example = parameter.get("example").is_some() || parameter.get("examples").is_some();
        let place = part(parameter, "in");
        if parameter.get("$ref").is_some() {
            let reference = part(parameter, "$ref");
            let why = match reference.starts_with('#') {
                true => "is not in the file",
                false => "is in another file",
            };
            return self
                .journey
                .problem(shown, format!("the parameter {reference} {why}"));
        }
        if place != "path" && place != "body" && !is_required && !has_example {
            return;
        }
        let example = self.example(parameter);
        match place {
            "path" => {
                let own = resource_id(&call.path, name);
                let own = own.as_deref().unwrap_or(name);
                let constant = self.variable(own, &scalar(&example));
                let marked = format!("\u{0}{constant}\u{0}");
                call.path = call.path.replace(&format!("{{{name}}}"), &marked);
            }
            "query" => {
                let joint = if call.query.is_empty() { '?' } else { '&' };
                let value = url::encode(&scalar(&example));
                call.query
                    .push_literal(&format!("{joint}{}={value}", url::encode(name)));
            }
            "header" => call
                .headers
                .push((name.to_owned(), scalar(&example).into())),
            "formData" => call.form.push((name.to_owned(), scalar(&example).into())),
            "body" => request.body = json(&example),
            "cookie" => {
                self.journey.problem(
                    shown,
                    format!("the cookie {name} is left out; set it in the script"),
                );
            }
            _ => self
                .journey
                .problem(shown, format!("the parameter {name} is left out")),
        }
    }

    /// Path parameters that are missing in the description become values that the user sets.
    fn undescribed(&mut self, path: &mut String, shown: &str) {
        while let Some((before, rest)) = path.split_once('{')
            && let Some((name, after)) = rest.split_once('}')
        {
            let own = resource_id(path, name).unwrap_or_else(|| name.to_owned());
            self.journey.problem(
                shown,
                format!(
                    "the parameter {name} of its path is not described; set it with -e {own}=…"
                ),
            );
            let constant = self.variable(&own, "1");
            *path = format!("{before}\u{0}{constant}\u{0}{after}");
        }
    }

    /// The URL, with constants in place of path parameters.
    fn url(&self, path: &str, query: Text) -> Text {
        let mut url = Text::from(self.server.as_str());
        for (at, piece) in path.split('\u{0}').enumerate() {
            match at % 2 {
                0 => url.push_literal(piece),
                _ => url.push_code(&format!("encodeURIComponent({piece})")),
            }
        }
        url.0.extend(query.0);
        url
    }

    fn body(
        &mut self,
        content: &'a serde_json::Map<String, Value>,
        shown: &str,
        call: &mut Call,
        request: &mut Request,
    ) {
        let named = |wanted: fn(&str) -> bool| content.iter().find(|(kind, _)| wanted(kind));
        let chosen = named(|kind| kind.contains("json"))
            .or_else(|| named(|kind| kind == "application/x-www-form-urlencoded"))
            .or_else(|| named(|kind| kind == "multipart/form-data"))
            .or_else(|| content.iter().next());
        let Some((kind, media)) = chosen else { return };
        let example = self.example(media);
        let fields = || example.as_object().into_iter().flatten();
        match kind.as_str() {
            "application/x-www-form-urlencoded" => {
                call.form
                    .extend(fields().map(|(name, value)| (name.clone(), scalar(value).into())));
            }
            "multipart/form-data" => {
                let parts = fields().map(|(name, value)| {
                    let schema = media.get("schema").map(|schema| self.resolved(schema));
                    let field = schema.and_then(|schema| schema.get("properties")?.get(name));
                    let is_file = field.is_some_and(|field| part(field, "format") == "binary");
                    let kind = "application/octet-stream".to_owned();
                    Part {
                        name: name.clone(),
                        value: scalar(value).into(),
                        file: is_file.then(|| (format!("{name}.bin"), kind)),
                    }
                });
                request.body = Body::Multipart(parts.collect());
            }
            kind => {
                let kind = if kind.contains('*') {
                    "application/json"
                } else {
                    kind
                };
                call.headers.push(("Content-Type".to_owned(), kind.into()));
                if kind.contains("json") {
                    request.body = json(&example);
                } else if let Value::String(text) = &example {
                    request.body = Body::Text(text.as_str().into());
                } else {
                    self.journey.problem(
                        shown,
                        format!("its body of type {kind} is left out; write it into the script"),
                    );
                }
            }
        }
    }

    fn authorize(&mut self, operation: &Value, shown: &str, call: &mut Call) {
        let security = operation
            .get("security")
            .or_else(|| self.document.get("security"));
        let Some(needed) = security
            .and_then(|list| list.get(0))
            .and_then(Value::as_object)
        else {
            return;
        };
        for name in needed.keys() {
            let schemes = self
                .document
                .pointer("/components/securitySchemes")
                .or_else(|| self.document.get("securityDefinitions"));
            let Some(scheme) = schemes.and_then(|schemes| schemes.get(name)) else {
                continue;
            };
            let scheme = self.resolved(scheme);
            let kind = part(scheme, "type");
            let mut value = Text::default();
            match (kind, part(scheme, "scheme").to_ascii_lowercase().as_str()) {
                ("http", "bearer") | ("oauth2" | "openIdConnect", _) => {
                    value.push_literal("Bearer ");
                    value.push_code(&self.variable("TOKEN", ""));
                    call.headers.push(("Authorization".to_owned(), value));
                }
                ("http", "basic") | ("basic", _) => {
                    value.push_literal("Basic ");
                    value.push_code(&self.variable("BASIC_CREDENTIALS", ""));
                    call.headers.push(("Authorization".to_owned(), value));
                }
                ("apiKey", _) => {
                    let field = part(scheme, "name");
                    let constant = self.variable("API_KEY", "");
                    match part(scheme, "in") {
                        "query" => {
                            let joint = if call.query.is_empty() { '?' } else { '&' };
                            call.query
                                .push_literal(&format!("{joint}{}=", url::encode(field)));
                            call.query
                                .push_code(&format!("encodeURIComponent({constant})"));
                        }
                        "header" => {
                            value.push_code(&constant);
                            call.headers.push((field.to_owned(), value));
                        }
                        _ => self.journey.problem(
                            shown,
                            format!("the cookie {field} is left out; set it in the script"),
                        ),
                    }
                }
                _ => self
                    .journey
                    .problem(shown, format!("its authorization {name} is left out")),
            }
        }
    }
}

/// A name for the parameter `id` of a path. It depends on the resource: `orderId` in `/orders/{id}`.
fn resource_id(path: &str, name: &str) -> Option<String> {
    let (before, _) = path.split_once(&format!("/{{{name}}}"))?;
    let resource = before.rsplit('/').next()?;
    let is_plain = !resource.is_empty() && !resource.contains(['{', '\u{0}']);
    (is_plain && name.eq_ignore_ascii_case("id")).then(|| {
        let chars = resource.chars().filter(char::is_ascii_alphanumeric);
        format!("{}Id", singular(&chars.collect::<String>()))
    })
}

/// The parts of a request that parameters change.
struct Call {
    /// Constants are delimited by zero bytes.
    path: String,
    query: Text,
    headers: Vec<(String, Text)>,
    form: Vec<(String, Text)>,
}

/// The first status that means success.
fn status(operation: &Value) -> Option<u16> {
    let responses = operation.get("responses")?.as_object()?;
    let mut codes = responses.keys().filter_map(|code| code.parse().ok());
    codes.find(|code| (200..300).contains(code))
}

fn part_of_list(value: Option<&Value>) -> Option<&str> {
    value?.get(0)?.as_str()
}

fn json(value: &Value) -> Body {
    match Json::of(value) {
        Some(json) => Body::Json(json),
        None => Body::Text(value.to_string().into()),
    }
}
