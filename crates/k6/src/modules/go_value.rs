//! JavaScript values as k6, a Go program, prints them: in forms, in URLs and in errors of `k6/http`.

use plimsoll_quickjs::{Thrown, Value, give_way};

use crate::pure::go_number;

/// The cost of printing one value, as the number of bytes that could be read in the same time.
const VALUE: usize = 64;

/// Maximum nesting depth to print. Nobody reads further, and the stack is limited.
const MAX_DEPTH: u32 = 32;

/// A value as a string, like Go's `%v`: `map[a:1]` for `{ a: 1 }`.
pub fn text(value: &Value<'_>) -> Result<String, Thrown> {
    let mut text = String::new();
    write(&mut text, value, 0)?;
    Ok(text)
}

fn write(out: &mut String, value: &Value<'_>, depth: u32) -> Result<(), Thrown> {
    give_way(VALUE);
    if value.is_nullish() {
        out.push_str("<nil>");
    } else if let Some(number) = value.as_number() {
        out.push_str(&go_number::text(number));
    } else if value.is_symbol() {
        out.push_str(&value.get("description")?.to_text()?);
    } else if !value.is_object() {
        out.push_str(&value.to_text()?);
    } else if value.is_function() {
        // Go prints the address of its own function. Functions have no address here.
        out.push_str("0x0");
    } else if value.is_date() {
        out.push_str(&date(value)?);
    } else if depth == MAX_DEPTH {
        out.push('…');
    } else if value.is_array() || value.element_type().is_some() {
        write_items(out, value, depth)?;
    } else {
        write_members(out, value, depth)?;
    }
    Ok(())
}

fn write_items(out: &mut String, value: &Value<'_>, depth: u32) -> Result<(), Thrown> {
    out.push('[');
    for index in 0..u32::try_from(value.length()?).unwrap_or(u32::MAX) {
        if index > 0 {
            out.push(' ');
        }
        write(out, &value.at(index)?, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

fn write_members(out: &mut String, value: &Value<'_>, depth: u32) -> Result<(), Thrown> {
    let mut members = match is_boxed_text(value)? {
        true => Vec::new(),
        false => value.entries()?,
    };
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    out.push_str("map[");
    for (place, (name, member)) in members.iter().enumerate() {
        if place > 0 {
            out.push(' ');
        }
        out.push_str(name);
        out.push(':');
        write(out, member, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

/// Whether this is a `String` object. Its characters are properties, but not for k6.
pub fn is_boxed_text(value: &Value<'_>) -> Result<bool, Thrown> {
    let text = value.context().global().get("String")?;
    Ok(value.prototype()?.is_same(&text.get("prototype")?))
}

/// `1970-01-01 00:00:00 +0000 UTC`, with a fraction of a second unless it is zero.
fn date(value: &Value<'_>) -> Result<String, Thrown> {
    let json = value.to_json()?.unwrap_or_default();
    let written = json.trim_matches('"').trim_end_matches('Z');
    let Some((date, time)) = written.split_once('T') else {
        return Ok(written.to_owned());
    };
    let time = time.trim_end_matches('0').trim_end_matches('.');
    Ok(format!("{date} {time} +0000 UTC"))
}

/// The name of a value's type in k6's errors.
pub fn kind(value: &Value<'_>) -> &'static str {
    if let Some(number) = value.as_number() {
        return match number.fract() == 0.0 {
            true => "int64",
            false => "float64",
        };
    }
    match value.element_type() {
        Some("int8") => "[]int8",
        Some("uint8") => "[]uint8",
        Some("int16") => "[]int16",
        Some("uint16") => "[]uint16",
        Some("int32") => "[]int32",
        Some("uint32") => "[]uint32",
        Some("int64") => "[]int64",
        Some("uint64") => "[]uint64",
        Some("float32") => "[]float32",
        Some(_) => "[]float64",
        None if value.is_nullish() => "<nil>",
        None if value.is_bool() => "bool",
        None if value.is_string() || value.is_symbol() => "string",
        None if value.is_big_int() => "*big.Int",
        None if value.is_function() => "func(sobek.FunctionCall) sobek.Value",
        None if value.is_array() || value.is_set() => "[]interface {}",
        None if value.is_map() => "[][2]interface {}",
        None if value.is_date() => "time.Time",
        None => OBJECT,
    }
}

/// The [`kind`] of plain objects.
pub const OBJECT: &str = "map[string]interface {}";
