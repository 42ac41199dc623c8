//! HTTP responses.

use std::io::{Error, Write};
use std::sync::mpsc::Receiver;

use crate::hub::{Message, ViewerGuard};

pub enum Response {
    Full {
        status: &'static str,
        kind: &'static str,
        body: Vec<u8>,
    },
    /// Server-sent events, until the sender ends or drops the viewer.
    Events(Receiver<Message>, ViewerGuard),
}

/// Allows the page to use only its own content, and to connect only to its own origin.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

impl Response {
    /// A response with a short text.
    pub fn text(status: &'static str, text: &str) -> Response {
        Response::Full {
            status,
            kind: "text/plain; charset=utf-8",
            body: format!("{text}\n").into_bytes(),
        }
    }

    pub fn html(page: String) -> Response {
        Response::Full {
            status: "200 OK",
            kind: "text/html; charset=utf-8",
            body: page.into_bytes(),
        }
    }

    /// Writes the response. Writes to `stream` must have a time limit.
    ///
    /// # Errors
    /// If the peer does not accept it.
    pub fn write(self, stream: &mut impl Write) -> Result<(), Error> {
        match self {
            Response::Full { status, kind, body } => {
                let length = format!("Content-Length: {}\r\n", body.len());
                stream.write_all(headers(status, kind, &length).as_bytes())?;
                stream.write_all(&body)
            }
            Response::Events(messages, watching) => {
                stream.write_all(headers("200 OK", "text/event-stream", "").as_bytes())?;
                while let Ok(message) = messages.recv() {
                    stream.write_all(message.as_bytes())?;
                }
                drop(watching);
                Ok(())
            }
        }
    }
}

fn headers(status: &str, kind: &str, length: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{length}Cache-Control: no-store\r\n\
         Content-Security-Policy: {POLICY}\r\nReferrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
}
