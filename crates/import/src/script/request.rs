//! A request with its check, and with the values that later requests need.

use std::fmt::Write;

use super::body::{self, BodyCode};
use super::{Context, Purpose};
use crate::javascript::{comment, key, metric_name, string, text};
use crate::journey::Request;
use crate::text::{Piece, Text};
use crate::url;

/// Maximum length of a line.
const WIDTH: usize = 100;

impl Context<'_> {
    pub(super) fn request(
        &mut self,
        at: usize,
        request: &Request,
        indent: usize,
        script: &mut String,
    ) {
        let pad = " ".repeat(indent);
        if !script.ends_with("{\n") {
            script.push('\n');
        }
        for note in &request.notes {
            let _ = writeln!(script, "{pad}// {}", comment(note));
        }
        let label = self.label(request);
        let call = self.call(request, &label, indent);
        let _ = writeln!(script, "{pad}response = {call};");
        if self.purpose == Purpose::Capture {
            let _ = writeln!(script, "{pad}capture({at}, response);");
        }
        let (what, condition) = match request.status {
            Some(status) => (
                format!("status is {status}"),
                format!("r.status === {status}"),
            ),
            None => (
                "status is below 400".to_owned(),
                "r.status > 0 && r.status < 400".to_owned(),
            ),
        };
        let name = string(&format!("{label}: {what}"));
        let _ = writeln!(
            script,
            "{pad}check(response, {{ {name}: (r) => {condition} }});"
        );
        for extract in &request.extracts {
            let name = string(&extract.variable);
            let _ = writeln!(
                script,
                "{pad}{} = needed({name}, {});",
                extract.variable, extract.code
            );
        }
    }

    /// A name for the check that no other request has.
    fn label(&mut self, request: &Request) -> String {
        let label = metric_name(&request.label());
        let count = self.labels.entry(label.clone()).or_insert(0);
        *count += 1;
        match *count {
            1 => label,
            more => format!("{label} ({more})"),
        }
    }

    fn call(&self, request: &Request, label: &str, indent: usize) -> String {
        let url = self.url(&request.url);
        let BodyCode { code, content_type } = body::write(&request.body, indent + 2);
        let parameters = self.parameters(request, content_type.as_deref(), label, indent + 2);
        let (function, takes_body) = match request.method.as_str() {
            "GET" if code.is_none() => ("http.get", false),
            "HEAD" if code.is_none() => ("http.head", false),
            "POST" => ("http.post", true),
            "PUT" => ("http.put", true),
            "PATCH" => ("http.patch", true),
            "DELETE" => ("http.del", true),
            "OPTIONS" => ("http.options", true),
            _ => ("http.request", true),
        };
        let mut arguments = Vec::new();
        if function == "http.request" {
            arguments.push(string(&request.method));
        }
        arguments.push(url);
        match (takes_body, code, &parameters) {
            (true, Some(code), _) => arguments.push(code),
            (true, None, Some(_)) => arguments.push("null".to_owned()),
            _ => {}
        }
        arguments.extend(parameters);
        let line = format!("{function}({})", arguments.join(", "));
        if !line.contains('\n') && indent + "response = ;".len() + line.len() <= WIDTH {
            return line;
        }
        let pad = " ".repeat(indent + 2);
        let lines = arguments
            .iter()
            .map(|argument| format!("{pad}{argument},\n"));
        format!(
            "{function}(\n{}{})",
            lines.collect::<String>(),
            " ".repeat(indent)
        )
    }

    /// A text literal. If it is a URL with a known origin, the constant for that origin replaces the origin.
    fn url(&self, given: &Text) -> String {
        let start = given.start();
        let Some(origin) = url::origin(start) else {
            return text(given);
        };
        let Some(constant) = self.origins.get(origin) else {
            return text(given);
        };
        let mut moved = given.clone();
        moved.replace_start(origin.len(), "");
        moved.0.insert(0, Piece::Code(constant.clone()));
        text(&moved)
    }

    fn parameters(
        &self,
        request: &Request,
        content_type: Option<&str>,
        label: &str,
        indent: usize,
    ) -> Option<String> {
        let mut fields = Vec::new();
        let own = request.headers.iter().filter(|(name, value)| {
            let is_common = self.common.iter().any(|(known, _)| known == name);
            // The script engine sets the content type of a form itself.
            let is_default = content_type.is_some() && name.eq_ignore_ascii_case("content-type");
            !is_common && !is_default && !value.is_empty()
        });
        let mut headers: Vec<String> = own
            .map(|(name, value)| format!("{}: {}", key(name), self.url(value)))
            .collect();
        if let Some(given) = content_type.filter(|given| !given.is_empty()) {
            headers.push(format!("'Content-Type': {}", string(given)));
        }
        match (self.common.is_empty(), headers.is_empty()) {
            (true, true) => {}
            (false, true) => fields.push("headers: HEADERS".to_owned()),
            (is_alone, false) => {
                if !is_alone {
                    headers.insert(0, "...HEADERS".to_owned());
                }
                fields.push(format!("headers: {}", object(&headers, indent + 2)));
            }
        }
        let has_code = request
            .url
            .0
            .iter()
            .any(|piece| matches!(piece, Piece::Code(_)));
        if has_code || request.name.is_some() {
            // URLs that differ in one value share a name in the results.
            fields.push(format!("tags: {{ name: {} }}", string(label)));
        }
        if request.keeps_redirect {
            fields.push("redirects: 0".to_owned());
        }
        (!fields.is_empty()).then(|| object(&fields, indent))
    }
}

/// An object literal. It is on one line if it is short.
fn object(fields: &[String], indent: usize) -> String {
    let line = format!("{{ {} }}", fields.join(", "));
    if !line.contains('\n') && line.len() + indent + "headers: ,".len() <= WIDTH {
        return line;
    }
    let pad = " ".repeat(indent + 2);
    let lines = fields.iter().map(|field| format!("{pad}{field},\n"));
    format!("{{\n{}{}}}", lines.collect::<String>(), " ".repeat(indent))
}
