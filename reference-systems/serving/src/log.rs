//! The log: one JSON object per line, on stderr.

use std::io::Write;
use std::time::SystemTime;

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Further fields of a line. Never put a secret in one.
pub type Fields<'a> = &'a [(&'a str, Value)];

/// Logs a normal event.
pub fn info(message: &str, fields: Fields<'_>) {
    write("info", message, fields);
}

/// Logs an event that needs attention.
pub fn warn(message: &str, fields: Fields<'_>) {
    write("warn", message, fields);
}

/// Logs an error that ends the program.
pub fn error(message: &str, fields: Fields<'_>) {
    write("error", message, fields);
}

fn write(level: &str, message: &str, fields: Fields<'_>) {
    let now = OffsetDateTime::from(SystemTime::now());
    let mut line = Map::new();
    line.insert(
        "time".into(),
        now.format(&Rfc3339).unwrap_or_default().into(),
    );
    line.insert("level".into(), level.into());
    line.insert("message".into(), message.into());
    for (key, value) in fields {
        line.insert((*key).into(), value.clone());
    }
    // If stderr is closed, nobody can read the message.
    let _ = writeln!(std::io::stderr(), "{}", Value::Object(line));
}
