//! The selector language of `Response.json(selector)`: GJSON paths over raw JSON bytes.
//!
//! The syntax is documented at <https://github.com/tidwall/gjson/blob/master/SYNTAX.md>: dotted keys and indices, `\`
//! escapes, `*` and `?` wildcards, `#` lengths, `#(key op value)` queries, `|` pipes, `@modifiers`, `{…}` and `[…]`
//! multipaths and `!` literals.
//!
//! No tree is built: a path walks the text and skips everything that it does not select. The result is a slice of the
//! document where possible.

mod modifiers;
mod path;
mod query;
mod select;
mod text;
mod wildcard;

use std::borrow::Cow;

/// The JSON text that `path` selects from `json`, or `None` if it selects nothing.
///
/// `json` is expected to be valid (see [`super::json_syntax::is_valid`]). If it is not, the result
/// is unspecified, but nothing panics. The selected text is valid JSON. It is borrowed from the
/// document unless the path builds a new value.
pub fn get<'a>(json: &'a [u8], path: &str) -> Option<Cow<'a, [u8]>> {
    let found = select::get(json, path, 0);
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests;
