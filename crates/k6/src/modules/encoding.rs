//! `k6/encoding`: Base64.

use plimsoll_quickjs::{Call, Context, Entry, Returned};

use super::octets::{text_or_empty, with_octets};
use super::{BuiltIn, Shape};
use crate::pure::base64::{self, Dialect};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/encoding",
    shape: Shape::Names,
    entries: &[
        Entry::function(c"b64encode", 2, b64encode),
        Entry::function(c"b64decode", 3, b64decode),
    ],
    made: &[],
    make: None,
};

/// `b64encode(input, dialect?)`
fn b64encode<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let dialect = Dialect::named(&text_or_empty(&call.argument(1))?);
    let text = with_octets(context, &call.argument(0), "", |bytes| {
        base64::encode(bytes, dialect)
    })?;
    context.string(&text)
}

/// `b64decode(text, dialect?, format?)`: an ArrayBuffer, or a string if the format is `s`.
fn b64decode<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let text = text_or_empty(&call.argument(0))?;
    let dialect = Dialect::named(&text_or_empty(&call.argument(1))?);
    let as_string = text_or_empty(&call.argument(2))? == "s";
    let bytes = base64::decode(text.as_bytes(), dialect)
        .map_err(|corrupt| context.throw_plain(corrupt.to_string()))?;
    if as_string {
        context.string(&text_of(&bytes))
    } else {
        context.array_buffer(&bytes)
    }
}

/// Decodes UTF-8. As in k6, each byte that is not part of a valid character becomes a replacement character.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}
