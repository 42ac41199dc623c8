//! `k6/html`: parsing a page and selecting elements in it as jQuery does.
//!
//! * `selection`: sets of nodes and how to navigate between them; `values`: the contents of form fields and
//!   data attributes.
//! * `element`: one node with the DOM's interface; `typed`: the properties that depend on the type of the element;
//!   `attribute`: one attribute.

mod attribute;
mod element;
mod selection;
mod typed;
mod values;

pub use selection::Selection;
pub use values::serialize_object;

use plimsoll_quickjs::{Call, Context, Entry, Returned};

use super::{BuiltIn, Shape};
use crate::pure::html;

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/html",
    shape: Shape::DefaultObject,
    entries: &[Entry::function(c"parseHTML", 1, parse_html)],
    made: &[],
    make: None,
};

/// `parseHTML(text)`: the whole document as a selection.
fn parse_html<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let source = call.argument(0);
    let text = if source.is_nullish() {
        String::new()
    } else {
        source.to_text()?.into_string()
    };
    let document = Selection::of(vec![html::parse(&text)]);
    document.object(context, context.string("")?)
}
