//! An attribute as a separate node.

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned};

use super::element::Element;
use crate::pure::html::Node;

/// An attribute of `owner`; its name and value are properties of the object.
pub struct Attribute {
    owner: Node,
    name: String,
}

impl Attribute {
    pub fn instance<'c>(
        context: &'c Context,
        owner: &Node,
        name: &str,
        value: &str,
    ) -> Returned<'c> {
        let attribute = context.instance(Attribute {
            owner: owner.clone(),
            name: name.to_owned(),
        })?;
        attribute.define("name", context.string(name)?)?;
        attribute.define("value", context.string(value)?)?;
        Ok(attribute)
    }
}

impl Class for Attribute {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::getter(c"ownerElement", owner),
            Entry::getter(c"owner_element", owner),
            Entry::function(c"localName", 0, |context, call| {
                match call.this().instance::<Attribute>() {
                    Some(attribute) => {
                        let name = attribute.name.rsplit(':').next();
                        context.string(name.unwrap_or_default())
                    }
                    None => Err(context.throw_type("not an attribute")),
                }
            }),
            Entry::function(c"namespaceURI", 0, |context, _| {
                context.string(super::element::NAMESPACE)
            }),
            Entry::function(c"prefix", 0, |context, call| {
                match call.this().instance::<Attribute>() {
                    Some(attribute) => {
                        let prefix = attribute.name.split_once(':').map(|(prefix, _)| prefix);
                        context.string(prefix.unwrap_or_default())
                    }
                    None => Err(context.throw_type("not an attribute")),
                }
            }),
        ];
        ENTRIES
    }
}

fn owner<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    match call.this().instance::<Attribute>() {
        Some(attribute) => context.instance(Element(attribute.owner.clone())),
        None => Err(context.throw_type("not an attribute")),
    }
}
