//! `Blob`: immutable bytes, with the features that WebSockets need.

use std::rc::Rc;

use crate::modules::{link_constructor, streams};
use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Instance, Returned, Thrown, Value};

/// Bytes and their media type.
pub struct Blob {
    bytes: Rc<[u8]>,
    kind: String,
}

impl Blob {
    /// A blob without a type.
    pub fn of(bytes: &[u8]) -> Blob {
        Blob {
            bytes: bytes.into(),
            kind: String::new(),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The `Blob`. As in k6, its size and type are own properties of the object, so that they are printed and
    /// serialized.
    pub fn instance(self, context: &Context) -> Returned<'_> {
        let size = context.integer(self.bytes.len() as u64);
        let kind = context.string(&self.kind)?;
        let blob = context.instance(self)?;
        blob.define_fixed("size", size)?;
        blob.define_fixed("type", kind)?;
        Ok(blob)
    }
}

impl Class for Blob {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"arrayBuffer", 0, |context, call| {
                let this = call.this();
                context.settled(
                    blob(context, &this).and_then(|blob| context.array_buffer(&blob.bytes)),
                )
            }),
            Entry::function(c"bytes", 0, |context, call| {
                let this = call.this();
                context
                    .settled(blob(context, &this).and_then(|blob| context.uint8_array(&blob.bytes)))
            }),
            Entry::function(c"slice", 3, slice),
            Entry::function(c"text", 0, |context, call| {
                let this = call.this();
                context.settled(
                    blob(context, &this).and_then(|blob| context.string_lossy(&blob.bytes)),
                )
            }),
            Entry::function(c"stream", 0, |context, call| {
                let this = call.this();
                let bytes = Rc::clone(&blob(context, &this)?.bytes);
                streams::of_bytes(context, bytes)
            }),
        ];
        ENTRIES
    }
}

/// `Blob`. As in k6, only `toString` is inherited by the objects, and `for…in` lists it.
pub fn constructor(context: &Context) -> Returned<'_> {
    let constructor = context.constructor("Blob", 0, construct)?;
    link_constructor::<Blob>(context, &constructor)?;
    let to_string =
        context.function("toString", 0, |context, _| context.string("[object Blob]"))?;
    context
        .prototype_of::<Blob>()?
        .define("toString", to_string)?;
    Ok(constructor)
}

fn blob<'a, 'c>(context: &'c Context, this: &'a Value<'c>) -> Result<Instance<'a, Blob>, Thrown> {
    this.instance::<Blob>()
        .ok_or_else(|| context.throw_type("a method of a Blob was called on something else"))
}

/// `new Blob(parts?, { type }?)`.
fn construct<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let parts = call.argument(0);
    let mut bytes = Vec::new();
    if parts.is_array() {
        for at in 0..parts.length()? as u32 {
            append(context, &mut bytes, &parts.at(at)?)?;
        }
    } else if !parts.is_nullish() {
        let text = "failed to process [blobParts]: they are not an array; write new Blob([part])";
        return Err(context.throw_plain(text));
    }
    let options = call.argument(1);
    let kind = match options.is_object() {
        true => options.get("type")?,
        false => context.undefined(),
    };
    let blob = Blob {
        bytes: bytes.into(),
        kind: match kind.is_nullish() {
            true => String::new(),
            false => kind.to_text()?.into_string(),
        },
    };
    blob.instance(context)
}

fn append<'c>(context: &'c Context, bytes: &mut Vec<u8>, part: &Value<'c>) -> Result<(), Thrown> {
    if part.is_string() {
        bytes.extend_from_slice(part.to_text()?.as_bytes());
    } else if let Some(blob) = part.instance::<Blob>() {
        bytes.extend_from_slice(&blob.bytes);
    } else if part
        .with_bytes(|part| bytes.extend_from_slice(part))
        .is_none()
    {
        return Err(context.throw_plain(
            "failed to process [blobParts]: unsupported type; parts are strings, Blobs, ArrayBuffers and their views",
        ));
    }
    Ok(())
}

/// `slice(start = 0, end = size, type = "")`: negative numbers count from the end (File API, section 3.3.1).
fn slice<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let blob = blob(context, &this)?;
    let size = blob.bytes.len() as i64;
    let place = |index: usize, default: i64| -> Result<usize, Thrown> {
        let value = call.argument(index);
        if value.is_undefined() {
            return Ok(default as usize);
        }
        let place = value.to_integer()?;
        let place = if place < 0 {
            size.saturating_add(place)
        } else {
            place
        };
        Ok(place.clamp(0, size) as usize)
    };
    let (start, end) = (place(0, 0)?, place(1, size)?);
    let part = blob.bytes.get(start..end.max(start)).unwrap_or_default();
    let kind = call.argument(2);
    let part = Blob {
        bytes: part.into(),
        kind: match kind.is_nullish() {
            true => String::new(),
            false => kind.to_text()?.into_string(),
        },
    };
    part.instance(context)
}
