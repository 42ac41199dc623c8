//! The globals `TextEncoder` and `TextDecoder` (WHATWG Encoding Standard, section 7).

use std::cell::RefCell;

use plimsoll_quickjs::{Call, Class, Context, Entry, ErrorKind, InImage, Returned, Thrown, pieces};

use super::link_constructor;
use crate::pure::text_decoding::{Decoder, Encoding};

/// Defines both classes on the global object.
pub fn define(context: &Context) -> Result<(), Thrown> {
    let encoder = context.constructor("TextEncoder", 0, new_encoder)?;
    link_constructor::<TextEncoder>(context, &encoder)?;
    let decoder = context.constructor("TextDecoder", 0, new_decoder)?;
    link_constructor::<TextDecoder>(context, &decoder)?;
    let global = context.global();
    global.define_hidden("TextEncoder", encoder)?;
    global.define_hidden("TextDecoder", decoder)
}

struct TextEncoder;

impl Class for TextEncoder {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::string(c"encoding", c"utf-8"),
            Entry::function(c"encode", 0, encode),
            Entry::function(c"encodeInto", 2, encode_into),
        ];
        ENTRIES
    }
}

fn new_encoder<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if call.this().is_undefined() {
        return Err(context.throw_type("TextEncoder must be called with new"));
    }
    context.instance(TextEncoder)
}

fn encode<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let input = call.argument(0);
    if input.is_undefined() {
        return context.uint8_array(&[]);
    }
    context.uint8_array(input.to_text()?.as_bytes())
}

/// `encodeInto(source, destination)`: writes as many whole characters as fit.
fn encode_into<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let source = call.argument(0).to_text()?;
    let destination = call.argument(1);
    let not_bytes = || context.throw_type("encodeInto needs a Uint8Array to write to");
    let capacity = destination
        .with_bytes(|bytes| bytes.len())
        .ok_or_else(not_bytes)?;
    let fits = source.floor_char_boundary(capacity);
    let written = source.get(..fits).unwrap_or_default();
    destination
        .write_bytes(written.as_bytes())
        .ok_or_else(not_bytes)?;
    let result = context.object()?;
    result.define("read", context.integer(utf16_length(written)))?;
    result.define("written", context.integer(fits as u64))?;
    Ok(result)
}

/// The number of UTF-16 units of a string: two for each character of four bytes, and one for any other character.
fn utf16_length(text: &str) -> u64 {
    let units = |byte: &u8| match byte {
        0x80..=0xBF => 0,
        0xF0.. => 2,
        _ => 1,
    };
    pieces(text.as_bytes())
        .map(|piece| piece.iter().map(units).sum::<u64>())
        .sum()
}

struct TextDecoder(RefCell<Decoder>);

impl Class for TextDecoder {
    const IN_IMAGE: InImage<Self> = InImage::Copied(|_, decoder| TextDecoder(decoder.0.clone()));

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::getter(c"encoding", |context, call| {
                with_decoder(context, call, |decoder| {
                    context.string(decoder.encoding.name())
                })
            }),
            Entry::getter(c"fatal", |context, call| {
                with_decoder(context, call, |decoder| Ok(context.bool(decoder.fatal)))
            }),
            Entry::getter(c"ignoreBOM", |context, call| {
                with_decoder(
                    context,
                    call,
                    |decoder| Ok(context.bool(decoder.ignore_bom)),
                )
            }),
            Entry::function(c"decode", 0, decode),
        ];
        ENTRIES
    }
}

/// `new TextDecoder(label = 'utf-8', { fatal, ignoreBOM })`
fn new_decoder<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if call.this().is_undefined() {
        return Err(context.throw_type("TextDecoder must be called with new"));
    }
    let label = call.argument(0);
    let encoding = if label.is_undefined() {
        Encoding::Utf8
    } else {
        let label = label.to_text()?;
        Encoding::labeled(&label).ok_or_else(|| {
            let message = format!(
                "the encoding '{}' is not supported; use utf-8, utf-16le or utf-16be",
                &*label
            );
            context.throw_error(ErrorKind::Range, &message)
        })?
    };
    let options = call.argument(1);
    let is_set = |name: &str| Ok(!options.is_nullish() && options.get(name)?.is_truthy());
    let decoder = Decoder::new(encoding, is_set("fatal")?, is_set("ignoreBOM")?);
    context.instance(TextDecoder(RefCell::new(decoder)))
}

/// `decode(input?, { stream })`
fn decode<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let input = call.argument(0);
    let options = call.argument(1);
    let more = !options.is_nullish() && options.get("stream")?.is_truthy();
    let bytes = if input.is_undefined() {
        Some(Vec::new())
    } else {
        input.to_bytes()
    };
    let bytes = bytes.ok_or_else(|| {
        context.throw_type("decode needs an ArrayBuffer, a typed array or a DataView")
    })?;
    with_decoder(context, call, |decoder| {
        let text = decoder.decode(&bytes, more).map_err(|_| {
            let name = decoder.encoding.name();
            context.throw_type(format!("the encoded data was not valid {name}"))
        })?;
        context.string(&text)
    })
}

fn with_decoder<'c>(
    context: &'c Context,
    call: &Call<'c>,
    body: impl FnOnce(&mut Decoder) -> Returned<'c>,
) -> Returned<'c> {
    match call.this().instance::<TextDecoder>() {
        Some(decoder) => body(&mut decoder.0.borrow_mut()),
        None => Err(context.throw_type("this is not a TextDecoder")),
    }
}
