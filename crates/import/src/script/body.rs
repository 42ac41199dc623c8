//! The body of a request, as a JavaScript expression.

use crate::javascript::{json, key, string, text, value};
use crate::journey::{Body, Part};
use crate::text::Text;

/// A body, and the content type that the script sets for it.
pub(super) struct BodyCode {
    pub code: Option<String>,
    /// Replaces the header. Empty if the script engine sets the header.
    pub content_type: Option<String>,
}

/// The boundary between the parts of a multipart body without files.
const BOUNDARY: &str = "----plimsoll-7MA4YWxkTrZu0gW";

/// The JavaScript expression for a body.
pub(super) fn write(body: &Body, indent: usize) -> BodyCode {
    match body {
        Body::None => BodyCode {
            code: None,
            content_type: None,
        },
        Body::Text(given) => BodyCode {
            code: Some(text(given)),
            content_type: None,
        },
        Body::Json(given) => BodyCode {
            code: Some(format!("JSON.stringify({})", json(given, indent))),
            content_type: None,
        },
        Body::Form(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, given)| format!("{}: {}", key(name), value(given)))
                .collect();
            BodyCode {
                code: Some(object(&fields, indent)),
                content_type: Some(String::new()),
            }
        }
        Body::Multipart(parts) if parts.iter().any(|part| part.file.is_some()) => BodyCode {
            code: Some(with_files(parts, indent)),
            content_type: Some(String::new()),
        },
        Body::Multipart(parts) => BodyCode {
            code: Some(text(&without_files(parts))),
            content_type: Some(format!("multipart/form-data; boundary={BOUNDARY}")),
        },
    }
}

fn with_files(parts: &[Part], indent: usize) -> String {
    let fields: Vec<String> = parts
        .iter()
        .map(|part| {
            let content = text(&part.value);
            let value = match &part.file {
                Some((name, kind)) => {
                    format!("http.file({content}, {}, {})", string(name), string(kind))
                }
                None => content,
            };
            format!("{}: {value}", key(&part.name))
        })
        .collect();
    object(&fields, indent)
}

/// Encodes a body according to RFC 7578. An object without files would be sent as a different type of form.
fn without_files(parts: &[Part]) -> Text {
    let mut whole = Text::default();
    for part in parts {
        let name = part.name.replace('"', "%22").replace(['\r', '\n'], " ");
        whole.push_literal(&format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n"
        ));
        whole.0.extend(part.value.0.iter().cloned());
        whole.push_literal("\r\n");
    }
    whole.push_literal(&format!("--{BOUNDARY}--\r\n"));
    whole
}

fn object(fields: &[String], indent: usize) -> String {
    let line = format!("{{ {} }}", fields.join(", "));
    if line.len() + indent <= 90 {
        return line;
    }
    let pad = " ".repeat(indent + 2);
    let lines = fields.iter().map(|field| format!("{pad}{field},\n"));
    format!("{{\n{}{}}}", lines.collect::<String>(), " ".repeat(indent))
}
