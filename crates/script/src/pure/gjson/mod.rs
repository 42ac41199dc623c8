//! The selector language of `Response.json(selector)`: GJSON paths over raw JSON bytes.
//!
//! Syntax as published at <https://github.com/tidwall/gjson/blob/master/SYNTAX.md>: dotted keys and
//! indices, `\` escapes, `*` and `?` wildcards, `#` lengths, `#(key op value)` queries, `|` pipes,
//! `@modifiers`, `{…}` and `[…]` multipaths and `!` literals.
//!
//! No tree is built: a path walks the text, stepping over what it does not name, and the result is
//! a slice of the document wherever the document holds it.

mod modifiers;
mod path;
mod query;
mod select;
mod text;
mod wildcard;

use std::borrow::Cow;

/// The JSON text that `path` selects from `json`, or `None` where it selects nothing.
///
/// `json` is expected to be valid (see [`super::json_syntax::is_valid`]); if it is not, the answer
/// is unspecified but nothing panics. The selected text is valid JSON, borrowed from the document
/// unless the path had to put it together.
pub fn get<'a>(json: &'a [u8], path: &str) -> Option<Cow<'a, [u8]>> {
    let found = select::get(json, path, 0);
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests;
