//! `console`: how values look in the log.

use std::fmt::Write as _;

use log::Level;
use plimsoll_quickjs::{Call, Context, Entry, Returned, Thrown, Value, give_way};

use crate::user::user;

/// The functions of the global `console`.
pub static ENTRIES: &[Entry] = &[
    Entry::function(c"log", 0, |context, call| log(context, call, Level::Info)),
    Entry::function(c"info", 0, |context, call| log(context, call, Level::Info)),
    Entry::function(c"debug", 0, |context, call| {
        log(context, call, Level::Debug)
    }),
    Entry::function(c"warn", 0, |context, call| log(context, call, Level::Warn)),
    Entry::function(c"error", 0, |context, call| {
        log(context, call, Level::Error)
    }),
];

fn log<'c>(context: &'c Context, call: &Call<'c>, level: Level) -> Returned<'c> {
    let mut line = String::new();
    for (place, value) in call.arguments().enumerate() {
        if place > 0 {
            line.push(' ');
        }
        write_outer(&mut line, &value)?;
    }
    user(context).log_with(level, &line, &[("source", "console")]);
    Ok(context.undefined())
}

/// Writes a value that is an argument itself. Strings are not quoted.
fn write_outer(line: &mut String, value: &Value<'_>) -> Result<(), Thrown> {
    if value.is_symbol() {
        return write_symbol(line, value);
    }
    if !value.is_object() {
        line.push_str(&value.to_text()?);
        return Ok(());
    }
    write_object(line, value, &mut Vec::new())
}

/// Writes a value inside another value. Strings are quoted, and values without a JSON form become null.
fn write_inner<'c>(
    line: &mut String,
    value: &Value<'c>,
    around: &mut Vec<Value<'c>>,
) -> Result<(), Thrown> {
    if value.is_undefined() {
        line.push_str("null");
    } else if value.is_string() {
        let _ = write!(line, "\"{}\"", &*value.to_text()?);
    } else if value.is_symbol() {
        line.push('"');
        write_symbol(line, value)?;
        line.push('"');
    } else if value.is_object() {
        write_object(line, value, around)?;
    } else {
        line.push_str(&value.to_text()?);
    }
    Ok(())
}

fn write_symbol(line: &mut String, value: &Value<'_>) -> Result<(), Thrown> {
    let description = value.get("description")?;
    line.push_str(&description.to_text()?);
    Ok(())
}

fn write_object<'c>(
    line: &mut String,
    value: &Value<'c>,
    around: &mut Vec<Value<'c>>,
) -> Result<(), Thrown> {
    if around.iter().any(|outer| outer.is_same(value)) {
        line.push_str("[Circular]");
        return Ok(());
    }
    if value.is_function() {
        line.push_str("[object Function]");
    } else if value.is_error() {
        line.push_str(&value.to_text()?);
    } else if value.is_date() {
        line.push_str(value.to_json()?.as_deref().unwrap_or("null"));
    } else if value.is_array_buffer() {
        write_buffer(line, value);
    } else if around.len() >= MAX_DEPTH {
        line.push_str("[…]");
    } else if value.is_array() {
        around.push(value.clone());
        write_items(line, value, around)?;
        around.pop();
    } else if value.with_bytes(|_| ()).is_some()
        && let Some(length) = value.get("length")?.as_number()
    {
        let name = value.get("constructor")?.get("name")?;
        let _ = write!(line, "{}({length}) ", &*name.to_text()?);
        write_items(line, value, around)?;
    } else {
        around.push(value.clone());
        write_members(line, value, around)?;
        around.pop();
    }
    Ok(())
}

/// The cost of showing one value, as the number of bytes that could be read in the same time.
const VALUE: usize = 128;

/// Maximum nesting depth to show. Nobody reads further, and the stack is limited.
const MAX_DEPTH: usize = 100;

fn write_items<'c>(
    line: &mut String,
    value: &Value<'c>,
    around: &mut Vec<Value<'c>>,
) -> Result<(), Thrown> {
    let length = value.length()?;
    if length == 0 {
        line.push_str("[]");
        return Ok(());
    }
    line.push_str("[ ");
    for index in 0..u32::try_from(length).unwrap_or(u32::MAX) {
        if index > 0 {
            line.push_str(", ");
        }
        give_way(VALUE);
        write_inner(line, &value.at(index)?, around)?;
    }
    line.push_str(" ]");
    Ok(())
}

fn write_members<'c>(
    line: &mut String,
    value: &Value<'c>,
    around: &mut Vec<Value<'c>>,
) -> Result<(), Thrown> {
    let mut any = false;
    for key in value.keys()? {
        give_way(VALUE);
        line.push_str(if any { ", " } else { "{ " });
        any = true;
        key.with_text(|text| line.push_str(text));
        line.push_str(": ");
        write_inner(line, &value.get(&key)?, around)?;
    }
    line.push_str(if any { " }" } else { "{}" });
    Ok(())
}

fn write_buffer(line: &mut String, value: &Value<'_>) {
    line.push_str("ArrayBuffer { [Uint8Contents]: <");
    let length = value.with_bytes(|bytes| {
        for (place, byte) in bytes.iter().enumerate() {
            give_way(16);
            let _ = write!(line, "{}{byte:02x}", if place > 0 { " " } else { "" });
        }
        bytes.len()
    });
    let _ = write!(line, ">, byteLength: {} }}", length.unwrap_or(0));
}
