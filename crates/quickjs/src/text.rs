//! Values as strings.

use std::fmt;
use std::ops::Deref;

use crate::give_way::{copy_in_pieces, give_way, utf8_in_pieces};
use crate::{Context, Thrown, Value, sys};

/// A value as a string, borrowed from the engine if possible.
pub struct Text<'c>(Source<'c>);

enum Source<'c> {
    Engine {
        text: &'static str,
        start: *const std::ffi::c_char,
        context: &'c Context,
    },
    Owned(String),
}

impl<'c> Text<'c> {
    pub(super) fn of(value: &Value<'c>) -> Result<Self, Thrown> {
        let context = value.context;
        let mut length = 0;
        // SAFETY: the engine keeps the bytes until `drop` frees them, and `text` is borrowed only while `self` lives.
        unsafe {
            let start = sys::JS_ToCStringLen2(context.raw(), &mut length, value.raw, false);
            if start.is_null() {
                return Err(Thrown::pending());
            }
            // From here on, `found` owns the string, because the checks below may end the script.
            let mut found = Self(Source::Engine {
                text: "",
                start,
                context,
            });
            let bytes = std::slice::from_raw_parts(start as *const u8, length as usize);
            match (utf8_in_pieces(bytes), &mut found.0) {
                (Some(valid), Source::Engine { text, .. }) => {
                    *text = valid;
                    Ok(found)
                }
                _ => Ok(Self(Source::Owned(replace_surrogates(bytes)))),
            }
        }
    }

    /// The string, owned.
    pub fn into_string(mut self) -> String {
        match &mut self.0 {
            // SAFETY: this is a copy of a valid string.
            Source::Engine { text, .. } => unsafe {
                String::from_utf8_unchecked(copy_in_pieces(text.as_bytes(), 0))
            },
            Source::Owned(text) => std::mem::take(text),
        }
    }
}

/// The number of bytes that are checked at a time.
const PIECE: usize = 16 * 1024;

/// The engine writes a lone surrogate as three bytes that are not valid UTF-8. Each such sequence becomes one U+FFFD.
fn replace_surrogates(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let piece = rest.get(..PIECE).unwrap_or(rest);
        give_way(piece.len());
        let error = match std::str::from_utf8(piece) {
            Ok(valid) => {
                text.push_str(valid);
                rest = rest.get(piece.len()..).unwrap_or_default();
                continue;
            }
            Err(error) => error,
        };
        let (valid, after) = rest.split_at(error.valid_up_to());
        text.push_str(&String::from_utf8_lossy(valid));
        rest = after;
        // This is an error, unless the piece ends within a character.
        if error.error_len().is_some() || piece.len() < PIECE {
            text.push('\u{fffd}');
            let skip = if after.first() == Some(&0xed) { 3 } else { 1 };
            rest = after.get(skip..).unwrap_or_default();
        }
    }
    text
}

impl Deref for Text<'_> {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        match &self.0 {
            Source::Engine { text, .. } => text,
            Source::Owned(text) => text,
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Drop for Text<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Source::Engine { start, context, .. } = self.0 {
            // SAFETY: this is the engine's own string, and it is freed only once.
            unsafe { sys::JS_FreeCString(context.raw(), start) };
        }
    }
}
