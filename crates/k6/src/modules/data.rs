//! `k6/data`: arrays that all users share.
//!
//! A `SharedArray`'s elements are stored once per process, as JSON. An element that a script reads is parsed for it and
//! deeply frozen, so users cannot notice that it is shared.

use std::sync::Arc;

use plimsoll_quickjs::{
    Atom, Call, Class, Context, Entry, InImage, Returned, Thrown, Value, give_way,
};

use super::{BuiltIn, Shape};
use crate::shared_arrays::Elements;
use crate::user::{Phase, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/data",
    shape: Shape::Names,
    entries: &[],
    made: &["SharedArray"],
    make: Some(|context, exports| {
        exports.define(
            "SharedArray",
            context.constructor("SharedArray", 2, new_shared_array)?,
        )
    }),
};

/// The cost of visiting an element, as the number of bytes that could be read in the same time.
const ELEMENT: usize = 64;

/// `new SharedArray(name, make)`
fn new_shared_array<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    if user.phase() != Phase::Init {
        return Err(context.throw_plain("new SharedArray must be called in the init context"));
    }
    let name = match call.argument(0) {
        name if name.is_nullish() => String::new(),
        name => name.to_text()?.into_string(),
    };
    let make = call.argument(1);
    if !make.is_function() {
        return Err(context.throw_plain(
            "a function is expected as the second argument of SharedArray's constructor",
        ));
    }
    if name.is_empty() {
        return Err(context.throw_plain("empty name provided to SharedArray's constructor"));
    }
    let shared = &user.common.shared_arrays;
    let elements = match shared.get(&name) {
        Some(elements) => elements,
        None => shared.add(name, made(context, &make)?),
    };
    view(context, elements)
}

/// Calls the script's function and stores its result.
fn made<'c>(context: &'c Context, make: &Value<'c>) -> Result<Elements, Thrown> {
    if make.is_async_function() {
        return Err(context.throw_plain(
            "SharedArray constructor does not support async functions as second argument",
        ));
    }
    let array = make.call(&context.undefined(), &[])?;
    if !array.is_array() {
        return Err(context.throw_plain("only arrays can be made into SharedArray"));
    }
    let mut elements = Elements::default();
    for index in 0..u32::try_from(array.length()?).unwrap_or(u32::MAX) {
        give_way(ELEMENT);
        elements.push(array.at(index)?.to_json()?.as_deref());
    }
    elements.shrink_to_fit();
    Ok(elements)
}

/// An array as scripts see it: a Proxy of an empty array, so that `Array.isArray`, `JSON.stringify` and all array
/// methods accept it.
pub fn view(context: &Context, elements: Arc<Elements>) -> Returned<'_> {
    let traps = context.instance(Traps { elements })?;
    let target = context.array([])?;
    context.global().get("Proxy")?.construct(&[&target, &traps])
}

/// The Proxy's traps (ECMA-262, 10.5).
struct Traps {
    elements: Arc<Elements>,
}

impl Class for Traps {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"get", 3, get),
            Entry::function(c"has", 2, has),
            Entry::function(c"ownKeys", 1, own_keys),
            Entry::function(c"getOwnPropertyDescriptor", 2, get_own_property_descriptor),
            Entry::function(c"set", 4, refuse),
            Entry::function(c"defineProperty", 3, refuse),
            Entry::function(c"deleteProperty", 2, refuse),
            Entry::function(c"preventExtensions", 1, refuse),
            Entry::function(c"setPrototypeOf", 2, refuse),
        ];
        ENTRIES
    }
}

fn refuse<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    Err(context.throw_type("SharedArray is immutable"))
}

/// The meaning of a property key of an array.
enum PropertyKey {
    Length,
    Index(usize),
    Other,
}

