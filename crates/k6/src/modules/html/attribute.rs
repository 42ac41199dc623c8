//! An attribute as a separate node.

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned};

use super::element::Element;
use crate::pure::html::Node;

/// An attribute. Its owner, name and value are properties of the object, as in k6.
pub struct Attribute {
    prefix: String,
    name: String,
}

impl Attribute {
    /// The attribute of `owner` with this prefix, name and value.
    pub fn instance<'c>(
        context: &'c Context,
        owner: &Node,
        (prefix, name, value): (&str, &str, &str),
    ) -> Returned<'c> {
        let attribute = context.instance(Attribute {
            prefix: prefix.to_owned(),
            name: name.to_owned(),
        })?;
        let owner = context.instance(Element(owner.clone()))?;
        // The name in the type files.
        attribute.define_hidden("ownerElement", owner.clone())?;
        attribute.define("owner_element", owner)?;
        attribute.define("name", context.string(name)?)?;
        attribute.define("value", context.string(value)?)?;
        Ok(attribute)
    }
}

impl Class for Attribute {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"localName", 0, |context, call| {
                text(context, call, |attribute| &attribute.name)
            }),
            Entry::function(c"namespaceURI", 0, |context, _| {
                context.string(super::element::NAMESPACE)
            }),
            Entry::function(c"prefix", 0, |context, call| {
                text(context, call, |attribute| &attribute.prefix)
            }),
        ];
        ENTRIES
    }
}

fn text<'c>(context: &'c Context, call: &Call<'c>, of: fn(&Attribute) -> &str) -> Returned<'c> {
    match call.this().instance::<Attribute>() {
        Some(attribute) => context.string(of(&attribute)),
        None => Err(context.throw_type("not an attribute")),
    }
}
