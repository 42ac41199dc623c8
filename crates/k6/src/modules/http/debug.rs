//! Logs requests and responses: the option `httpDebug`. The form is k6's.

use std::borrow::Cow;
use std::cell::RefCell;

use log::Level;
use plimsoll_http::{Head, MessageLog, canonical_name};

use super::arguments::Prepared;
use crate::http_state::HttpDebug;
use crate::pure::uuid::random_uuid;
use crate::user::User;

/// Logs the messages of one request, and of the redirects that it follows.
pub struct DebugLog<'a> {
    user: &'a User,
    debug: HttpDebug,
    /// The tags and metadata of the request, as additional fields of the lines, without the number of the request.
    fields: Vec<(String, String)>,
    /// Identifies the latest request.
    id: RefCell<String>,
}

impl<'a> DebugLog<'a> {
    pub fn new(user: &'a User, prepared: &Prepared, debug: HttpDebug) -> DebugLog<'a> {
        let tags = &user.tags;
        let own = tags.keys().into_iter();
        let mut fields: Vec<(String, String)> = own
            .filter_map(|key| Some((key.clone(), tags.get(&key)?)))
            .collect();
        fields.extend(tags.metadata().clone());
        let iteration = user.iteration.borrow();
        let iteration = iteration.as_ref().map_or(0, |iteration| iteration.in_user);
        let given = prepared.tags.borrowed().into_iter();
        let given = given.chain(prepared.name.as_deref().map(|name| ("name", name)));
        let more = given.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let numbers = [("iter", iteration), ("vu", user.id.0.into())];
        let numbers = numbers.map(|(key, number)| (key.to_owned(), number.to_string()));
        for (key, value) in more.chain(numbers) {
            fields.retain(|(known, _)| *known != key);
            fields.push((key, value));
        }
        fields.push(("source".to_owned(), "http-debug".to_owned()));
        DebugLog {
            user,
            debug,
            fields,
            id: RefCell::default(),
        }
    }

    fn log(&self, kind: &str, message: &[u8]) {
        let message = String::from_utf8_lossy(message).replace("\r\n", "\n");
        let id = self.id.borrow();
        let mut fields: Vec<(&str, &str)> = vec![("request_id", id.as_str())];
        fields.extend(self.fields.iter().map(|(key, value)| (&**key, &**value)));
        fields.sort_unstable();
        let text = format!("{kind}:\n{message}\n");
        self.user.log_with(Level::Info, &text, &fields);
    }
}

impl MessageLog for DebugLog<'_> {
    fn request(&self, head: &[u8], body: &[u8]) {
        let mut bytes = [0; 16];
        // Without random numbers, a log is still useful.
        let _ = getrandom::fill(&mut bytes);
        *self.id.borrow_mut() = random_uuid(bytes);
        let body = if self.needs_body() { body } else { &[] };
        self.log("Request", &[head, body].concat());
    }

    fn response(&self, head: &Head, body: &[u8]) {
        let mut text = response_head(head).into_bytes();
        if self.needs_body() {
            if is_chunked(head) && !body.is_empty() {
                text.extend_from_slice(format!("{:x}\n", body.len()).as_bytes());
                text.extend_from_slice(body);
                text.push(b'\n');
            } else {
                text.extend_from_slice(body);
            }
            if is_chunked(head) {
                text.extend_from_slice(b"0\n\n");
            }
        }
        self.log("Response", &text);
    }

    fn needs_body(&self) -> bool {
        self.debug == HttpDebug::Full
    }
}

fn is_chunked(head: &Head) -> bool {
    head.get("transfer-encoding").is_some()
}

/// Status line and headers in the order of Go: first the framing, then the other headers by name.
fn response_head(head: &Head) -> String {
    let value = |name: &str| head.get(name).map(String::from_utf8_lossy);
    let length = value("content-length");
    let has_body = !matches!(head.status(), 100..=199 | 204 | 304);
    let closes = value("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    let ends_by_closing = has_body && length.is_none() && !is_chunked(head);
    let mut lines = vec![format!(
        "{} {:03} {}",
        head.proto().as_str(),
        head.status(),
        head.reason()
    )];
    if closes || ends_by_closing {
        lines.push("Connection: close".to_owned());
    }
    if is_chunked(head) {
        lines.push("Transfer-Encoding: chunked".to_owned());
    } else if let Some(length) = length.as_deref().filter(|length| *length != "0") {
        lines.push(format!("Content-Length: {length}"));
    }
    let mut others: Vec<(Cow<'_, str>, Cow<'_, str>)> = head
        .fields()
        .map(|(name, value)| (canonical_name(name), String::from_utf8_lossy(value)))
        .filter(|(name, _)| match &**name {
            "Content-Length" | "Transfer-Encoding" => false,
            "Connection" => !closes,
            _ => true,
        })
        .collect();
    others.sort_by(|(a, _), (b, _)| a.cmp(b));
    let shown = others
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    lines.extend(shown);
    if length.as_deref() == Some("0") {
        lines.push("Content-Length: 0".to_owned());
    }
    lines.join("\n") + "\n\n"
}