fn property_key(key: &Value<'_>) -> Result<PropertyKey, Thrown> {
    if !key.is_string() {
        return Ok(PropertyKey::Other);
    }
    let text = key.to_text()?;
    if &*text == "length" {
        return Ok(PropertyKey::Length);
    }
    // Only the canonical form is an index: `01` is another key.
    let canonical = !text.starts_with('0') || text.len() == 1;
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    Ok(match text.parse() {
        Ok(index) if canonical && digits => PropertyKey::Index(index),
        _ => PropertyKey::Other,
    })
}

fn with_traps<'c>(
    context: &'c Context,
    call: &Call<'c>,
    body: impl FnOnce(&Traps) -> Returned<'c>,
) -> Returned<'c> {
    match call.this().instance::<Traps>() {
        Some(traps) => body(&traps),
        None => Err(context.throw_type("this is not a SharedArray")),
    }
}

fn get<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_traps(context, call, |traps| {
        match property_key(&call.argument(1))? {
            PropertyKey::Length => Ok(context.integer(traps.elements.len() as u64)),
            PropertyKey::Index(index) => traps.element(context, index),
            // Array methods find the elements through the Proxy.
            PropertyKey::Other => call.argument(0).get(&Atom::from_value(&call.argument(1))?),
        }
    })
}

impl Traps {
    /// A new object each time, as in k6: scripts may compare elements with `===`.
    fn element<'c>(&self, context: &'c Context, index: usize) -> Returned<'c> {
        let json = match self.elements.get(index) {
            None | Some("") => return Ok(context.undefined()),
            Some(json) => json,
        };
        let value = context.parse_json(json, "SharedArray")?;
        freeze_all(&value)?;
        Ok(value)
    }
}

/// Freezes a value parsed from JSON, which is always a tree.
fn freeze_all(value: &Value<'_>) -> Result<(), Thrown> {
    if !value.is_object() {
        return Ok(());
    }
    // Uses an explicit stack instead of recursion, because nested input could exhaust the call stack.
    let mut pending = vec![value.clone()];
    while let Some(object) = pending.pop() {
        for key in object.keys()? {
            give_way(ELEMENT);
            let inner = object.get(&key)?;
            if inner.is_object() {
                pending.push(inner);
            }
        }
        object.freeze()?;
    }
    Ok(())
}

fn has<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_traps(context, call, |traps| {
        let key = call.argument(1);
        Ok(context.bool(match property_key(&key)? {
            PropertyKey::Length => true,
            PropertyKey::Index(index) => index < traps.elements.len(),
            PropertyKey::Other => call.argument(0).has(&Atom::from_value(&key)?)?,
        }))
    })
}

fn own_keys<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_traps(context, call, |traps| {
        let indices = (0..traps.elements.len()).map(|index| {
            give_way(ELEMENT);
            index.to_string()
        });
        context.strings(indices.chain(["length".to_owned()]))
    })
}

fn get_own_property_descriptor<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with_traps(context, call, |traps| {
        let is_length = match property_key(&call.argument(1))? {
            PropertyKey::Length => true,
            PropertyKey::Index(index) if index < traps.elements.len() => false,
            _ => return Ok(context.undefined()),
        };
        let descriptor = context.object()?;
        descriptor.define("value", get(context, call)?)?;
        // The properties are not really writable. But a Proxy must agree with its target about `length`, and must not
        // report properties as non-configurable that its target lacks.
        descriptor.define("writable", context.bool(true))?;
        descriptor.define("enumerable", context.bool(!is_length))?;
        descriptor.define("configurable", context.bool(!is_length))?;
        Ok(descriptor)
    })
}

#[cfg(test)]
mod tests {
    use super::Elements;

    #[test]
    fn elements_are_stored_one_after_the_other() {
        let mut elements = Elements::default();
        for json in [Some("1"), None, Some("\"ab\"")] {
            elements.push(json);
        }
        let found: Vec<_> = (0..4).map(|index| elements.get(index)).collect();
        assert_eq!(found, [Some("1"), Some(""), Some("\"ab\""), None]);
    }
}
